"""Every way in which a model fails ends in an answer that says so, or in the words for what went wrong."""

from importlib import import_module
from typing import Any

import pytest

from agent.conversations.sessions import create_session
from agent.events import Answer, Complete, Error, Reflection, StopReason, Thinking, ToolResult
from authz.principal import Principal
from tests.integration.agent.conversations import (
    LEAVE,
    Handbook,
    asked,
    make_reader,
    stored,
    words,
)
from tests.integration.agent.modelled import HURRIED, SEARCH, THIRTY, modelled, of
from tests.modelserver import Request, Step, says

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "fault",
    [
        Step(status=500), Step(status=401), Step(status=429, headers={"Retry-After": "900"}), Step(hang="before"),
        Step(body="<html>"), Step(events=[]), Step([{"content": "x"}], hang=0),
    ],
    ids=["500", "401", "429", "hang", "html", "empty", "silent"],
)  # fmt: skip
def test_a_model_that_fails_at_once_leaves_quotations_and_says_so(handbook: Handbook, fault: Step) -> None:
    base, _manual, _secret = handbook
    with modelled(chooses=lambda _request: fault, limits=HURRIED):
        events = asked(make_reader(base), LEAVE)
    row = stored(events)
    assert (row.stop_reason, row.provider, row.is_complete) == (StopReason.OK, "extractive", True)
    assert "30 days" in words(events)
    assert [event.content for event in of(events, Reflection)] == [row.notice]
    assert "quoted from documents" in row.notice
    assert isinstance(events[-1], Complete)
    assert events[-1].data["notices"] == [row.notice]
    assert row.state["tools"]["errors"][0]["tool"] == "model"


def test_a_model_without_tools_writes_from_a_plain_search(handbook: Handbook) -> None:
    base, _manual, _secret = handbook

    def no_tools(request: Request) -> Step:
        return Step(status=400) if "tools" in request else says(THIRTY)

    with modelled(chooses=no_tools):
        events = asked(make_reader(base), LEAVE)
    row = stored(events)
    assert (row.stop_reason, row.provider) == (StopReason.OK, "default")
    assert row.notice == ""


def test_a_model_that_breaks_off_keeps_its_checked_sentences(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    half = says(f"{THIRTY} A sick note is due on the third day of absence [1]. And then", finish=None, usage=None)
    with modelled(SEARCH, half):
        events = asked(make_reader(base), LEAVE)
    row = stored(events)
    assert "third day" in row.content
    assert "broke off" in row.notice
    assert row.stop_reason == StopReason.OK
    assert row.content == words(events)


def test_a_model_that_breaks_off_before_a_sentence_leaves_quotations(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    with modelled(SEARCH, says("Employees", finish=None, usage=None)):
        events = asked(make_reader(base), LEAVE)
    assert stored(events).provider == "extractive"
    assert "30 days" in words(events)


def test_nonsense_of_the_model_becomes_observations(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    odd = Step(
        [
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "rm_rf", "arguments": "{}"}}]},
            {
                "tool_calls": [
                    {"index": 1, "id": "b", "function": {"name": "knowledge_search", "arguments": "{queries"}}
                ]
            },
            {
                "tool_calls": [
                    {"index": 2, "id": "c", "function": {"name": "grep_chunks", "arguments": '{"patterns": ["("]}'}}
                ]
            },
        ]
    )
    with modelled(odd, SEARCH, says(THIRTY)):
        events = asked(make_reader(base), LEAVE)
    assert [result.data["success"] for result in of(events, ToolResult)] == [False, False, False, True]
    row = stored(events)
    assert row.stop_reason == StopReason.OK
    assert {problem["tool"] for problem in row.state["tools"]["errors"]} == {"rm_rf", "knowledge_search", "grep_chunks"}


def test_what_a_model_thinks_aloud_is_streamed_and_not_part_of_the_answer(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    thinking = Step([{"reasoning_content": "The manual may say it."}, *SEARCH.deltas], finish="tool_calls")
    with modelled(thinking, says(THIRTY)):
        events = asked(make_reader(base), LEAVE)
    assert "".join(event.content for event in of(events, Thinking)) == "The manual may say it."
    assert "may say it" not in stored(events).content


def test_what_a_model_thinks_while_it_writes_is_streamed_and_not_part_of_the_answer(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    written = Step([{"reasoning_content": "Thirty, says [1]."}, *says(THIRTY).deltas, {"reasoning_content": "Done."}])
    with modelled(SEARCH, written):
        events = asked(make_reader(base), LEAVE)
    thoughts = [(event.content, event.done) for event in of(events, Thinking)]
    assert thoughts == [("Thirty, says [1].", False), ("", True), ("Done.", False), ("", True)]
    assert events.index(of(events, Thinking)[0]) < events.index(of(events, Answer)[0])
    assert "says [1]" not in stored(events).content
    assert "Done" not in stored(events).content


def test_a_stopped_run_keeps_the_sentences_that_came(handbook: Handbook) -> None:
    from asgiref.sync import async_to_sync

    from agent.models import Message
    from agent.runs.start import ask

    base, _manual, _secret = handbook
    principal = Principal.of(make_reader(base))
    session_id = create_session(principal).pk
    slow = Step([{"content": f"{THIRTY} A sick note "}, {"content": "is due."}], hang=1)

    async def leave() -> None:
        events = ask(principal, session_id=session_id, question=LEAVE)
        async for event in events:
            if isinstance(event, Answer):
                break
        await events.aclose()  # type: ignore[attr-defined]

    with modelled(SEARCH, slow):
        async_to_sync(leave)()
    row = Message.objects.get(session_id=session_id, role="assistant")
    assert (row.stop_reason, row.is_complete) == (StopReason.CANCELLED, True)
    assert "30 days" in row.content
    assert "Stopped" in row.notice
    assert row.citations.count() == 1


def test_our_own_mistake_ends_the_run_with_an_error(handbook: Handbook, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("a bug of ours")

    base, _manual, _secret = handbook
    monkeypatch.setattr(import_module("agent.dialogue.calls"), "keep", broken)
    with modelled(SEARCH):
        events = asked(make_reader(base), LEAVE)
    assert isinstance(events[-1], Error)
    assert "a bug of ours" not in events[-1].content
    assert stored(events).stop_reason == StopReason.TOOL_ERROR
