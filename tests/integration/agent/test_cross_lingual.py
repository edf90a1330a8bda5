"""A question in one language finds what a document of the other says: the search knows both."""

import pytest

from agent.events import StopReason
from tests.factories import make_base, make_document
from tests.integration.agent.conversations import asked, make_reader, sources, stored, words

pytestmark = pytest.mark.django_db

FAILOVER = """# 故障手册：数据库主从切换

恢复时间目标（RTO）为 15 分钟，恢复点目标（RPO）为 5 秒。

切换前请确认复制延迟低于 30 秒。
"""
HANDBOOK = """# On-call guide

The duty engineer answers within ten minutes and keeps a diary of the shift.
"""
TRAVEL = """# Travel policy

Hotels may cost at most 120 euros a night. Flights are booked by the travel desk.
"""
MEALS = """# 食堂

食堂供应午餐，周五有素食。
"""
RECOVERY = "What is our recovery time objective for a database failover?"
HOTEL = "出差住酒店一晚最多多少欧元？"


def test_a_question_in_one_language_finds_a_document_of_the_other() -> None:
    base = make_base("Runbooks")
    for name, text in (("failover", FAILOVER), ("guide", HANDBOOK), ("travel", TRAVEL), ("meals", MEALS)):
        make_document(base, f"{name}.md", text, ingested=True)
    reader = make_reader(base)
    for question, said, title in (
        (RECOVERY, "15 分钟", "故障手册：数据库主从切换"),
        (HOTEL, "120 euros", "Travel policy"),
    ):
        events = asked(reader, question)
        assert stored(events).stop_reason == StopReason.OK
        assert said in words(events)
        assert sources(events)[0] == title
