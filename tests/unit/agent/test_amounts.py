"""Which number a question asks for, and whether a sentence gives one of that kind."""

import pytest

from agent.extractive.amounts import Amount, amount_asked, asks_amount, counts_what_is_asked, gives


@pytest.mark.parametrize(
    ("question", "amount"),
    [
        ("员工平均工资是多少", Amount.PAY),
        ("鹿特丹 E5 的薪酬上限是多少", Amount.PAY),
        ("What is the average salary of a nurse?", Amount.PAY),
        ("When are salaries paid?", Amount.ANY),
        ("How many people were promoted?", Amount.COUNT),
        ("How often does the board meet?", Amount.FREQUENCY),
        ("数据库备份多久做一次？", Amount.FREQUENCY),
        ("备份保留多久？", Amount.SPAN),
        ("How many paid sick days do I have?", Amount.SPAN),
        ("今年晋升了多少人？", Amount.PEOPLE),
        ("球队获得了第几名？", Amount.ANY),
        ("假期有几个月？", Amount.SPAN),
        ("How long is it valid?", Amount.ANY),
        ("KG-200-E 网关人民币卖多少钱？", Amount.MONEY),
        ("过了保修期维修一次收多少钱？", Amount.MONEY),
        ("How much does a KG-400 cost?", Amount.MONEY),
        ("What is the list price of KeelDock?", Amount.MONEY),
        ("How much is KeelDock per month?", Amount.MONEY),
        ("How much is left of my leave?", Amount.ANY),
        ("How much is in stock?", Amount.ANY),
        ("KG-200的价格是多少？", Amount.MONEY),
        ("公司信用卡怎么卖？", Amount.MONEY),
        ("How many days does it take?", Amount.SPAN),
        ("How long does a link stay valid?", Amount.SPAN),
        ("How long is the river?", Amount.ANY),
        ("多少秒以后禁止切换？", Amount.SPAN),
        ("几年级的学生？", Amount.ANY),
        ("今年升了几个人", Amount.PEOPLE),
        ("最多可以卖多少台？", Amount.COUNT),
        ("list price of a KG-400-L?", Amount.MONEY),
        ("KeelDock Plus price per site and month", Amount.MONEY),
        ("KG-400-N 人民币报价", Amount.MONEY),
        ("What explains the price reason given by customers?", Amount.ANY),
        ("connection pool limit", Amount.LIMIT),
        ("演员是哪一年毕业的？", Amount.YEAR),
        ("哪年级的学生最多？", Amount.ANY),
        ("每台容器数量上限", Amount.LIMIT),
        ("time limit of a session", Amount.ANY),
        ("Which limit was exceeded in March?", Amount.ANY),
    ],
)
def test_the_wording_tells_the_amount(question: str, amount: Amount) -> None:
    assert amount_asked(question) is amount


@pytest.mark.parametrize(
    ("amount", "sentence", "is_given"),
    [
        (Amount.PAY, "每月可获得离职前平均工资 30% 的补偿，最长 12 个月。", False),
        (Amount.PAY, "平均工资为每月 9,500 元。", True),
        (Amount.PAY, "职级: E5; 年薪上限: 118000", True),
        (Amount.PAY, "The bonus is one of the monthly salaries.", True),
        (Amount.PAY, "Salaries are paid on the 10th in 2026.", False),
        (Amount.FREQUENCY, "Board meetings are typically held 3-4 weeks after the quarter ends.", False),
        (Amount.FREQUENCY, "Formal reviews take place once a year.", True),
        (Amount.FREQUENCY, "数据类别: 数据库备份; 保留期限: 35 天", False),
        (Amount.FREQUENCY, "固件每季度发布一次。", True),
        (Amount.COUNT, "Employees may work from home two days a week.", False),
        (Amount.COUNT, "员工每周可以在家办公两天。", False),
        (Amount.COUNT, "Four desks are shared, two days a week.", True),
        (Amount.COUNT, "A test is asked for with a budget of EUR 45,000.", False),
        (Amount.COUNT, "预算为 38 万元。", False),
        (Amount.COUNT, "Plan: Starter; Unit: vehicle and month; CNY: 39; EUR: 6.5", False),
        (Amount.COUNT, "版本: 入门版; 价格（元）: 39", False),
        (Amount.COUNT, "Plan: Starter; Vehicles: 50; EUR: 6.5", True),
        (Amount.COUNT, "A promotion is possible on 1 October.", False),
        (Amount.COUNT, "The KG-400 was shown in 2026-07 under SI-2026-08.", False),
        (Amount.COUNT, "Fourteen people were promoted on 1 October.", True),
        (Amount.PEOPLE, "本次调薪共有十四人晋升。", True),
        (Amount.PEOPLE, "部门: 工程部; 6 月 30 日人数: 98", True),
        (Amount.PEOPLE, "每年调薪一次，自 4 月 1 日起生效。", False),
        (Amount.SPAN, "Shared trip links never show the driver's name.", False),
        (Amount.SPAN, "Links expire after 72 hours.", True),
        (Amount.SPAN, "主库磁盘使用率为 71%，按目前增速 2027 年 4 月将达到 85%。", False),
        (Amount.SPAN, "春节为 2027-02-05 至 2027-02-11。", True),
        (Amount.SPAN, "有效期为二十四个月。", True),
        (Amount.MONEY, "保修期为自交付之日起 24 个月，一次订购 50 台以上可享优惠。", False),
        (Amount.MONEY, "订货号: KG-200-E; 说明: 以太网版; 交货期: 1 周", False),
        (Amount.MONEY, "项目: 最大采集点数; KG-200: 500; KG-400: 4,000", False),
        (Amount.MONEY, "Order number: KG-400-L; CNY: 5980; EUR: 890", True),
        (Amount.MONEY, "型号: KG-200-E; 人民币价: 980", True),
        (Amount.MONEY, "List price (EUR): 320", True),
        (Amount.MONEY, "The bridge cost 3 million to build.", True),
        (Amount.MONEY, "每年的维护费为 800 元。", True),
        (Amount.YEAR, "她毕业于演艺学院，后来演过 12 部电影。", False),
        (Amount.YEAR, "她于1987年毕业。", True),
        (Amount.YEAR, "开元五年设镇。", True),
        (Amount.YEAR, "同年10月22日，两省合并。", True),
        (Amount.YEAR, "签约日期: 2026-07-08", True),
        (Amount.LIMIT, "The connect timeout is 500 milliseconds.", False),
        (Amount.LIMIT, "连接超时为 500 毫秒，会话 12 小时后失效。", False),
        (Amount.LIMIT, "At most 40 connections are kept for 30 seconds.", True),
        (Amount.ANY, "Nobody knows.", True),
    ],
)
def test_a_sentence_gives_an_amount_of_the_kind_or_not(amount: Amount, sentence: str, is_given: bool) -> None:
    assert gives(amount, sentence) is is_given


def test_a_sum_says_by_itself_that_something_has_a_price() -> None:
    assert asks_amount("cost", Amount.MONEY)
    assert not asks_amount("cost", Amount.ANY)


@pytest.mark.parametrize(
    ("question", "sentence", "counts"),
    [
        ("How many interviews does a candidate have?", "A candidate has four technical interviews.", True),
        ("How many interviews does a candidate have?", "Interviews of a candidate: 4", True),
        ("How many interviews does a candidate have?", "One recording is kept, of all interviews.", False),
        ("How many reports has a manager?", "7. Meet each of your reports.", False),
        ("手册共有几条规则？", "手册共有十二条规则。", True),
        ("手册共有几条规则？", "规则从第 12 页起，共 3 页。", False),
        ("手册有哪些规则？", "手册共有十二条规则。", False),  # nothing is counted
    ],
)
def test_a_count_stands_beside_what_is_counted(question: str, sentence: str, counts: bool) -> None:
    assert counts_what_is_asked(question, sentence) is counts
