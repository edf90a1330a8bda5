"""What a document of the other language says of a question comes closest, where its words are said there; it confirms nothing."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from agent.events import StopReason
from agent.quotations import cross_lingual as fallback
from copilot_site.home import Home
from knowledge.models import KnowledgeBase
from tests.factories import make_base, make_document, make_user
from tests.integration.agent.conversations import Judged, asked, kinds, make_reader, sources, stored, words

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


@pytest.fixture(autouse=True)
def nothing_confirmed(judged: Judged) -> None:
    """By documents in the question's own language."""
    judged(confirms=False)


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
    assert stored(events).stop_reason == StopReason.NOT_CONFIRMED
    assert "15 分钟" in words(events)
    assert sources(events) == ["故障手册：数据库主从切换"]


def test_chinese_question_finds_an_english_document(reader: User) -> None:
    events = asked(reader, HOTEL)
    assert stored(events).stop_reason == StopReason.NOT_CONFIRMED
    assert "120 euros" in words(events)
    assert sources(events) == ["Travel policy"]


@pytest.mark.parametrize("question", [RECOVERY, HOTEL])
def test_nothing_is_found_across_languages_without_the_dictionary(
    reader: User, question: str, settings: Settings, tmp_path: Path
) -> None:
    settings.HOME = Home(tmp_path)
    assert stored(asked(reader, question)).stop_reason == StopReason.NO_EVIDENCE


@pytest.mark.parametrize("question", [RECOVERY, HOTEL])
def test_a_text_of_many_words_is_not_looked_for_across_languages(
    reader: User, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fallback, "MOST_WORDS", 3)
    assert stored(asked(reader, question)).stop_reason == StopReason.NO_EVIDENCE


@pytest.mark.parametrize("question", [RECOVERY, HOTEL])
@pytest.mark.usefixtures("library")
def test_documents_of_the_other_language_are_read_by_whoever_may(question: str) -> None:
    elsewhere = make_base("Elsewhere")
    make_document(elsewhere, "guide.md", HANDBOOK, ingested=True)
    assert stored(asked(make_reader(elsewhere), question)).stop_reason == StopReason.NO_EVIDENCE
    assert "references" not in kinds(asked(make_user(), question))


@pytest.mark.parametrize(
    "question",
    [
        "What was our recovery time objective for a database failover in 2019?",
        "What is our recovery time objective for a stolen laptop in Paris?",
        "How many vegetarians eat in the canteen on Fridays?",
        "What is confirmed?",
        "出差住酒店 KG-400 一晚最多多少欧元？",
        "出差买雨伞最多能报销多少欧元？",
    ],
    ids=["another year", "another matter", "no number", "one word", "another product", "another thing"],
)
def test_what_is_not_said_in_the_other_language_is_not_found(reader: User, question: str) -> None:
    assert stored(asked(reader, question)).stop_reason == StopReason.NO_EVIDENCE


ARRIVING = """# Your first day

On the first day you should collect your laptop and your building pass.
"""
LEAVE_TABLE = """# 第四章 假期

| 项目 | 杭州 | 鹿特丹 |
| --- | --- | --- |
| 第一年天数 | 10 天 | 27 天 |
| 递增 | 每满一年工龄增加 1 天 | 无 |
"""


@pytest.mark.parametrize("has_own", [True, False])
def test_where_documents_in_the_questions_own_language_come_clearly_nearer_they_are_shown(has_own: bool) -> None:
    base = make_base("Handbook")
    make_document(base, "leave.md", LEAVE_TABLE, ingested=True)
    if has_own:
        make_document(base, "arriving.md", ARRIVING, ingested=True)
    events = asked(make_reader(base), "What should I do on my first day?")
    assert ("第一年" in words(events)) is not has_own
