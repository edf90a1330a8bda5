"""What is kept on file and what is not, names at the end of a sentence, dates with one year, and a second condition; with near misses."""

import pytest

from agent.business.ask.english.plain import in_plain_words, with_stops_outside
from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.understand import understand
from tests.unit.business.test_ask import LEXICON, TODAY, sql

_FILLED = ["t0.country::text IN ('Norway')", "t0.industry IS NOT NULL"]
_NOT_FILLED = ["t0.industry IS NULL"]
_ACTIVE_AND_DEAR = ["t0.budget > 200000", "IN ('active')"]
_THREE_ACTIVE = ["IN ('active')", "ORDER BY t0.budget DESC", "FIRST 3 ROWS"]
_TO_DATE = ["sum(t0.quantity)", "IN ('Norway')", ">= '2026-01-01'", "< '2026-11-22'"]
_AUTUMN = ["count(*)", ">= '2025-10-01'", "< '2025-11-16'"]
_WINTER = ["count(*)", ">= '2024-12-01'", "< '2025-01-16'"]
_FAMILIES: list[tuple[list[str], list[str]]] = [
    (_FILLED, ["Which customers in Norway have an industry on file?", "customers in Norway with an industry on record",
               "Which Norwegian customers have an industry?", "Norwegian customers with an industry listed",
               "有行业的挪威客户有哪些", "哪些挪威客户有行业信息", "登记了行业的挪威客户有哪些"]),
    (_NOT_FILLED, ["Which customers have no industry on file?", "customers with no industry listed",
                   "customers without an industry on file",
                   "Which customers don't have an industry on file?", "customers whose industry is not on file",
                   "没有登记行业的客户有哪些", "哪些客户没有行业信息"]),
    (["SELECT count(*) AS count FROM public.customer AS t0"], ["How many customers do we have on file?", "how many customers are on file"]),
    (["IN ('paused')", "t0.budget"], ["目前处于暂停状态的项目有哪些，预算分别是多少？"]),
    (_ACTIVE_AND_DEAR, ["预算超过20万元而且正在进行的项目有哪些？", "哪些项目正在进行但预算超过20万"]),
    (_THREE_ACTIVE, ["正在进行的项目里，预算最高的三个是哪些？"]),
    (["DISTINCT t0.cluster", "IN ('production')"], ["生产环境部署在哪些集群上？"]),
    (_TO_DATE, ["从年初到现在，挪威客户的销量是多少？", "从今年年初到现在挪威客户的销量", "年初至今挪威客户的销量是多少"]),
    (["ORDER BY t0.started_on DESC", "FIRST 1 ROWS", "t0.status"], ["What is the most recently started project, and what is its status?"]),
    (["AS share", "IN ('Norway')"], ["What percentage of this year's revenue came from Norwegian customers?"]),
    (["employee", "ORDER BY t0.hired_on DESC", "FIRST 1 ROWS"], ["最晚入职的那位员工是谁，哪天入职的？"]),
    (_AUTUMN, ["How many orders were placed between 1 October and 15 November 2025?",
               "How many orders were placed between 1 October 2025 and 15 November?",
               "orders from 1 October to 15 November 2025, how many"]),
    (_WINTER, ["How many orders were placed between 1 December and 15 January 2025?",
               "How many orders were placed between 1 December 2024 and 15 January?"]),
    (["GROUP BY t1.country", "'Norway', 'Germany'", "count(*)"], ["挪威客户和德国客户的订单数各有多少张？",
        "挪威和德国客户的订单数各有多少"]),
    (["t0.name", "t0.category", "ORDER BY t0.list_price DESC", "FIRST 3 ROWS"], ["标价最高的3个产品的类别"]),
    (["sum(t0.amount)", "region", "FIRST 1 ROWS"], ["Which region earns us the most?", "Which region brought us the most money in 2025?"]),
    (["sum(t0.quantity)", "IN ('software')"], ["软件今年卖出去多少套"]),
    (["project", "count(*)", "started_on"], ["How many projects did we kick off this year?"]),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "question"), [(parts, question) for parts, asked in _FAMILIES for question in asked])
def test_a_family_of_wordings_is_read_alike(parts: list[str], question: str) -> None:
    found = sql(question)
    assert [part for part in parts if part not in found] == [], found


@pytest.mark.parametrize(
    "question",
    [
        "Which industry do Norwegian customers have on file?",  # a list of them, or of who has one
        "How many customers have revenue on file?",
        "Which products have a list price?",  # above zero, or known
        "有标价的产品有哪些",
        "有公司的客户有哪些",  # no such column; “公司” is not who asks here
        "customers with the industry",
        "Do all customers have an industry?",
        "customers with a logo on file",
        "项目处于什么状态的最多",
        "从去年年初到现在的销售额",
        "Which employee earns the most?",  # pay, and no revenue
        "软件还剩几套",
        "Which employee was most recently kicked out?",
    ],
)
def test_near_misses_are_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        understand(question, LEXICON, today=TODAY)


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("Show the songs written by Kurt Cobain.", 'Show the songs written by "Kurt Cobain".'),
        ("Show the songs written by AC/DC.", 'Show the songs written by "AC/DC".'),
        ("songs written by J. S. Bach.", 'songs written by "J. S. Bach".'),
        ("songs written by Sammy Davis Jr.", 'songs written by "Sammy Davis Jr."'),
        ("songs written by Kurt Cobain. How many?", 'songs written by "Kurt Cobain". How many?'),
    ],
)
def test_a_name_ends_before_the_stop_of_its_sentence(said: str, plain: str) -> None:
    assert in_plain_words(said) == plain


@pytest.mark.parametrize(
    ("said", "outside"),
    [
        ('songs on "Back in Black."', 'songs on "Back in Black".'),
        ('songs on "Back in Black," please', 'songs on "Back in Black", please'),
        ("专辑“Ten。”有哪些曲目", "专辑“Ten”。有哪些曲目"),
        ('songs on "Help!"', 'songs on "Help!"'),
        ('songs by "Sammy Davis Jr."', 'songs by "Sammy Davis Jr."'),
        ('orders of "Google Inc."', 'orders of "Google Inc."'),
    ],
)
def test_a_quoted_name_holds_no_stop_of_its_sentence(said: str, outside: str) -> None:
    assert with_stops_outside(said) == outside
