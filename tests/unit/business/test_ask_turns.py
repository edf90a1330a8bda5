"""Turns of phrase of both languages: each is read as the plain question it stands for, or handed on."""

import pytest

from agent.business.ask.meaning import NotUnderstood
from tests.unit.business.test_ask import sql
from tests.unit.business.test_ask_typed import food, music


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("只看已暂停的项目，平均预算是多少", "已暂停的项目平均预算是多少"),
        ("预算低于平均水平的项目，我要写周报", "预算低于平均水平的项目"),
        ("仅有一家客户的国家有哪些", "恰好1家客户的国家有哪些"),
        ("2026年9月比8月多卖了多少钱", "2026年9月比2026年8月销售额多多少"),
        ("挂着的项目（暂停状态）有多少个，都叫什么", "暂停的项目有哪些"),
        ("pls list the customers in Germany", "list the customers in Germany"),
        ("have we landed any new customers in Germany this year?", "are there any customers signed in Germany this year"),
        ("average amount of a paid order versus a cancelled one", "average amount of paid vs cancelled orders"),
        ("orders above 9,000 between the 3rd and 9th of November", "orders above 9,000 between 3 November and 9 November"),
        ("revenue from January through March 2026", "revenue from January to March 2026"),
        ("revenue by region, 2026 orders only", "revenue by region in 2026"),
        ("how many of everyone on the payroll", "how many of employees"),
        ("paused projects, incl. their budget figures", "paused projects, including their budget"),
        ("the two newest hires", "the two most recently hired employees"),
    ],
)  # fmt: skip
def test_a_turn_of_phrase_is_the_plain_question(said: str, plain: str) -> None:
    assert sql(said) == sql(plain)


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("走 Ernst Handel 的订单有多少", "Ernst Handel 的订单有多少"),
        ("要求日期落在1997年5月的订单有多少", "要求日期在1997年5月的订单有多少"),
        ("Ernst Handel 买过哪些类别的东西", "Ernst Handel 买过哪些类别"),
        ("停产、但库房里仍有库存的产品", "停产、但还有货的产品"),
        ("headcount hired before 1994", "number of employees hired before 1994"),
        ("who handled the fewest orders in 1997", "which employee had the fewest orders in 1997"),
        ("destination country we ship to most often", "which destination country has the most orders"),
    ],
)
def test_it_is_so_of_orders_of_food(said: str, plain: str) -> None:
    assert food(said) == food(plain)


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("单价0.99的曲目都属于哪些流派、每个流派几首", "各流派单价0.99的曲目有多少"),
        ("top buyer (by amount spent) in 2025", "customer with the highest revenue in 2025"),
        ("albums whose songs add up to over two hours", "albums with a total length of over two hours"),
        ("share of invoices with a total below 5", "share of invoices with an amount below 5"),
        ("did we invoice anybody in 2025?", "are there any invoices to customers in 2025"),
    ],
)
def test_it_is_so_of_music(said: str, plain: str) -> None:
    assert music(said) == music(plain)


@pytest.mark.parametrize(
    "question",
    [
        "单价0.99的曲目的流派、每个流派的流派数",
        "有单价0.99的曲目的流派,各流派有几个流派",
        "number of genres by genre",
        "biggest buyer of jazz by rating",
    ],
)
def test_what_counts_one_in_each_or_says_more_is_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        music(question)
