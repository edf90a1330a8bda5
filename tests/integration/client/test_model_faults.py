"""Every fault of a model as a program sees it, through the log and the client: one last event, visibly less, nothing left running."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from uuid import UUID

import pytest
from django.conf import settings
from redis import Redis

from agent.events import StopReason
from agent.models import Message
from agent.runs.leases import lease_key
from copilot_client import KnowledgeQARequest, ResponseType, StreamResponse
from copilot_site.embedded.process import wait_until
from tests.integration.agent.conversations import LEAVE
from tests.integration.agent.modelled import HURRIED, SEARCH, modelled
from tests.integration.client.desk import Desk, text_of
from tests.modelserver import Request, Step, calls


def leases(message_ids: Iterable[UUID]) -> int:
    """How many of these runs say they are alive; other files' servers were killed, and their leases run out by themselves."""
    with Redis.from_url(settings.REDIS_URL, protocol=2) as valkey:
        return int(valkey.exists(*map(lease_key, message_ids)))


def check_end(events: list[StreamResponse]) -> None:
    """Gapless, and ended once."""
    assert [event.seq for event in events] == list(range(len(events)))
    assert [event.response_type for event in events if event.is_last] == [ResponseType.COMPLETE]
    assert events[-1].is_last
    assert events[-1].data["stop_reason"] == "ok"


FAULTS = {
    "hang mid-stream": Step([{"content": "Emp"}, {"content": "loyees"}], hang=1),
    "cut inside a tool call": Step(calls(("knowledge_search", {"queries": ["annual " * 60]})).deltas, cut_bytes=300),
}
LIMITS = replace(HURRIED, first_s=0.5, between_s=0.5, total_s=1.5)
SAID = "The language model does not answer now; the answer is quoted from documents."


def failing(fault: Step) -> Callable[[Request], Step]:
    """A model that fails after its first call of a tool."""
    return lambda request: fault if any(message["role"] == "tool" for message in request["messages"]) else SEARCH


def test_a_fault_ends_in_a_quoted_answer_that_says_so(desk: Desk) -> None:
    runs: list[UUID] = []
    for fault, step in FAULTS.items():
        with desk.client() as client, modelled(chooses=failing(step), limits=LIMITS):
            session_id = client.create_session()
            events = list(client.agent_qa_stream(session_id, KnowledgeQARequest(LEAVE)))
            message_id = events[0].assistant_message_id
            again = list(client.continue_stream(session_id, message_id))
        check_end(events)
        assert "30 days" in text_of(events), fault
        assert "Emp" not in text_of(events).replace("Employees", ""), fault
        notes = [event.content for event in events if event.response_type is ResponseType.REFLECTION]
        assert SAID in notes, fault
        assert events[-1].data["notices"] == notes, fault
        assert again == events, "the log says the same to a later reader"
        row = Message.objects.get(pk=message_id)
        runs.append(row.pk)
        assert (row.is_complete, row.stop_reason, row.state["tools"]["errors"][0]["tool"]) == (True, "ok", "model")
        assert set(row.notice.splitlines()) == set(notes)
    assert not Message.objects.filter(is_complete=False).exists()
    assert wait_until(lambda: not leases(runs), timeout_s=5), "nothing runs"  # let go right after the last event


def test_a_fault_of_ours_is_one_error_event_that_tells_nothing_of_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib import import_module

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(import_module("agent.dialogue.calls"), "keep", broken)
    with desk.client() as client, modelled(SEARCH):
        session_id = client.create_session()
        events = list(client.agent_qa_stream(session_id, KnowledgeQARequest(LEAVE)))
        again = list(client.continue_stream(session_id, events[0].assistant_message_id))
    assert [event.response_type for event in events if event.is_last] == [ResponseType.ERROR]
    assert "Ask it again" in events[-1].content
    assert "a bug of ours" not in str(events)
    assert again == events
    row = Message.objects.get(pk=events[0].assistant_message_id)
    assert (row.is_complete, row.stop_reason) == (True, StopReason.TOOL_ERROR)
    assert wait_until(lambda: not leases([row.pk]), timeout_s=5), "nothing runs"
