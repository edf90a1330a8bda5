"""Questions as they are typed to a colleague, days between times, parts of names, money: read as they are meant, or handed on."""

from pathlib import Path

import pytest

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.understand import understand
from agent.business.ask.words.lexicon import Lexicon
from agent.business.evaluation.questions import opened_to_all
from agent.business.guard.guard import guard
from agent.business.guard.rewrite import Target
from agent.business.layer.rights import policy_of
from agent.business.layer.yaml_io import read_layer
from tests.unit.business.test_ask import TODAY, sql
from tests.unit.business.test_ask_colloquial import _with_values

LAYERS = Path(__file__).parents[2] / "evaluation" / "business_questions" / "layers"
FOOD_LAYER = _with_values(
    read_layer((LAYERS / "northwind.yaml").read_text()),
    {"products.product_name": ("Chai",), "customers.company_name": ("Ernst Handel",)},
)
FOOD, MUSIC = Lexicon.of(FOOD_LAYER), Lexicon.of(read_layer((LAYERS / "chinook.yaml").read_text()))


def food(question: str) -> str:
    return understand(question, FOOD, today=TODAY).sql.replace('"', "")


def music(question: str) -> str:
    return understand(question, MUSIC, today=TODAY).sql.replace('"', "")


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("orders in the past 7 days", "2026-11-14"),
        ("最近7天的订单", "2026-11-14"),
        ("orders in the past two weeks", "2026-11-07"),
        ("过去一周的订单", "2026-11-14"),
        ("orders in the past 3 months", "2026-08-21"),
    ],
)
def test_past_days_begin_on_the_day_so_many_ago(question: str, start: str) -> None:
    assert f"ordered_at >= '{start}' AND t0.ordered_at < '2026-11-22'" in sql(question)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        # who hands it over, and what for
        ("德国的客户发我一下", ["t0.name", "IN ('Germany')"]),
        ("暂停的项目，帮我列列", ["t0.name", "IN ('paused')"]),
        ("杭州的员工，数一下", ["count(*)", "IN ('Hangzhou')"]),
        ("need the customers in Norway", ["t0.name", "IN ('Norway')"]),
        ("paused projects, list them please", ["t0.name", "IN ('paused')"]),
        # that one
        ("预算最高的那个项目叫啥名字", ["t0.name, t0.budget", "DESC", "FIRST 1 ROWS WITH TIES"]),
        ("金额最大的那一单，单号给我", ["ORDER BY t0.amount DESC", "FIRST 1 ROWS WITH TIES"]),
        # one against another
        ("软件跟网关，今年谁的销售额高", ["IN ('software', 'gateway')", "GROUP BY t1.category", "2026-01-01"]),
        ("26年比25年，销售额差了多少", ["AS change", "'2025-01-01'", "'2026-01-01'"]),
        ("Germany and Norway: whose revenue was higher?", ["IN ('Germany', 'Norway')", "GROUP BY"]),
        ("revenue last month against the month before", ["'2026-10-01'", "'2026-09-01'"]),
        # none at all, all but, more than
        ("今年一单没下的客户有几个", ["count(*)", "NOT EXISTS", "2026-01-01"]),
        ("orders this year not counting cancelled ones", ["NOT IN ('cancelled')"]),
        ("有没有哪一单金额过8万的", ["sales_order", "t0.amount > 80000"]),
        ("orders that got cancelled this year", ["IN ('cancelled')"]),
        ("revenue in Germany and Norway only", ["IN ('Germany', 'Norway')"]),
        ("在职员工有多少", ["count(*)", "NOT IN ('left')"]),
        ("headcount by office, excluding the people who left", ["NOT IN ('left')", "GROUP BY t0.office"]),
        ("软件类产品里最便宜的是哪个", ["t0.name, t0.list_price", "IN ('software')", "ASC"]),
        ("每种状态的项目各有几个", ["t0.status", "count(*)", "GROUP BY"]),
        # averages of one thing
        ("已付款的订单平均多少钱一单", ["avg(t0.amount)", "IN ('paid')"]),
        ("5 biggest spenders", ["sum(t0.amount)", "FIRST 5 ROWS WITH TIES"]),
        ("25年的销售额", ["'2025-01-01'"]),
        # a group said twice is one
        (
            "今年一个月一个月的销售额，每月多少",
            ["date_trunc('month'", "GROUP BY to_char(date_trunc('month', t0.ordered_at), 'YYYY-MM') "],
        ),
    ],
)
def test_typed_to_a_colleague(question: str, parts: list[str]) -> None:
    found = sql(question)
    assert all(part in found for part in parts), found


DAYS = "avg(t0.shipped_date::date - t0.order_date::date)"


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("average days between order date and shipped date", [DAYS]),
        ("How long does it take on average from order to shipment?", [DAYS]),
        ("On average, how many days pass between order and shipment for each carrier?", [DAYS, "GROUP BY"]),
        ("从下单到发货平均几天", [DAYS]),
        ("每家承运商的平均发货天数", [DAYS, "GROUP BY"]),
        ("longest gap in days between ordering and shipping", ["max(t0.shipped_date::date - t0.order_date::date)"]),
        ("orders that took more than 30 days to ship", ["t0.shipped_date::date - t0.order_date::date > 30"]),
        ("What is our stock worth?", ["sum(t0.unit_price::numeric * t0.units_in_stock)"]),
        ("库存一共值多少钱", ["sum(t0.unit_price::numeric * t0.units_in_stock)"]),
        ("各类别的库存金额", ["sum(t0.unit_price::numeric * t0.units_in_stock)", "GROUP BY"]),
        ("discontinued products with stock", ["IN ('1')", "t0.units_in_stock > 0"]),
        ("How many Chai are in stock?", ["sum(t0.units_in_stock)", "IN ('Chai')"]),
        ("Chai 还有多少库存", ["sum(t0.units_in_stock)", "IN ('Chai')"]),
        ("How many Chai are on order right now", ["sum(t0.units_on_order)", "IN ('Chai')"]),
        (
            "last 10 orders of German customers",
            ["ORDER BY t0.order_date DESC", "FIRST 10 ROWS WITH TIES", "t1.country"],
        ),
        ("德国客户最近的10笔订单", ["ORDER BY t0.order_date DESC", "FIRST 10 ROWS WITH TIES", "t1.country"]),
        ("98年一季度的订单数", ["'1998-01-01'", "'1998-04-01'"]),
        ("products with 'choc' in the name", ["t0.product_name ILIKE '%choc%'"]),
        ("products with a price above 100 dollars", ["t0.unit_price::numeric > 100"]),
    ],
)
def test_what_follows_from_columns(question: str, parts: list[str]) -> None:
    found = understand(question, FOOD, today=TODAY).sql
    guard(found, policy_of(opened_to_all(FOOD_LAYER), [], granted=(), source_granted=True), Target())
    assert all(part in found.replace('"', "").replace("::text", "") for part in parts), found


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("作曲是 Kurt Cobain 的歌", "t0.composer ILIKE 'Kurt_Cobain'"),
        ("How many songs have 'night' in the title?", "t0.name ILIKE '%night%'"),
        ("rock tracks longer than 8 min", "t0.milliseconds > 480000"),
        ("who sits in Paris and what's their job title", "t0.last_name, t0.title"),
    ],
)
def test_names_and_who(question: str, part: str) -> None:
    assert part in music(question)


@pytest.mark.parametrize(
    "question",
    [
        "products with stock above 100 CNY",  # pieces are not counted in money
        "库存超过100元的产品",
        "orders that took 5 days",  # for what
        "How many days does it take from order to delivery?",  # not in the data
        "the highest order of each customer by carrier",
        "the customers with the latest orders",
    ],
)
def test_food_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        food(question)


@pytest.mark.parametrize(
    "question",
    [
        "orders above 1000 euros",  # the column is in CNY
        "预算超过10万美元的项目",
        "revenue this year in dollars",
        "订单数超过5元的客户",
        "budget left on paused projects",  # what is left, or who
    ],
)
def test_demo_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        sql(question)


def test_a_country_of_buyers_is_none_of_the_bands() -> None:
    with pytest.raises(NotUnderstood):
        music("来自英国的乐队有几支")


def test_the_nearest_of_several_columns_of_one_name() -> None:
    assert "GROUP BY t1.city" in music("revenue by city")
    with pytest.raises(NotUnderstood):
        food("average freight by country")  # of the customers, or of the employees


def test_or_joins_values_of_one_column_only() -> None:
    found = sql("customers in Germany or Norway from the port industry")
    assert "IN ('Germany', 'Norway')" in found
    assert " OR " not in found
