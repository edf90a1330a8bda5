"""Numbers in Chinese are read whole or not at all: 五万 is no 5, 3.5万, 5w, 半小时, and ranges of them."""

import pytest

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.words.numerals import in_digits, value_of
from tests.unit.business.test_ask import sql


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("五万", 50_000), ("两千", 2_000), ("两千五", 2_500), ("一百零五", 105), ("一百五", 150), ("十二", 12), ("二十", 20),
        ("一千二百三十四", 1_234), ("三万五", 35_000), ("一百五十万", 1_500_000), ("1亿2千万", 120_000_000), ("3.5万", 35_000),
        ("一万零五", 10_005), ("三四百", None), ("十百", None),
    ],
)  # fmt: skip
def test_a_numeral_is_a_number(said: str, value: float | None) -> None:
    assert value_of(said) == value


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("金额超过五万元", "金额超过50000元"),
        ("超过5w的", "超过5万的"),
        ("二〇二五年", "2025年"),
        ("超过半小时", "超过30分钟"),
        ("一个半小时", "90分钟"),
        ("5分30秒", "330秒"),
        ("5万+的", "5万以上的"),
        ("超过百万的", "超过1000000的"),
        ("几万元", "几万元"),  # vague: stays, and is unknown
        ("十几万", "十几万"),
        ("百分之三十", "百分之三十"),
        ("上半年", "上半年"),
    ],
)
def test_numerals_in_digits(text: str, digits: str) -> None:
    assert in_digits(text) == digits


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("单笔金额超过五万元的已付款订单，今年有多少笔", "t0.amount > 50000"),
        ("金额不低于两千五的订单有多少", "t0.amount >= 2500"),
        ("金额超过5w的订单有多少", "t0.amount > 50000"),
        ("金额过八万的订单有多少", "t0.amount > 80000"),
        ("金额≥5万的订单有多少", "t0.amount >= 50000"),
        ("预算介于十万至二十万的项目", "BETWEEN 100000 AND 200000"),
        ("预算10到20万的项目", "BETWEEN 100000 AND 200000"),  # of one size, both
        ("预算20万以内的项目有多少", "t0.budget <= 200000"),
    ],
)
def test_numbers_of_conditions(question: str, part: str) -> None:
    assert part in sql(question)


@pytest.mark.parametrize(
    "question",
    [
        "金额超过几万的订单有多少", "金额十几万的订单有多少", "金额上万元的订单有多少", "金额超过五万多元的订单有多少",
        "预算二十万上下的项目", "预算20万左右的项目", "预算大约20万的项目", "金额三四万的订单有多少",
    ],
)  # fmt: skip
def test_what_is_only_about_a_number_is_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        sql(question)
