"""A process is killed in the middle of a run: nothing spins, and whoever reads is told."""

import subprocess
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.utils import timezone
from redis import Redis

from agent.events import StopReason
from agent.models import Message, MessageRole
from agent.runs import reaper
from agent.runs.leases import LEASE_S, build_lease_key
from agent.runs.reaper import close_abandoned_runs
from agent.tasks import reap_runs
from authz.principal import Principal
from tests.integration.agent.conversations import LEAVE, kinds, make_library, make_reader
from tests.integration.agent.live import Live, events_of
from tests.modelserver import says, serving
from tests.processes import running

pytestmark = pytest.mark.django_db(transaction=True)


def answering(live: Live, user_id: int, model_url: str) -> AbstractContextManager["subprocess.Popen[str]"]:
    """A process on the database of this test that answers the question."""
    model = {"COPILOT_LLM_BASE_URL": model_url, "COPILOT_LLM_MODEL": "scripted"}
    return running("tests.integration.agent.runner", str(user_id), str(live.session_id), LEAVE, env=model)


def test_a_killed_process_leaves_a_run_that_ends_as_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    base, _manual, _secret = make_library()
    reader = make_reader(base)
    live = Live(Principal.of(reader), LEAVE)
    with serving(says("", hang="before")) as server, answering(live, reader.pk, server.base_url) as process:
        assert process.stdout is not None
        live.message_id = UUID(process.stdout.readline().strip())
        assert process.stdout.readline().strip() == "agent_query"
        assert server.asked.wait(300), "the model is thinking"
        reap_runs()
        assert not Message.objects.get(pk=live.message_id).is_complete, "as long as it lives, nobody closes it"
        process.kill()
        process.wait()

    assert close_abandoned_runs() == 1, "the process was of this machine, so nobody waits for its lease to end"
    assert close_abandoned_runs() == 0

    events = events_of(async_to_sync(live.read)())
    assert kinds(events) == ["agent_query", "error"]
    assert [event.seq for event in events] == [0, 1]
    row = Message.objects.get(pk=live.message_id)
    assert (row.is_complete, row.stop_reason, row.content) == (True, StopReason.TOOL_ERROR, events[-1].content)


def test_the_lease_of_another_machine_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    base, _manual, _secret = make_library()
    live = Live(Principal.of(make_reader(base)), LEAVE)
    message = Message.objects.create(session_id=live.session_id, role=MessageRole.ASSISTANT, is_complete=False)
    long_ago = timezone.now() - timedelta(seconds=LEASE_S + 1)
    Message.objects.filter(pk=message.pk).update(created_at=long_ago)
    info: dict[str, Any] = {"uptime_in_seconds": LEASE_S}
    monkeypatch.setattr(Redis, "info", lambda self, *sections: info)
    monkeypatch.setattr(reaper, "CERTAIN_S", 0)
    with Redis.from_url(settings.REDIS_URL, protocol=2) as valkey:
        valkey.set(build_lease_key(message.pk), "another-machine 1 1", ex=LEASE_S)
        assert close_abandoned_runs() == 0
        valkey.delete(build_lease_key(message.pk))  # as it ends by itself
    assert [close_abandoned_runs(), close_abandoned_runs()] == [0, 1], "it is looked at twice: the process may be slow"
