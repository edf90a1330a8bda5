"""Questions that lean on the one before: a number is the one asked for, or there is none."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.management import call_command

from agent.conversations.sessions import create_session, get_message
from agent.events import StopReason
from agent.models import Message
from authz.principal import Principal
from business.models import DataSource
from demo.company import load_company
from demo.seed import find_company_group
from tests.evaluation_data import data_folder
from tests.factories import allow, make_base, make_document
from tests.integration.agent.conversations import asked, stored

OURS = Path(__file__).parents[2] / "evaluation" / "dialogs.jsonl"


@pytest.fixture
def frozen_day() -> Iterator[None]:
    with time_machine.travel(datetime(2026, 11, 21, 4, tzinfo=UTC)):
        yield


def evaluated(file: Path, folder: Path) -> dict[str, Any]:
    out = folder / "report.json"
    call_command("evaluate_dialogs", str(file), json=out, stdout=StringIO())
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def conversation(username: str, *questions: str) -> list[Message]:
    principal = Principal.named(username)
    session = create_session(principal)
    return [stored(asked(principal, question, session)) for question in questions]


def test_a_part_takes_the_place_of_the_part_of_its_kind(demo: DataSource, tmp_path: Path) -> None:
    """Times, regions and countries; and a change of topic, which leaves nothing behind."""
    report = evaluated(OURS, tmp_path)
    assert [turn for turn in report["details"] if turn["verdict"] != "right"] == []
    assert report["turns"] == 18


def test_no_turn_of_dialogs_written_by_others_gets_a_wrong_number(demo: DataSource, tmp_path: Path) -> None:
    report = evaluated(data_folder("cases") / "dialogs.dev.jsonl", tmp_path)
    assert [turn for turn in report["details"] if turn["verdict"] == "wrong"] == []
    assert sum(report["groups"][name]["right"] for name in ("data/en", "data/zh")) >= 27


@pytest.mark.usefixtures("frozen_day")
def test_one_part_of_the_query_is_changed_and_the_answer_says_what_it_stands_for(demo: DataSource) -> None:
    _before, answer = conversation("zhao", "How many customers do we have in Norway?", "and for last year?")
    assert answer.stop_reason == StopReason.OK
    meant = "number of customers, time: 2025-01-01 to 2025-12-31, country = Norway"
    assert answer.state["input"]["normalized_query"] == meant


@pytest.mark.usefixtures("frozen_day")
@pytest.mark.parametrize(
    ("username", "first", "then", "readings"),
    [
        # a month after a month of another year: of which year?
        ("zhao", "去年10月的销售额是多少？", "9月呢？",
         ["销售额，时间：2025-09-01 至 2025-09-30", "销售额，时间：2026-09-01 至 2026-09-30"]),
        # what leaves out what it is about, after a question narrowed to something
        ("pieter", "已完成的项目有几个？", "预算最大的是哪个？",
         ["项目列表，前 1，按预算，项目状态 = 已完成", "项目列表，前 1，按预算"]),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_asked_back(
    demo: DataSource, username: str, first: str, then: str, readings: list[str]
) -> None:
    """A choice stands for a query, which answers when it is chosen."""
    before, answer, *chosen = conversation(username, first, then, *readings[-1:])
    assert (before.stop_reason, answer.stop_reason) == (StopReason.OK, StopReason.NEED_CLARIFY)
    assert answer.state["plan"]["clarifying_questions"] == readings
    assert ("What do you mean?" in answer.content) == bool(readings), "what can be chosen is said to be"
    assert [row.stop_reason for row in chosen] == [StopReason.OK] * bool(readings)


def test_after_a_question_that_was_asked_back_nothing_is_completed(demo: DataSource) -> None:
    """Another year after a month: that month of it, or all of it?"""
    answers = conversation("zhao", "上个月的销售额是多少？", "去年呢？", "华东呢？")
    assert [answer.stop_reason for answer in answers[1:]] == [StopReason.NEED_CLARIFY] * 2


def test_what_was_understood_is_told_and_gone_on_from_in_its_turn(demo: DataSource) -> None:
    """And a change of topic leaves nothing behind."""
    principal = Principal.named("zhao")
    session = create_session(principal)
    for question, whole in (
        ("欧洲有多少客户？", ""),
        ("华东呢？", "客户数量，地区 = 华东"),
        ("那华南呢？", "客户数量，地区 = 华南"),
        ("那年假有几天？", ""),
    ):
        row = stored(asked(principal, question, session))
        assert get_message(principal, session, row.pk).understood == whole
    assert row.state["input"]["normalized_query"] == "那年假有几天？"


def test_what_leaves_out_a_noun_of_the_data_is_no_other_topic(demo: DataSource) -> None:
    """It stands on the count before it; a sentence of a document about levels is no answer to it."""
    base = make_base("Levels")
    make_document(base, "levels.md", "# 级别\n\n由作者确定级别，有疑问时取较高级别。\n", ingested=True)
    allow(find_company_group(load_company(), "engineering"), base)
    counted, senior = conversation("chen", "工程师有多少人？", "高级的呢？")
    assert counted.stop_reason == StopReason.OK
    assert (senior.stop_reason, senior.sentences) == (StopReason.NEED_CLARIFY, [])
