"""What the parts of a question say of each other: of each group, of one row, of the same rows."""

import pytest

from business.logical_query.query import LogicalQuery
from business.logical_query.wording import build_query_sentence
from business.parsing.base import Context, Unparseable
from business.parsing.reader.parser import parse
from tests.unit.business.parsing.test_words import LEXICON, TODAY

YEAR = "2025-01-01 to 2025-12-31"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("revenue and number of orders by month", "revenue, number of orders, by month"),
        ("华东的客户总共给我们贡献了多少销售额？", "销售额，地区 = 华东"),
        ("Customers that did not order KeelDock", "list of customer, without orders (name = KeelDock)"),
        ("customers with orders that are not cancelled", "list of customer, with orders (order status ≠ cancelled)"),
        ("customers with no cancelled orders in 2025", f"list of customer, without orders (order status = cancelled, {YEAR})"),
        ("客户里订单不到两笔的有几家？", "客户数量，订单数量 < 2"),
    ],
)  # fmt: skip
def test_what_is_said_of_one_thing_is_asked_of_it(question: str, said: str) -> None:
    language = "en" if question.isascii() else "zh"
    parsed = parse(question, LEXICON, Context(language, TODAY))
    assert isinstance(parsed, LogicalQuery), parsed
    assert build_query_sentence(parsed, LEXICON.catalog, language, TODAY) == said


def test_what_may_mean_another_number_is_not_read() -> None:
    for question in (
        "customers with orders over 10000",  # so many orders, or such a large one?
        "How many customers have only paid orders?",
        "各国家客户的销售额，只看前五",  # five countries, or five customers of each?
        "revenue and number of customers in 2025",  # who came then, or who were there?
        "华东的客户占所有订单的比例",  # of the orders, which are not customers
        "Which customer has the highest revenue in each region?",  # of all, or the first of each
        "每年销售额最高的产品",
    ):
        assert isinstance(parse(question, LEXICON, Context("en", TODAY)), Unparseable)
