"""Every fault of a model, at every place where one is asked: the run ends with one last event, says what happened, and spins nowhere."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from itertools import product
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from agent.conversations.sessions import create_session
from agent.events import Answer, Complete, Error, Reflection, StopReason
from agent.models import Message
from agent.runs.start import ask_question
from authz.principal import Principal
from tests.integration.agent.conversations import LEAVE, asked, stored, words
from tests.integration.agent.modelled import HURRIED, SEARCH, THIRTY, modelled, of
from tests.modelserver import Request, Step, calls, says

pytestmark = pytest.mark.django_db

FAULTS = {
    "429": Step(status=429, headers={"Retry-After": "900"}),
    "500": Step(status=500),
    "hang before headers": Step(hang="before"),
    "hang before the first delta": Step([{"content": "Emp"}], hang=0),
    "hang mid-stream": Step([{"content": "Emp"}, {"content": "loyees"}], hang=1),
    "cut inside a character": Step([{"content": "Emp"}, {"content": "员工每年休假" * 50}], cut_bytes=401),
    "cut inside a tool call": Step(calls(("knowledge_search", {"queries": ["annual " * 60]})).deltas, cut_bytes=300),
    "a byte a second": Step([{"content": "Emp"}] * 50, pace_s=1.0),
    "garbage": Step(events=["{nonsense", "[DONE]"]),
    "garbage in the middle": Step(events=['{"choices": [{"delta": {"content": "Emp"}}]}', "{nonsense"]),
    "empty choices": Step(events=['{"choices": []}', "[DONE]"]),
    "a page instead": Step(body="<html>welcome</html>"),
}
LIMITS = replace(HURRIED, first_s=0.5, between_s=0.5, total_s=1.5)
PLACES = ("at once", "after a call")
SAID = {  # a slow machine may meet its time limit earlier than the fault: each of these is right then
    "The language model is not responding, so this answer quotes documents."
}


def failing(fault: Step, place: str) -> Callable[[Request], Step]:
    """A model that fails at once, or after its first call of a tool."""

    def choose(request: Request) -> Step:
        has_called = any(message["role"] == "tool" for message in request["messages"])
        return fault if place == "at once" or has_called else SEARCH

    return choose


FEW = (  # the three errors of a client of a model, at both places: tests/contract/test_providers.py has all faults
    ("401", "at once"), ("hang before headers", "after a call"), ("cut inside a tool call", "at once"),
    ("garbage in the middle", "after a call"), ("a page instead", "at once"),
)  # fmt: skip
ALL = tuple(product((*FAULTS, "401", "nothing"), PLACES))


@pytest.mark.parametrize("cases", [FEW, ALL], ids=["few", "all"])
def test_a_fault_at_any_place_ends_in_an_answer_that_says_so(reader: User, cases: tuple[tuple[str, str], ...]) -> None:
    faults = {**FAULTS, "401": Step(status=401), "nothing": Step(events=[])}
    for case in cases:
        fault, place = case
        with modelled(chooses=failing(faults[fault], place), limits=LIMITS):
            events = asked(reader, LEAVE)
        assert len(of(events, Complete)) == 1, case
        assert not of(events, Error), case
        assert isinstance(events[-1], Complete), case
        row = stored(events)
        assert (row.stop_reason, row.provider) == (StopReason.OK, "extractive"), case
        assert "30 days" in words(events), case
        assert [event.content for event in of(events, Reflection)] == events[-1].data["notices"] == [row.notice], case
        assert fault == "401" or row.notice in SAID, case
        assert "quotes documents" in row.notice, case
        assert row.state["tools"]["errors"][0]["tool"] == "model", case
        assert "Emp" not in words(events).replace("Employees", ""), "half a word of a broken answer is not shown"
    assert not Message.objects.filter(is_complete=False).exists()


def test_a_model_that_breaks_off_keeps_its_checked_sentences_or_leaves_quotations(reader: User) -> None:
    half = says(f"{THIRTY} A sick note is due on the third day of absence [1]. And then", finish=None, usage=None)
    with modelled(SEARCH, half):
        events = asked(reader, LEAVE)
    row = stored(events)
    assert "third day" in row.content
    assert "broke off" in row.notice
    assert row.stop_reason == StopReason.OK
    assert row.content == words(events)
    with modelled(SEARCH, says("Employees", finish=None, usage=None)):
        events = asked(reader, LEAVE)
    assert stored(events).provider == "extractive"
    assert "30 days" in words(events)


def test_a_stopped_run_keeps_the_sentences_that_came(reader: User) -> None:
    principal = Principal.of(reader)
    session_id = create_session(principal).pk
    slow = Step([{"content": f"{THIRTY} A sick note "}, {"content": "is due."}], hang=1)

    async def leave() -> None:
        events = ask_question(principal, session_id=session_id, question=LEAVE)
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


def test_our_own_mistake_ends_the_run_with_an_error(reader: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(import_module("agent.dialogue.calls"), "store_call_result", broken)
    with modelled(SEARCH):
        events = asked(reader, LEAVE)
    assert isinstance(events[-1], Error)
    assert "a bug of ours" not in events[-1].content
    assert stored(events).stop_reason == StopReason.TOOL_ERROR
