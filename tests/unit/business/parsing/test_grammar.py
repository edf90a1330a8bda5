"""Each production of the grammar reads its kind of question; what none of them takes is named, and no number is shown."""

import pytest

from business.logical_query.query import LogicalQuery
from business.logical_query.wording import build_query_sentence
from business.parsing.base import Context, Unparseable
from business.parsing.reader.parser import parse
from tests.unit.business.parsing.test_words import LEXICON, TODAY


def meaning(question: str) -> str:
    parsed = parse(question, LEXICON, Context("en", TODAY))
    assert isinstance(parsed, LogicalQuery), parsed
    return build_query_sentence(parsed, LEXICON.catalog, "en", TODAY)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        # a measure, a count, a sum, an average, a number of different values
        ("What is our revenue?", "revenue"),
        ("有多少客户", "number of customers"),
        ("average list price of products", "average list price"),
        ("How many different countries do customers come from?", "number of different country"),
        # a breakdown, by columns, things and periods
        ("customers by region and industry", "number of customers, by region, industry"),
        ("每个月的销售额", "revenue, by month"),
        ("customers that are not in China", "list of customer, country ≠ China"),
        ("products with a list price above 5000", "list of product, list price > 5000"),
        ("customers with more than 3 orders", "list of customer, number of orders > 3"),
        # a period, also of a column that is named
        ("orders in 2025", "list of order, time: 2025-01-01 to 2025-12-31"),
        ("how many employees were hired in 2025", "number of employees, time: 2025-01-01 to 2025-12-31"),
        # rankings: of groups, of rows, of a number alone
        ("top 3 products by units sold", "units sold, by product, first 3"),
        ("Which two customers have the fewest orders?", "number of orders, by customer, last 2"),
        ("哪个月的销售额最高", "revenue, by month, first 1"),
        ("customers by region, highest first", "number of customers, by region"),
        # absence and presence
        ("Which customers haven't ordered in 2026?", "list of customer, without orders (2026-01-01 to 2026-12-31 (not over yet))"),
        ("没有订单的客户", "list of customer, without orders"),
        ("customers with orders", "list of customer, with orders"),
        ("Which countries do customers come from?", "list of customer"),
        # shares
        ("what percentage of orders is cancelled",
         "number of orders (order status = cancelled) as a percentage of number of orders"),
        ("revenue by region as a share", "share of revenue, by region"),
    ],
)  # fmt: skip
def test_each_production_reads_its_kind(question: str, said: str) -> None:
    assert meaning(question) == said


@pytest.mark.parametrize(
    ("question", "columns"),
    [
        ("What is the list price of KeelDock?", ("product.name", "product.list_price")),
        ("Which countries do customers come from?", ("customer.country",)),
    ],
)
def test_columns_are_shown_that_are_asked_for(question: str, columns: tuple[str, ...]) -> None:
    parsed = parse(question, LEXICON, Context("en", TODAY))
    assert isinstance(parsed, LogicalQuery)
    assert parsed.rows is not None
    assert parsed.rows.columns == columns


@pytest.mark.parametrize(
    ("question", "plain"),
    [("revenue by region as a bar chart", "revenue by region"), ("各地区的客户数，用饼图展示", "各地区的客户数")],
)
def test_how_it_is_shown_changes_no_number(question: str, plain: str) -> None:
    assert meaning(question) == meaning(plain)


@pytest.mark.parametrize(
    ("question", "word", "understood"),
    [
        ("How many loyal customers are there in Germany?", "loyal", "number of customers, country = Germany"),
        ("有多少活跃的德国客户", "活跃", "number of customers, country = Germany"),
        ("top 3 profitable products by revenue", "profitable", "revenue, by product, first 3"),
    ],
)  # fmt: skip
def test_a_word_that_is_left_over_is_named_and_the_form_holds_the_rest(
    question: str, word: str, understood: str
) -> None:
    parsed = parse(question, LEXICON, Context("en", TODAY))
    assert isinstance(parsed, Unparseable), parsed
    assert word in "".join(parsed.unknown)
    assert parsed.partial is not None
    assert build_query_sentence(parsed.partial, LEXICON.catalog, "en", TODAY).startswith(understood)


def test_a_known_word_that_no_production_takes_is_left_over_too() -> None:
    for question in (
        "average revenue by region",  # each word is known; “average” of a sum is none
        "customers and products",
        "revenue last month this month",
        "top customers by revenue",  # how many?
        "customers in Germany or carriers",  # one of both is not both
    ):
        assert isinstance(parse(question, LEXICON, Context("en", TODAY)), Unparseable)
