"""Every fault of a model as a program sees it, through the log and the client: one last event, visibly less, nothing left running."""

from collections.abc import Iterable
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
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.integration.agent.test_model_faults import FAULTS, LIMITS, PLACES, SAID, failing
from tests.integration.client.desk import Desk, text_of
from tests.modelserver import Step, says
from tests.ports import closed_port


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


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_in_a_quoted_answer_that_says_so(desk: Desk, fault: str) -> None:
    runs: list[UUID] = []
    with desk.client() as client:
        for place in PLACES:
            with modelled(chooses=failing(FAULTS[fault], place), limits=LIMITS):
                session_id = client.create_session()
                events = list(client.agent_qa_stream(session_id, KnowledgeQARequest(LEAVE)))
            check_end(events)
            assert "30 days" in text_of(events), place
            assert "Emp" not in text_of(events).replace("Employees", ""), place
            notes = [event.content for event in events if event.response_type is ResponseType.REFLECTION]
            assert set(notes) & SAID, place
            assert events[-1].data["notices"] == notes, place
            message_id = events[0].assistant_message_id
            assert list(client.continue_stream(session_id, message_id)) == events, (
                "the log says the same to who comes later"
            )
            row = Message.objects.get(pk=message_id)
            runs.append(row.pk)
            assert (row.is_complete, row.stop_reason, row.state["tools"]["errors"][0]["tool"]) == (True, "ok", "model")
            assert set(row.notice.splitlines()) == set(notes)
    assert not Message.objects.filter(is_complete=False).exists()
    assert wait_until(lambda: not leases(runs), timeout_s=5), "nothing runs"  # let go right after the last event


def test_a_model_that_is_not_there_leaves_quotations(desk: Desk) -> None:

    with desk.client() as client, modelled(base_url=f"http://127.0.0.1:{closed_port()}/v1"):
        events = list(client.agent_qa_stream(client.create_session(), KnowledgeQARequest(LEAVE)))
    check_end(events)
    assert "30 days" in text_of(events)
    assert {event.content for event in events if event.response_type is ResponseType.REFLECTION} <= SAID


def test_a_model_that_asks_to_wait_is_waited_for(desk: Desk) -> None:
    busy = Step(status=429, headers={"Retry-After": "0"})
    with desk.client() as client, modelled(busy, SEARCH, busy, says(THIRTY)):
        events = list(client.agent_qa_stream(client.create_session(), KnowledgeQARequest(LEAVE)))
    check_end(events)
    assert not [event for event in events if event.response_type is ResponseType.REFLECTION]


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
