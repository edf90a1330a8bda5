"""Chinese as it is spoken: courtesies, light words, absence, rankings, two things asked at once; each with what stays unanswered."""

import pytest

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.understand import understand
from tests.unit.business.test_ask import LEXICON, TODAY, sql


def same(*questions: str) -> None:
    """All of these are one question."""
    found = {question: sql(question) for question in questions}
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize(
    "questions",
    [
        ("德国客户有哪些", "麻烦查一下德国客户有哪些", "把德国的客户列一下",
         "请把德国客户列给我", "德国客户清单", "不好意思打扰了，德国的客户都有哪几家呢"),
        ("有多少客户", "咱们有多少客户",
         "我们公司里有多少客户？谢谢", "想请教一下，咱一共有多少客户呀", "客户有几家"),
        ("2025年的销售额", "2025年全年的销售额是多少",
         "2025年全年销售额做到多少", "2025年给我们带来了多少销售额", "2025年的营收"),
        ("没有订单的客户", "一单都没下过的客户", "从来没下过单的客户",
         "连一张订单都没有的客户有哪些", "从未下单的客户", "一次都没下过单的客户"),
        ("没有项目的员工有多少", "一个项目都没负责的员工有几个", "一个项目都没有的同事有多少"),
        ("各地区按销售额排名", "按销售额给各地区排个名", "给各地区按销售额排个序", "各地区的销售额，从高到低排一下"),
        ("华东和华南的销售额分别是多少", "华东和华南的销售额哪个更高", "华东、华南的销售额，哪边高？各是多少",
         "华东和华南两个地区的销售额各是多少"),
        ("订单超过5个的客户", "下单超过5次的客户有哪些", "哪些客户有超过5张订单"),
        ("未付款的订单有多少", "没付款的订单有多少", "还没付款的订单有几笔"),
        ("预算最高的项目是哪个", "预算最高的项目叫什么名字", "预算最高的项目叫啥"),
        ("杭州的员工有哪些", "在杭州上班的员工有哪些", "在杭州工作的同事都有谁", "杭州那边的员工有哪些"),
        ("高级工程师有哪些", "担任高级工程师的都有谁"),
        ("各地区的客户数", "地区 客户数", "每个地区各有多少客户", "各个地区各有多少家客户"),
        ("取消的订单金额合计", "取消的订单加起来有多少钱", "取消的订单一共多少钱"),
        ("客户的行业分布", "行业 客户数量", "客户 行业 数量 分布"),
        ("今年销售额最高的产品", "按销售额算，今年卖得最好的产品是哪个"),
    ],
)  # fmt: skip
def test_wordings_that_say_the_same(questions: tuple[str, ...]) -> None:
    same(*questions)


@pytest.mark.parametrize(
    ("question", "shown", "parts"),
    [
        ("暂停的项目有哪些，预算各是多少", "SELECT t0.name, t0.budget FROM", ["IN ('paused')"]),
        ("最贵的产品是哪个，多少钱？", "SELECT t0.name, t0.list_price FROM", ["FIRST 1 ROWS WITH TIES"]),
        ("最贵的产品卖多少钱", "SELECT t0.name, t0.list_price FROM", ["LIMIT 1"]),
        ("预算最高的项目是谁负责的", "SELECT t0.name, t0.budget, t1.name FROM", ["owner_id", "FIRST 1 ROWS WITH TIES"]),
        ("预算最高的三个项目，负责人是谁", "SELECT t0.name, t0.budget, t1.name FROM", ["FIRST 3 ROWS WITH TIES"]),
        ("试用期的员工有哪几位，分别在哪个办公室", "SELECT t0.name, t0.office FROM", ["IN ('probation')"]),
        (
            "最近一笔订单是哪天下的，是哪个客户的",
            "t1.name FROM",
            ["ORDER BY t0.ordered_at DESC", "FIRST 1 ROWS WITH TIES"],
        ),
        ("最大的订单是卖给哪个客户的", "t1.name FROM", ["ORDER BY t0.amount DESC", "FIRST 1 ROWS WITH TIES"]),
        ("销售额最高的客户是谁，在哪个地区", "t1.region AS region, sum(t0.amount)", ["FIRST 1 ROWS WITH TIES"]),
        ("客户最多的行业是哪个，有多少家", "t0.industry AS industry, count(*)", ["FIRST 1 ROWS WITH TIES"]),
        ("今年一共有多少订单，总金额多少", "count(*) AS count, sum(t0.amount) AS sum_amount", ["'2026-01-01'"]),
        ("各地区的销售额，列出前三名", "t1.region AS region, sum(t0.amount)", ["FIRST 3 ROWS WITH TIES"]),
        ("卖得最多的3个产品是哪些？按销量排", "t1.name AS product, sum(t0.quantity)", ["FIRST 3 ROWS WITH TIES"]),
        ("德国客户有哪些，按签约时间从新到旧排", "SELECT t0.name, t0.created_on FROM", ["ORDER BY t0.created_on DESC"]),
        ("which projects are paused, and what are their budgets?", "SELECT t0.name, t0.budget FROM", ["IN ('paused')"]),
    ],
)
def test_two_things_asked_at_once(question: str, shown: str, parts: list[str]) -> None:
    found = sql(question)
    assert shown in found
    assert all(part in found for part in parts), found


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("今年到现在签了多少家新客户", ["count(*)", "created_on >= '2026-01-01'", "created_on < '2026-11-22'"]),
        ("预算超过20万的项目清单", ["t0.name, t0.budget", "> 200000"]),
        ("累计消费不到5万的客户", ["t0.name, (SELECT sum(h0.amount)", "NOT IN"]),
        ("填了国家的客户有多少", ["country IS NOT NULL"]),
        ("国家为空的客户有几家", ["country IS NULL"]),
        ("没有登记行业的客户", ["industry IS NULL"]),
        ("德国客户去年的订单金额合计", ["sum(t0.amount)", "t0.ordered_at >= '2025-01-01'"]),
        ("哪个地区的客户带来的销售额最高", ["t1.region", "sum(t0.amount)", "FIRST 1 ROWS WITH TIES"]),
        ("最近一次下单的客户是谁", ["t1.name", "ORDER BY t0.ordered_at DESC", "FIRST 1 ROWS WITH TIES"]),
        ("杭州和鹿特丹，哪边儿人多？", ["t0.office", "count(*)", "IN ('Hangzhou', 'Rotterdam')", "GROUP BY"]),
        ("今年的客单价比去年高吗", ["AS change", "avg(t0.amount)"]),
    ],
)
def test_said_in_chinese(question: str, parts: list[str]) -> None:
    found = sql(question)
    assert all(part in found for part in parts), found


@pytest.mark.parametrize(
    "question",
    [
        # which one is meant was said before, or nowhere
        "这家客户有多少订单", "那家客户的订单金额", "华东的这家客户有多少订单", "某些客户的订单数",
        # light words out of their frame say something
        "今天上班的员工有几位", "有多少员工在工作", "做得最好的员工是谁", "公司为空的客户有多少", "不含预算的项目销售额",
        # what happened, why, and who did it, are not in the data
        "被退货的订单有多少", "暂停的项目有哪些，为什么暂停", "暂停的项目有哪些，什么时候恢复", "预算最高的项目是谁启动的",
        # the second thing asked is no column of the first
        "最贵的产品是哪个，有多少库存", "预算最高的项目是哪个，订单数是多少", "杭州的员工有哪些，工资各是多少",
        "暂停的项目有哪些，预算一共是多少", "销售额最高的五个客户，从低到高",
        # each of what, and which of what
        "客户的销售额分别是多少", "客户的销售额哪个更高", "产品和客户哪个多", "客户订单数", "产品销量哪个高",
        # two times, of which each would be another condition
        "去年下过单但今年没下单的客户", "上个月新签的订单", "上个月新签了多少订单",
        "杭州有多少工程师，鹿特丹呢", "网关卖了多少钱，软件呢",
        # absence of something else
        "没有产品的产品", "一个产品都没退过的客户", "同时买过软件和服务的客户有哪些",
    ],
)  # fmt: skip
def test_near_misses_are_handed_on(question: str) -> None:
    with pytest.raises(NotUnderstood):
        understand(question, LEXICON, today=TODAY)
