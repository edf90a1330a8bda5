"""The same asked by different people in Chinese: each way has the statement of the plain one, and what says more is handed on."""

import pytest

from agent.business.ask.meaning import NotUnderstood
from tests.unit.business.test_ask import sql

_SAME = {
    "今年各月的销售额": (
        "今年一个月一个月的销售额", "今年逐月的销售额", "今年每月卖了多少钱", "今年按月份统计销售额", "今年每个月的营收分别有多少",
        "今年逐月的销售额，请按月列出。", "核对一下：今年各月的销售额",
    ),
    "今年各地区的销售额": (
        "分地区看今年的销售额", "以地区为维度统计今年的销售额", "今年不同地区的销售额分别是多少", "今年销售额按地区汇总一下",
        "逐个地区列出今年的销售额",
    ),
    "2025年每季度的销售额": ("2025年四个季度的收入分别是多少？", "2025年各季度业绩", "2025年四个季度的成交额各是多少"),
    "每年的销售额": ("历年的销售额", "逐年列出销售额", "历年来的营收"),
    "各地区的销售额占比": ("各地区占总销售额的百分比", "每个地区占销售额的比重", "各地区占销售额的几成"),
    "平均每月的销售额": ("月均销售额", "月均营收"),
    "销量最低的3个产品": ("销量倒数三名的产品", "销量倒数3名的产品"),
    "客户数超过1的国家有哪些": ("哪些国家的客户不止一位？", "哪些国家的客户超过1家"),
    "预算低于平均值的项目": ("预算低于平均水平的项目",),
    "不在华东和华南的客户有多少": ("既不在华东也不在华南的客户有多少",),
    "产品的最高标价": ("产品里面最贵的标价是多少", "产品最贵的标价是多少"),
    "没有订单的客户": ("零订单的客户",),
    "2026年10月的订单数": ("刚过去的十月份的订单数", "刚结束的10月的订单数"),
}  # fmt: skip


@pytest.mark.parametrize(("plain", "said"), [(plain, said) for plain, ways in _SAME.items() for said in ways])
def test_said_otherwise_it_is_the_same(plain: str, said: str) -> None:
    assert sql(said) == sql(plain)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("今年前十个月新签了多少家客户？去年同期又是多少？", ["'2026-11-01'", "'2025-01-01'", "'2025-11-01'"]),
        (
            "已暂停的项目预算合计多少、平均每个项目多少，请一并告知。",
            ["sum(t0.budget)", "avg(t0.budget)", "IN ('paused')"],
        ),
        ("员工共有几名，其中最早的入职日期是哪一天？", ["count(*)", "min(t0.hired_on)"]),
        ("销售额超过10万的是哪几个月", ["date_trunc('month'", "HAVING sum(t0.amount) > 100000"]),
        ("订单数在10到15之间的客户", ["HAVING count(*) >= 10", "HAVING count(*) > 15"]),
        ("华东和华南今年谁的销售额更高", ["IN ('华东', '华南')", "GROUP BY"]),
    ],
)
def test_two_things_at_once(question: str, parts: list[str]) -> None:
    assert not [part for part in parts if part not in sql(question)]


@pytest.mark.parametrize(
    "question",
    [
        "最年轻的员工是哪一年的",  # which year of what
        "只买过软件的客户有哪些",
        "取消率是多少",
        "订单数？去年同期又是多少",  # a year before what
    ],
)
def test_what_says_more_is_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        sql(question)
