"""A question in one language finds what a document of the other says: the search knows both."""

import pytest
from django.contrib.auth.models import User

from agent.events import StopReason
from knowledge.models import KnowledgeBase
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


@pytest.fixture
def library() -> KnowledgeBase:
    base = make_base("Runbooks")
    for name, text in (("failover", FAILOVER), ("guide", HANDBOOK), ("travel", TRAVEL), ("meals", MEALS)):
        make_document(base, f"{name}.md", text, ingested=True)
    return base


@pytest.fixture
def reader(library: KnowledgeBase) -> User:
    return make_reader(library)


def test_english_question_finds_a_chinese_document(reader: User) -> None:
    events = asked(reader, RECOVERY)
    assert stored(events).stop_reason == StopReason.OK
    assert "15 分钟" in words(events)
    assert sources(events)[0] == "故障手册：数据库主从切换"


def test_chinese_question_finds_an_english_document(reader: User) -> None:
    events = asked(reader, HOTEL)
    assert stored(events).stop_reason == StopReason.OK
    assert "120 euros" in words(events)
    assert sources(events)[0] == "Travel policy"
