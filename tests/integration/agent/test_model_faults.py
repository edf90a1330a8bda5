"""Every fault of a model, at every place where one is asked: the run ends with one last event, says what happened, and spins nowhere."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from agent.events import Complete, Error, StopReason
from agent.models import Message
from tests.integration.agent.conversations import LEAVE, Handbook, asked, make_reader, stored, words
from tests.integration.agent.modelled import HURRIED, SEARCH, THIRTY, modelled, of
from tests.listening import refusing_port
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
    "The language model does not answer now; the answer is quoted from documents.",
}


def failing(fault: Step, place: str) -> Callable[[Request], Step]:
    """A model that fails at once, or after its first call of a tool."""

    def choose(request: Request) -> Step:
        has_called = any(message["role"] == "tool" for message in request["messages"])
        return fault if place == "at once" or has_called else SEARCH

    return choose


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_place_ends_in_an_answer_that_says_so(handbook: Handbook, fault: str) -> None:
    base, _manual, _secret = handbook
    reader = make_reader(base)
    for place in PLACES:
        with modelled(chooses=failing(FAULTS[fault], place), limits=LIMITS):
            events = asked(reader, LEAVE)
        assert len(of(events, Complete)) == 1, place
        assert not of(events, Error), place
        assert isinstance(events[-1], Complete), place
        row = stored(events)
        assert row.stop_reason == StopReason.OK, place
        assert "30 days" in words(events), place
        assert set(row.notice.splitlines()) & SAID, place
        assert row.state["tools"]["errors"][0]["tool"] == "model", place
        assert "Emp" not in words(events).replace("Employees", ""), "half a word of a broken answer is not shown"
    assert not Message.objects.filter(is_complete=False).exists()


def test_a_model_that_refuses_the_connection_leaves_quotations_and_says_so(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    with modelled(base_url=f"http://127.0.0.1:{refusing_port()}/v1"):
        events = asked(make_reader(base), LEAVE)
    row = stored(events)
    assert (row.stop_reason, row.provider, row.is_complete) == (StopReason.OK, "extractive", True)
    assert "30 days" in words(events)
    assert row.notice in SAID


def test_a_wait_that_is_asked_for_is_waited_and_the_answer_comes(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    busy = Step(status=429, headers={"Retry-After": "0"})
    with modelled(busy, SEARCH, busy, says(THIRTY)):
        events = asked(make_reader(base), LEAVE)
    row = stored(events)
    assert (row.stop_reason, row.provider, row.notice) == (StopReason.OK, "default", "")
