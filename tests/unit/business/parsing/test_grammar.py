"""Each production of the grammar reads its kind of question; what none of them takes is named, and no number is shown."""

import pytest

from business.logical_query.query import LogicalQuery
from business.logical_query.wording import sentence
from business.parsing.base import Context, Unparseable
from business.parsing.reader.grammar import Reading
from business.parsing.reader.items import items_of
from business.parsing.reader.parser import choices_of, parse
from tests.unit.business.parsing.test_words import LEXICON, TODAY


def meaning(question: str) -> str:
    parsed = parse(question, LEXICON, Context("en", TODAY))
    assert isinstance(parsed, LogicalQuery), parsed
    return sentence(parsed, LEXICON.catalog, "en", TODAY)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        # a measure, a count, a sum, an average, a number of different values
        ("What is our revenue?", "revenue"),
        ("有多少客户", "number of customers"),
        ("total budget", "total budget"),
        ("average list price of products", "average list price"),
        ("How many different countries do customers come from?", "number of different country"),
        # a breakdown, by columns, things and periods
        ("customers by region and industry", "number of customers, by region, industry"),
        ("每个月的销售额", "revenue, by month"),
        ("How many customers per country?", "number of customers, by country"),
        # filters: values, not these, numbers
        ("list carrier customers in Europe", "list of customer, industry = carrier, region = Europe"),
        ("customers that are not in China", "list of customer, country ≠ China"),
        ("德国以外的客户有多少", "number of customers, country ≠ Germany"),
        ("products with a list price above 5000", "list of product, list price > 5000"),
        ("预算在10万到50万之间的项目", "list of project, budget ≥ 100000, budget ≤ 500000"),
        ("customers with more than 3 orders", "list of customer, number of orders > 3"),
        # a period, also of a column that is named
        ("orders in 2025", "list of order, time: 2025-01-01 to 2025-12-31"),
        ("how many employees were hired in 2025", "number of employees, time: 2025-01-01 to 2025-12-31"),
        # rankings: of groups, of rows, of each group, of a number alone
        ("top 3 products by units sold", "units sold, by product, first 3"),
        ("Which two customers have the fewest orders?", "number of orders, by customer, last 2"),
        ("哪个月的销售额最高", "revenue, by month, first 1"),
        ("the most expensive product", "list of product, first 1, by list price"),
        ("top 2 products by revenue in each region", "revenue, by region, product, of each region, first 2"),
        ("highest list price", "highest list price"),
        ("customers by region, highest first", "number of customers, by region"),
        # comparisons
        ("revenue October vs September", "revenue, compared, time: 2026-10-01 to 2026-10-31, time: 2026-09-01 to 2026-09-30"),
        ("上个月销售额同比", "revenue, compared, time: 2026-10-01 to 2026-10-31, time: 2025-10-01 to 2025-10-31"),
        ("Germany vs Norway: revenue", "revenue, by country, country = Germany, Norway"),
        # absence and presence
        ("Which customers haven't ordered in 2026?", "list of customer, without orders (2026-01-01 to 2026-12-31 (not over yet))"),
        ("没有订单的客户", "list of customer, without orders"),
        ("customers with orders", "list of customer, with orders"),
        # what a thing has, and the values of a column
        ("What is the list price of KeelDock?", "list of product, name = KeelDock"),
        ("Which countries do customers come from?", "list of customer"),
        ("Of our customers in Norway how many of them are carriers?",
         "number of customers, country = Norway, industry = carrier"),
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
    [
        ("revenue by region as a bar chart", "revenue by region"),
        ("今年每个月销售额的走势", "今年每个月销售额"),
        ("please show me the customers in Germany", "customers in Germany"),
        ("各地区的客户数，用饼图展示", "各地区的客户数"),
    ],
)
def test_how_it_is_shown_changes_no_number(question: str, plain: str) -> None:
    assert meaning(question) == meaning(plain)


@pytest.mark.parametrize(
    ("question", "word", "understood"),
    [
        ("How many loyal customers are there in Germany?", "loyal", "number of customers, country = Germany"),
        ("revenue by region without VAT in 2025", "VAT", "revenue"),
        ("有多少活跃的德国客户", "活跃", "number of customers, country = Germany"),
        ("top 3 profitable products by revenue in each region", "profitable",
         "revenue, by region, product, of each region, first 3"),
        ("销售额预测明年多少", "预测明", "revenue"),
    ],
)  # fmt: skip
def test_a_word_that_is_left_over_is_named_and_the_form_holds_the_rest(
    question: str, word: str, understood: str
) -> None:
    parsed = parse(question, LEXICON, Context("en", TODAY))
    assert isinstance(parsed, Unparseable), parsed
    assert word in "".join(parsed.unknown)
    assert parsed.partial is not None
    assert sentence(parsed.partial, LEXICON.catalog, "en", TODAY).startswith(understood)


@pytest.mark.parametrize(
    "question",
    [
        "average revenue by region",  # each word is known; “average” of a sum is none
        "customers and products",
        "revenue per",
        "How many customers between Germany",
        "revenue last month this month",
        "top customers by revenue",  # how many?
        "customers over 5000",
        "customers in Germany or carriers",  # one of both is not both
        "there are customers except",
        "orders not cancelled and not",
    ],
)
def test_a_known_word_that_no_production_takes_is_left_over_too(question: str) -> None:
    assert isinstance(parse(question, LEXICON, Context("en", TODAY)), Unparseable)


def test_what_has_said_its_part_leaves_a_mark_and_what_has_not_its_letter() -> None:
    items = items_of("How many customers in Germany by region average", LEXICON, TODAY)
    assert Reading.of(LEXICON.catalog, items, next(choices_of(items)), TODAY).text == "cT__a"
