"""Families of Chinese wordings: each is read in every order of its parts, and handed on where a part says more."""

import pytest

from agent.business.ask.chinese import plain
from agent.business.ask.meaning import NotUnderstood
from tests.unit.business.test_ask import sql
from tests.unit.business.test_ask_typed import food, music


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        # what still stands is a condition, never a word said by the way
        ("还在进行的项目有几个", ["count(*)", "IN ('active')"]),
        ("预算在20万以上、还在进行的项目有哪些", ["IN ('active')", "t0.budget >= 200000"]),
        # two values side by side; two times are a change
        ("今年华东比华南销售额高多少", ["IN ('华东', '华南')", "GROUP BY", "'2026-01-01'"]),
        ("今年华东的销售额比华南多多少钱呢", ["IN ('华东', '华南')", "GROUP BY"]),
        ("华东、华南今年销售额差多少", ["IN ('华东', '华南')", "GROUP BY"]),
        ("今年华东销售额比去年高多少", ["AS change", "IN ('华东')"]),
        # a running period against as much of last year's
        ("今年销售额跟去年同期比怎么样", ["'2026-11-22'", "'2025-11-22'"]),
        ("今年10月的销售额较去年同期增长了多少", ["'2026-11-01'", "'2025-11-01'"]),
        ("上个月销售额环比是涨了还是跌了", ["AS change", "'2026-09-01'"]),
        # means, rates, who
        ("已付款订单均价", ["avg(t0.amount)", "IN ('paid')"]),
        ("平均下来每笔已付款订单多少钱", ["avg(t0.amount)", "IN ('paid')"]),
        ("今年订单取消率", ["part / nullif(whole", "IN ('cancelled')"]),
        ("每位客户经理负责的项目数", ["GROUP BY t1.name", "IN ('Account Manager')"]),
        # counted, bounded, ranked
        ("入职超过三年的员工有多少", ["count(*)", "t0.hired_on < '2023-11-21'"]),
        ("帮我数一下华南那边的客户", ["count(*)", "IN ('华南')"]),
        ("订单金额在1-2万的有多少笔", ["BETWEEN 10000 AND 20000"]),
        ("今年被取消的订单有多少笔、金额合计多少", ["count(*)", "sum(t0.amount)"]),
        ("今年业绩最好的是哪个月", ["date_trunc('month'", "FIRST 1 ROWS"]),
        ("今年3月、4月、5月的销售额合计", ["'2026-03-01'", "'2026-06-01'"]),
        ("11月1号到15号一共来了几个订单？", [">= '2026-11-01'", "< '2026-11-16'"]),
    ],
)
def test_families(question: str, parts: list[str]) -> None:
    found = sql(question)
    assert all(part in found for part in parts), found


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("还在卖的产品有几种", ["IN ('0')"]),
        ("每位销售代表的订单数", ["GROUP BY (t1.first_name", "IN ('Sales Representative')"]),
        ("库存最多的类别", ["sum(t0.units_in_stock)", "GROUP BY t1.category_name"]),
        ("哪类产品库存总共最多", ["sum(t0.units_in_stock)", "GROUP BY t1.category_name"]),
        ("1997年没下过单的客户", ["NOT EXISTS", "'1997-01-01'", "'1998-01-01'"]),
        ("库存比再订购水平低的产品有哪些", ["t0.units_in_stock < t0.reorder_level"]),
        ("各员工入职日期", ["t0.hire_date"]),
        ("单价超过均价的产品有多少种", ["avg("]),
    ],
)
def test_families_over_food(question: str, parts: list[str]) -> None:
    found = food(question)
    assert all(part in found for part in parts), found


def test_which_have_so_many_of_another() -> None:
    found = music("哪些歌手出了10张以上的专辑")
    assert "SELECT t0.name" in found
    assert "HAVING count(*) >= 10" in found


@pytest.mark.parametrize(
    "question",
    [
        "今年销售额比华南高多少",  # whose
        "华东比华北和华南销售额高多少",
        "KeelDock 比平均价贵多少",
        "取消率是多少",  # of what
        "还在用心的项目有几个",
        "人均销售额",  # of customers, or of our people
        "部分地区客户数",
        "入职满三年的员工有多少",  # with that very day
    ],
)
def test_what_says_more_is_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        sql(question)


@pytest.mark.parametrize(
    "question",
    ["德国和加拿大客户一共有几家", "今年新增加客户一共多少", "今年销售额是多少", "叫“还在进行”的歌单"],
)
def test_what_only_looks_like_a_form_stays(question: str) -> None:
    assert plain(question) == question
