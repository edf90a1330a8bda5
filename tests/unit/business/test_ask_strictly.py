"""Questions that are easily read as something else: read as they are meant, or handed on."""

import pytest

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.understand import understand
from agent.business.ask.words.lexicon import Lexicon
from tests.unit.business.test_ask import LEXICON, TODAY, sql


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        # which values there are, not which one each has
        ("我们的客户分布在哪几个国家？", ["SELECT DISTINCT t0.country"]),
        ("我们的客户来自哪些国家", ["SELECT DISTINCT t0.country"]),
        ("which countries do our customers come from", ["SELECT DISTINCT t0.country"]),
        # one year, as far as it has come
        ("total sales for the year so far", ["SELECT sum(t0.amount)", ">= '2026-01-01'"]),
        # money is no key
        ("List the order numbers above 80,000 CNY", ["t0.amount > 80000"]),
        ("超过8万元的订单号有哪些", ["t0.amount > 80000"]),
        # the thing, beside what it is found by
        ("most expensive software?", ["t0.name", "ORDER BY t0.list_price DESC", "FIRST 1 ROWS WITH TIES"]),
        ("cheapest gateway", ["t0.name", "ORDER BY t0.list_price ASC", "FIRST 1 ROWS WITH TIES"]),
        ("最便宜的软件", ["t0.name", "ORDER BY t0.list_price ASC", "FIRST 1 ROWS WITH TIES"]),
        # an average over the rows of its own table
        ("average budget per project", ["SELECT avg(t0.budget)"]),
        ("每个项目的平均预算", ["SELECT avg(t0.budget)"]),
        # products, not pieces
        (
            "how many different products were sold in 2025",
            ["SELECT count(*)", "public.product", "EXISTS", ">= '2025-01-01'"],
        ),
        ("去年卖出了多少种产品", ["SELECT count(*)", "public.product", "EXISTS", ">= '2025-01-01'"]),
        ("projects owned by employees in Hangzhou", ["SELECT t0.name FROM public.project", "'Hangzhou'"]),
        ("customers added this year who ordered", ["created_on >= '2026-01-01'", "EXISTS", "sales_order"]),
    ],
)
def test_read_strictly(question: str, parts: list[str]) -> None:
    found = sql(question)
    assert all(part in found for part in parts), found
    assert parts[0] != "SELECT avg(t0.budget)" or "GROUP BY" not in found


@pytest.mark.parametrize(
    "question",
    [
        "how many orders are open to paid",  # from one value to another
        "total sales for the year",  # this one, or each
        "how many orders in the month with the highest revenue",
        "revenue by region, all years",  # each, or all together
        "各地区所有年份的销售额",
        "Which environments placed an order last month?",  # none of theirs is known
        "customers whose orders are all paid",  # not those who have a paid one
        "所有订单都已付款的客户",
        "customers that bought software and gateways",  # of both, not of one
        "买过软件和网关的客户",
        "orders with an amount above 10%",  # of what
        "金额大于10%的订单",
        "owner of the project with the largest budget",  # no budget
        "预算最高的项目的负责人",
        "customers with orders above 100000",  # not so many orders
        "订单超过10万的客户",
        "customer with the highest order",  # not the most orders
        "今年新增的客户中有多少下过单",  # of the customers' year
        "most expensive gateways",  # how many of them
    ],
)
def test_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        understand(question, LEXICON, today=TODAY)


def test_nobody_ordered_where_no_table_keeps_sums() -> None:
    """As in a draft, which counts every table's rows: the table of the person is none of orders."""
    models = tuple(
        model.model_copy(update={"measures": tuple(one for one in model.measures if one.agg == "count")})
        for model in LEXICON.layer.semantic_models
    )
    drafted = Lexicon.of(LEXICON.layer.model_copy(update={"semantic_models": models}))
    for question in ("Which customers in East China placed an order last month?", "How many projects did we sell?"):
        with pytest.raises(NotUnderstood):
            understand(question, drafted, today=TODAY)
    assert "sales_order" in understand("Which customers bought a product?", drafted, today=TODAY).sql  # it keeps both
