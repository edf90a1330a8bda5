"""A right ends before a model is asked again, and while somebody reads a run that is over: `test_revocation` has the run itself."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import transaction
from redis import Redis

from agent import revocation
from agent.conversations.sessions import create_session, list_branch_messages
from agent.events import Error, Event
from agent.runs import follow
from agent.runs.log import LogEntry, build_log_key
from agent.runs.start import ask_question
from authz.principal import Principal
from tests.integration.agent.live import Live, lived, text_of
from tests.integration.agent.modelled import evidence_sent, modelled
from tests.integration.agent.test_revocation import LINES, QUESTION, SECRETS, Library
from tests.modelserver import Step, calls
from tests.sharing import Share

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_library(share: Share) -> Callable[[], Library]:
    return share(Library)


@pytest.fixture
def library(shared_library: Callable[[], Library], db: None) -> Library:
    return shared_library()


def test_where_the_model_has_written_before_its_right_ended_the_run_ends_with_these_words(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have written from what went; with what is left it is not asked again, though that would do for another answer."""
    more = calls(("knowledge_search", {"queries": ["notice period of directors"]}))
    wrote = Step([{"content": f"{LINES['salaries'][:-1]} [2]. "}, *more.deltas], finish="tool_calls")
    looks: list[str] = []
    principal = Principal.of(library.reader)
    session = create_session(principal)

    async def collect() -> list[Event]:
        return [event async for event in ask_question(principal, session_id=session.pk, question=QUESTION)]

    def before_the_second_look(name: str) -> None:
        """The right ends before the last look at what a model is going to read in its second call."""
        module = import_module(f"agent.states.{name}")
        look = module.remove_unreadable_evidence

        def paused(run: Any) -> Any:
            looks.append(name)
            if len(looks) == 2:
                library.revoke_right()
            return look(run)

        monkeypatch.setattr(module, "remove_unreadable_evidence", paused)

    for name in ("synthesize", "act"):
        before_the_second_look(name)
    with modelled(wrote) as server:
        events = async_to_sync(collect)()
    assert len(looks) >= 2
    assert "420,000" in evidence_sent(server.requests[0])
    assert len(server.requests) == 1
    assert isinstance(events[-1], Error)
    answer = list_branch_messages(principal, session)[-1]
    assert answer.content == events[-1].content == revocation.format_unreadable_notice("en")


def finished(library: Library) -> Live:
    live = Live(Principal.of(library.reader), QUESTION)
    lived(live, Live.read)
    return live


def forget(live: Live) -> None:
    """The log is gone, and the stored message tells the run."""
    with Redis.from_url(settings.REDIS_URL, protocol=2) as valkey:
        valkey.delete(build_log_key(live.message_id))


def replayed(library: Library, live: Live, *, stop: int | None) -> tuple[list[LogEntry], list[LogEntry]]:
    """Read a finished run; the right ends after its event number `stop`: what came before, and what came after."""

    async def again() -> tuple[list[LogEntry], list[LogEntry]]:
        before: list[LogEntry] = []
        after: list[LogEntry] = []
        ended = False
        async for entry in live.follow():
            assert entry is not None
            (after if ended else before).append(entry)
            if stop is not None and len(before) == stop + 1 and not ended:
                ended = True
                await sync_to_async(library.revoke_right)()
        return before, after

    with transaction.atomic():
        found = async_to_sync(again)()
        transaction.set_rollback(True)
    return found


def test_a_replay_tells_nothing_hidden_once_the_right_has_ended(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = finished(library)
    for is_forgotten in (False, True):
        if is_forgotten:
            forget(live)
        whole, _none = replayed(library, live, stop=None)
        assert "420,000" in text_of(whole)
        for stop in range(len(whole) - 1):
            before, after = replayed(library, live, stop=stop)
            assert not any(secret in entry.body for entry in after for secret in SECRETS), whole[stop].type
            assert after[-1].type == "complete"
            assert LINES["manual"] in text_of([*before, *after]), "what is still readable is told"
        with monkeypatch.context() as patched:  # without the look before each event it is told
            patched.setattr(follow, "may_read_grounds", lambda _principal, grounds: [True for _each in grounds])
            _before, after = replayed(library, live, stop=0)
            assert any("420,000" in entry.body for entry in after)
