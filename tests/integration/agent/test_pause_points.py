"""A right ends at each place where a run, or whoever reads one, can pause: before and after retrieval, the reranker, the prompt, each
piece of a model's words, each event (citations among them), and each event of a replay.

`test_revocation` does the same at every statement; here the places have names, and each is known to leak without the looks.
"""

from collections.abc import AsyncIterator, Callable
from importlib import import_module
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import transaction
from redis import Redis

from agent import revocation
from agent.conversations.sessions import create_session, messages_of
from agent.events import Error, Event
from agent.providers.openai_compatible import OpenAICompatible
from agent.runs import follow
from agent.runs.log import Entry, log_key
from agent.runs.start import ask
from authz.principal import Principal
from knowledge.retrieval import ranking
from tests.integration.agent.live import Live, lived, text_of
from tests.integration.agent.modelled import evidence_sent, is_judged, judges, modelled
from tests.integration.agent.test_revocation import LINES, QUESTION, SECRETS, Library
from tests.modelserver import Request, Step, calls, says
from tests.sharing import Share

pytestmark = pytest.mark.django_db

ANSWER = f"{LINES['salaries'][:-1]} [2]. {LINES['manual'][:-1]} [1]."
SCRIPT = (
    calls(("knowledge_search", {"queries": ["notice period director"]})),
    says(ANSWER, size=24),
)


class Pause:
    """The right ends the n-th time that a run comes to a place; with None it is only counted how often."""

    def __init__(self, happens: Callable[[], None], n: int | None = None) -> None:
        self.happens, self.n = happens, n
        self.passed = 0
        self.has_come = False

    def __call__(self) -> None:
        if self.passed == self.n:
            self.happens()
            self.has_come = True
        self.passed += 1


Place = Callable[[pytest.MonkeyPatch, Pause], None]


def at(name: str, *, before: bool) -> Place:
    """Before or after a step of a search."""

    def install(monkeypatch: pytest.MonkeyPatch, pause: Pause) -> None:
        step = getattr(ranking, name)

        def paused(*args: Any, **options: Any) -> Any:
            if before:
                pause()
            found = step(*args, **options)
            if not before:
                pause()
            return found

        monkeypatch.setattr(ranking, name, paused)

    return install


def before_a_prompt(monkeypatch: pytest.MonkeyPatch, pause: Pause) -> None:
    """Before the last look at what a model is going to read."""
    for name, look in (("synthesize", "keep_visible"), ("act", "keep_visible")):
        module = import_module(f"agent.states.{name}")
        monkeypatch.setattr(module, look, _after(pause, getattr(module, look)))


def _after(pause: Pause, look: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def paused(run: Any) -> Any:
        pause()
        return look(run)

    return paused


def at_a_piece_of_words(monkeypatch: pytest.MonkeyPatch, pause: Pause) -> None:
    stream = OpenAICompatible.stream

    async def paused(self: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
        async for delta in stream(self, *args, **options):
            await sync_to_async(pause)()
            yield delta

    monkeypatch.setattr(OpenAICompatible, "stream", paused)


def at_an_event(_monkeypatch: pytest.MonkeyPatch, _pause: Pause) -> None:
    """Whoever receives the events of a run pauses after each: `run` does."""


PLACES: dict[str, Place] = {
    "before retrieval": at("make_plan", before=True),
    "before the candidates": at("find_candidates", before=True),
    "after retrieval": at("find_candidates", before=False),
    "before the reranker": at("_judge", before=True),
    "after the reranker": at("_judge", before=False),
    "before a prompt": before_a_prompt,
    "a piece of the model's words": at_a_piece_of_words,
    "an event": at_an_event,
}
SEARCHED = {"before retrieval", "before the candidates"}  # the search itself does not find what has ended by then


def run(library: Library, place: str, pause: Pause) -> list[str]:
    """Ask a model behind HTTP; what was told to it or to the person after the right had ended, and should not have been."""
    principal = Principal.of(library.reader)
    requests: list[tuple[bool, str]] = []

    def choose(request: Request) -> Step:
        requests.append((pause.has_come, evidence_sent(request)))
        if is_judged(request):
            return judges()
        return SCRIPT[min(len(requests), len(SCRIPT)) - 1]

    async def collect() -> list[tuple[bool, str]]:
        events = []
        async for event in ask(principal, session_id=session.pk, question=QUESTION):
            events.append((pause.has_come, event.model_dump_json()))
            if place == "an event":
                await sync_to_async(pause)()
        return events

    with transaction.atomic(), pytest.MonkeyPatch.context() as patched, modelled(chooses=choose):
        PLACES[place](patched, pause)
        session = create_session(principal)
        events = async_to_sync(collect)()
        transaction.set_rollback(True)
    if pause.n is None:
        assert all(any(secret in text for _come, text in events) for secret in SECRETS), (
            "it stands on what will be hidden"
        )
    return [text for come, text in (*requests, *events) if come and any(secret in text for secret in SECRETS)]


def passes(library: Library, place: str) -> int:
    """How often a whole run comes to a place."""
    pause = Pause(lambda: None)
    run(library, place, pause)
    assert pause.passed > 0, f"no run comes to this place: {place}"
    return pause.passed


@pytest.fixture(scope="module")
def shared_library(share: Share) -> Callable[[], Library]:
    return share(Library)


@pytest.fixture
def library(shared_library: Callable[[], Library], db: None) -> Library:
    return shared_library()


@pytest.mark.parametrize("place", PLACES)
def test_nothing_hidden_is_told_once_the_right_has_ended(library: Library, place: str) -> None:
    for n in range(passes(library, place)):
        pause = Pause(library.revoke_right, n)
        assert run(library, place, pause) == [], f"{place}, time {n}"
        assert pause.has_come


@pytest.mark.parametrize("place", [place for place in PLACES if place not in SEARCHED])
def test_without_the_looks_it_is_told(library: Library, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setattr(revocation, "may_leave", lambda run: True)
    for name, look in (
        ("act", "keep_visible"),
        ("synthesize", "keep_visible"),
        ("validate_evidence", "keep_visible"),
    ):
        monkeypatch.setattr(import_module(f"agent.states.{name}"), look, lambda run: 0)
    assert any(run(library, place, Pause(library.revoke_right, n)) for n in range(passes(library, place)))


def test_where_the_model_has_written_before_its_right_ended_the_run_ends_with_these_words(library: Library) -> None:
    """It may have written from what went; with what is left it is not asked again, though that would do for another answer."""
    more = calls(("knowledge_search", {"queries": ["notice period of directors"]}))
    wrote = Step([{"content": f"{LINES['salaries'][:-1]} [2]. "}, *more.deltas], finish="tool_calls")
    pause = Pause(library.revoke_right, 1)  # before the second call
    principal = Principal.of(library.reader)
    session = create_session(principal)

    async def collect() -> list[Event]:
        return [event async for event in ask(principal, session_id=session.pk, question=QUESTION)]

    with pytest.MonkeyPatch.context() as patched, modelled(wrote) as server:
        before_a_prompt(patched, pause)
        events = async_to_sync(collect)()
    assert pause.has_come
    assert "420,000" in evidence_sent(server.requests[0])
    assert len(server.requests) == 1
    assert isinstance(events[-1], Error)
    answer = messages_of(principal, session)[-1]
    assert answer.content == events[-1].content == revocation.changed("en")


# --- replay: a run that is over is read again ---


def finished(library: Library) -> Live:
    live = Live(Principal.of(library.reader), QUESTION)
    lived(live, Live.read)
    return live


def forget(live: Live) -> None:
    """The log is gone, and the stored message tells the run."""
    with Redis.from_url(settings.REDIS_URL, protocol=2) as valkey:
        valkey.delete(log_key(live.message_id))


def replayed(library: Library, live: Live, *, stop: int | None) -> tuple[list[Entry], list[Entry]]:
    """Read a finished run; the right ends after its event number `stop`: what came before, and what came after."""

    async def again() -> tuple[list[Entry], list[Entry]]:
        before: list[Entry] = []
        after: list[Entry] = []
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
            patched.setattr(follow, "may_read", lambda _principal, grounds: [True for _each in grounds])
            _before, after = replayed(library, live, stop=0)
            assert any("420,000" in entry.body for entry in after)
