"""Questions that make something of figures, on the demo company's semantic layer: each kind in both languages, and what is left alone."""

import pytest

from agent.business.ask.describe import describe
from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.understand import understand
from tests.unit.business.test_ask import LEXICON, TODAY, sql


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        # shares
        ("What percentage of orders were cancelled?", ["AS share", "IN ('cancelled')", "AS whole"]),
        ("已取消订单占比是多少", ["AS share", "IN ('cancelled')"]),
        ("share of revenue by region", ["sum(revenue) OVER ()", "GROUP BY t1.region"]),
        ("各地区销售额占比", ["sum(revenue) OVER ()", "GROUP BY t1.region"]),
        ("华东客户占全部客户的百分之多少", ["AS share", "IN ('华东')"]),
        # one number over another
        ("ratio of paid to open orders", ["AS ratio", "IN ('paid')", "IN ('open')"]),
        ("What is the ratio of orders to customers by region?", ["AS ratio", "GROUP BY t1.region", "GROUP BY t0.region"]),
        ("For each region, what is the ratio of orders to customers?", ["AS ratio", "GROUP BY t1.region", "GROUP BY t0.region"]),
        ("ratio of the number of orders in each region to the total number of orders", ["AS ratio", "GROUP BY t1.region"]),
        # two times
        ("revenue growth this year vs last year", ["AS change_percent", "'2026-01-01'", "'2025-01-01'"]),
        ("今年销售额比去年增长了多少", ["AS change_percent", "'2026-01-01'", "'2025-01-01'"]),
        ("上个月销售额同比增长率", ["AS change_percent", ">= '2026-10-01'", ">= '2025-10-01'"]),
        ("本月销售额环比", ["AS change_percent", ">= '2026-11-01'", ">= '2026-10-01'"]),
        ("Compare Q1 and Q2 2026 revenue", ["'2026-Q1' AS period", "UNION ALL", "'2026-Q2' AS period"]),
        ("How did revenue in 2025 compare with the previous year?", ["'2025-01-01'", "'2024-01-01'"]),
        # existence
        ("Do we have customers in Norway?", ["count(*) > 0", "IN ('Norway')"]),
        ("有没有比利时的客户", ["count(*) > 0", "country::text IN ('Belgium')"]),
        # averages per thing
        ("average number of orders per customer", ["SELECT avg(count)", "GROUP BY t1.name, t1.id"]),
        ("平均每个客户有多少订单", ["SELECT avg(count)", "GROUP BY t1.name, t1.id"]),
        ("平均每月销售额是多少", ["SELECT avg(revenue)", "date_trunc('month'"]),
        # the first of each group
        ("best selling product in each region", ["PARTITION BY c0", "sum(t0.quantity)", "place <= 1"]),
        ("每个类别最贵的产品", ["PARTITION BY c0", "t0.list_price", "place <= 1"]),
        ("second most expensive product", ["LIMIT 1 OFFSET 1"]),
        # groups, figures and columns beside each other
        ("How many regions have more than 10 customers?", ["SELECT count(*)", "GROUP BY t0.region HAVING count(*) > 10"]),
        ("number of customers and number of projects", ["AS count_customer", "AS count_project"]),
        ("highest, lowest and average list price", ["max(t0.list_price)", "min(t0.list_price)", "avg(t0.list_price)"]),
        ("单价高于平均值的产品有多少", ["t0.list_price > (SELECT avg("]),
        ("华东或者零售行业的客户", ["SELECT t0.name", " OR t0.industry::text IN ('retail')"]),
        ("除了华东以外的客户有多少", ["region::text NOT IN ('华东')"]),
        ("按订单数从多到少列出客户", ["count(*)", "GROUP BY t1.name, t1.id ORDER BY 2 DESC"]),
        ("今年周末的订单数", ["extract(isodow FROM t0.ordered_at) IN (6, 7)"]),
        ("projects with a budget of at least 200k", ["budget >= 200000"]),
        ("How many customers are there in each region, highest first?", ["count(*)", "GROUP BY t0.region"]),
        ("2025年销售额最高的月份", ["date_trunc('month'", "FIRST 1 ROWS WITH TIES"]),
        ("how many employees joined each year", ["extract(year FROM t0.hired_on)", "count(*)"]),
        ("When was the last order placed?", ["ORDER BY t0.ordered_at DESC", "LIMIT 1"]),
        ("今年有多少客户购买过", ["EXISTS", "ordered_at >= '2026-01-01'"]),
    ],
)  # fmt: skip
def test_understood(question: str, parts: list[str]) -> None:
    found = sql(question)
    assert all(part in found for part in parts), found


@pytest.mark.parametrize(
    "question",
    [
        "How many orders were closed last month?",  # another time than the one there is
        "上个月关闭了多少订单",
        "oldest customer",  # no birthday
        "revenue growth in October 2026",  # over what
        "month over month revenue in 2025",
        "percentage of cancelled orders by region",  # of the region's orders, or of all cancelled ones
        "percentage of average order value in Germany",
        "customers with orders in both 2025 and 2026",
        "orders more than last year",
        "fiscal year 2025 revenue",
        "revenue in late 2025",
        "orders between 10,000 and 50,000",  # of what
        "products above the average budget",
        "customers with revenue above the average",
        "revenue next month",
        "large orders",
        "What counts as a customer?",
        "number of orders by region ordered by amount",  # a column that is not shown
        "重要客户",
    ],
)
def test_left_alone(question: str) -> None:
    with pytest.raises(NotUnderstood):
        understand(question, LEXICON, today=TODAY)


def test_a_meaning_says_what_is_compared_and_what_the_whole_is() -> None:
    compared = understand("revenue growth this year vs last year", LEXICON, today=TODAY).question
    assert "2025-01-01 to 2025-12-31" in " ".join(describe(compared, LEXICON, "en").conditions)
    share = understand("已取消订单占比是多少", LEXICON, today=TODAY).question
    assert describe(share, LEXICON, "zh").figure == "订单数量占比"
