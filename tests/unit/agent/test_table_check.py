"""What a table says of a sentence: each cell, sum, order and condition is looked up or recomputed."""

from datetime import date

import pytest

from agent.attribution import table_check
from agent.attribution.check import Evidence, check_sentence
from agent.attribution.tables import parse_evidence_table

TODAY = date(2026, 11, 21)
SALES = """3 rows.

| branch | revenue | share |
| --- | --- | --- |
| Lyon | 1,200 | 50 |
| Oslo | 720 | 30 |
| Turin | 480 | 20 |

Conditions: time: 2026-07-01 to 2026-09-30; channel = online"""
COUNT = """31（合同数量）

条件：时间：2026-10-01 至 2026-10-31；城市 = 苏州"""
NONE = "没有符合条件的数据（部门 = 质检部；状态 = 逾期）。"
CUT = """共 90 行，显示前 2 行。

| 订单 | 金额 |
| --- | --- |
| A-17 | 500 |
| A-18 | 300 |"""
CHANGED = """2 rows.

| site | current | previous | change | change_percent |
| --- | --- | --- | --- | --- |
| Basel | 90 | 100 | -10 | -10 |
| Graz | 60 | 50 | 10 | 20 |"""


STAFF = """| 姓名 | 部门 | 入职日期 | 月薪（元） |
| --- | --- | --- | --- |
| 陈琳 | 研发部 | 2021-03-15 | 28,000 |
| 周航 | 市场部 | 2023-07-01 | 19,500 |
| 李想 | 研发部 | 2019-11-04 | 32,500 |"""
MONTHS = """| month | revenue |
| --- | --- |
| 2026-05 | 120,000 |
| 2026-09 | 138,000 |
| 2026-10 | 151,000 |

Conditions: time: 2026-05-01 to 2026-10-31"""


def said(sentence: str, text: str, question: str = "") -> str:
    return check_sentence(sentence, Evidence(text, is_result=True), question=question, today=TODAY).verdict.value


def test_a_row_is_compared_cell_by_cell() -> None:
    for sentence, verdict in (
        ("Online, Lyon had the highest revenue.", "supported"),
        ("Online, Oslo had the highest revenue.", "contradicted"),
        ("Online revenue of Lyon was 1,200.", "supported"),
        ("Online revenue of Lyon was 720.", "contradicted"),
        ("Online, Lyon and Turin together had a revenue of 1,680.", "supported"),
        ("Online, Lyon and Turin together had a revenue of 1,700.", "contradicted"),
        ("Last year the online revenue of Lyon was 1,200.", "contradicted"),
        ("Online revenue of Lyon was 1,200 because of a fair.", "unsettled"),
    ):
        assert said(sentence, SALES, "How much online revenue did each branch have last quarter?") == verdict


def test_one_number_is_said_with_its_conditions() -> None:
    for sentence, verdict in (
        ("十月份苏州签了 31 份合同。", "supported"),
        ("十月份苏州签了 13 份合同。", "contradicted"),
        ("十月份签了 31 份合同。", "unsettled"),
        ("苏州签了 31 份合同。", "unsettled"),
        ("十月份苏州签了 31 份合同，客户很满意。", "unsettled"),
    ):
        assert said(sentence, COUNT, "上个月苏州签了多少合同？") == verdict


def test_nothing_was_found() -> None:
    for sentence, verdict in (
        ("质检部没有逾期的任务。", "supported"),
        ("质检部没有任务。", "unsettled"),
        ("质检部有 3 个逾期的任务。", "contradicted"),
    ):
        assert said(sentence, NONE, "质检部有哪些逾期的任务？") == verdict


def test_rows_that_are_not_shown_are_not_told_of() -> None:
    assert said("一共有 90 个订单。", CUT, "有哪些订单？") == "supported"
    assert said("一共有 2 个订单。", CUT, "有哪些订单？") != "supported"
    assert said("金额最高的订单是 A-17。", CUT, "有哪些订单？") != "contradicted"


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [("Use fell in Basel and rose in Graz.", "supported"), ("Use rose in Basel.", "contradicted")],
)
def test_a_direction_is_the_sign_of_the_change(sentence: str, verdict: str) -> None:
    assert said(sentence, CHANGED, "How did the use of the sites change?") == verdict


def test_a_column_has_its_unit_and_a_time_its_order() -> None:
    for sentence, verdict in (
        ("陈琳于 2021 年 3 月 15 日入职。", "unsettled"),
        ("李想的月薪最高，为 32,500 元。", "supported"),
        ("陈琳的月薪是 2.8 万元。", "supported"),
        ("陈琳的月薪是 28,000 美元。", "unsettled"),
        ("研发部有两名员工：陈琳和李想。", "supported"),
        ("周航在研发部。", "contradicted"),
    ):
        assert said(sentence, STAFF, "研发部和市场部有哪些员工？") == verdict


@pytest.mark.parametrize(
    "sentence", ["Revenue in September was 151,000.", "In September the total revenue was 409,000."]
)
def test_a_month_within_the_time_of_a_query_is_left_to_the_judge(sentence: str) -> None:
    assert said(sentence, MONTHS, "How did revenue develop in 2026?") == "unsettled"


def test_without_the_look_at_conditions_their_loss_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_check._Check, "_check_conditions", lambda self, said, spans: None)
    assert said("十月份签了 31 份合同。", COUNT, "上个月苏州签了多少合同？") == "supported"


def test_without_the_look_at_words_anything_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_check._Check, "_check_words", lambda self, plain: None)
    assert said("十月份苏州签了 31 份合同，客户很满意。", COUNT, "上个月苏州签了多少合同？") == "supported"


def test_a_result_is_read_with_all_that_is_said_around_it() -> None:
    table = parse_evidence_table(SALES)
    assert table is not None
    assert (table.columns, len(table.rows)) == (("branch", "revenue", "share"), 3)
    assert table.spans == [(date(2026, 7, 1), date(2026, 10, 1))]
    assert [condition.value for condition in table.conditions] == ["", "online"]
    assert parse_evidence_table("Plain words.\n\nAnd more of them.") is None


SERVICES = """| Service | Request timeout | Retries |
| --- | --- | --- |
| reader | 3 s | 1 |
| writer | 5 s | 1 |
| biller | 10 s | 0 |
| mailer | 20 s | 0 |"""


def test_a_row_that_a_model_wrote_is_compared_cell_by_cell() -> None:
    for sentence, table, verdict in (
        ("Service: writer; Request timeout: 5 s; Retries: 1", SERVICES, "supported"),
        ("Service: writer; Request timeout: 5 s; Retries: 0", SERVICES, "contradicted"),
        ("Service: biller; Request timeout: 10 s; Retries: 1", SERVICES, "unsettled"),
        ("The biller has 1 retry.", SERVICES, "contradicted"),
    ):
        assert said(sentence, table) == verdict


def test_beside_the_value_of_a_result_another_number_is_left_open() -> None:
    used = "3 (number of environment records)\n\nConditions: usage = in use; name = staging, prod-cn, prod-eu, demo"
    assert said("Three of these four environments are in use.", used) == "unsettled"
    assert said("Four environments are in use.", used) == "contradicted"


MEETINGS = """2.2 试用期

| 项目 | 杭州 | 鹿特丹一年期合同 | 鹿特丹无固定期限合同 |
| --- | --- | --- | --- |
| 试用期 | 3 个月 | 1 个月 | 2 个月 |
| 面谈时间 | 第 4 周、第 11 周 | 第 3 周 | 第 3 周、第 7 周 |
| 试用期工资 | 100% | 100% | 100% |"""


def test_a_value_of_a_written_row_is_a_whole_cell_of_that_row() -> None:
    for sentence, is_said in (
        ("项目: 面谈时间; 杭州: 第 4 周、第 11 周; 鹿特丹一年期合同: 第 3 周", True),
        ("项目: 面谈时间; 杭州: 第 4 周、第 11 周; 鹿特丹（一年期）: 第 4 周", False),
        ("项目: 试用期; 杭州: 3 个月; 鹿特丹一年期合同: 2 个月", False),
        ("项目: 试用期; 杭州: 3 个月; 鹿特丹一年期合同: 1 个月", True),
    ):
        found = check_sentence(sentence, Evidence(MEETINGS), question="试用期的规定有什么不同？", today=TODAY)
        assert (found.verdict.value == "supported") is is_said
