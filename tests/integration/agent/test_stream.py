"""A run lives on the server: its log is whole, whoever reads it, from wherever, and whichever way it ends."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as DbSession
from django.test import Client
from django.utils import timezone
from redis import Redis

from agent.conversations.sessions import create_session, delete_session
from agent.events import StopReason
from agent.models import Message, MessageRole
from agent.revocation import Grounds
from agent.runs import follow, leases, reaper
from agent.runs.leases import LEASE_S, build_lease_key, build_missing_key, request_stop
from agent.runs.log import LogEntry, build_log_key
from agent.runs.reaper import close_abandoned_runs
from audit.actions import Action, Outcome
from audit.models import Entry as AuditEntry
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from copilot_site.lib.errors import NotFound, TooMany
from tests.factories import make_user
from tests.integration.agent.conversations import LEAVE, SALARY, Handbook, kinds, make_reader
from tests.integration.agent.live import Live, events_of, lived, text_of
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.modelserver import calls, says

pytestmark = pytest.mark.django_db
TWO = f"{THIRTY} A sick note is due on the third day of absence [1]. More will never come"


@pytest.fixture
def reader(handbook: Handbook) -> Principal:
    base, _manual, _secret = handbook
    return Principal.of(make_reader(base))


@pytest.fixture
def valkey() -> Any:
    with Redis.from_url(settings.REDIS_URL, protocol=2, decode_responses=True) as client:
        yield client


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers who look at once whether a run without news is over."""
    monkeypatch.setattr(follow, "IDLE_S", 0.05)


def row(live: Live) -> Message:
    return Message.objects.get(pk=live.message_id)


def is_answer(entry: LogEntry) -> bool:
    return entry.type == "answer"


def test_a_log_is_whole_for_every_reader_from_every_place(reader: Principal) -> None:
    """For one that leaves and comes back, one that is slow, and those who come when the run is over."""

    async def read_by_many(live: Live) -> list[LogEntry]:
        slow = (entry async for entry in live.follow() if entry is not None)
        taken = [await anext(slow)]
        first = await live.read(until=lambda entry: entry.seq == 0)
        rest, whole = await asyncio.gather(live.read(0), live.read())
        assert [*first, *rest] == whole
        assert await sync_to_async(lambda: row(live).is_complete)(), (
            "neither the run nor others waited for the slow one"
        )
        assert [*taken, *[entry async for entry in slow]] == whole
        rests = [await live.read(entry.seq) for entry in whole]
        assert rests == [*(whole[entry.seq + 1 :] for entry in whole[:-1]), whole[-1:]], "the end is told to everybody"
        assert await live.read(10_000) == whole, "a place that no run came to begins anew"
        return whole

    live = Live(reader, LEAVE)
    entries = lived(live, read_by_many)
    events = events_of(entries)
    assert [entry.seq for entry in entries] == [event.seq for event in events] == list(range(len(entries)))
    assert kinds(events) == ["agent_query", "references", "answer", "session_title", "complete"]
    assert [entry.is_terminal for entry in entries].index(True) == len(entries) - 1
    assert {(event.session_id, event.assistant_message_id) for event in events} == {
        (str(live.session_id), str(live.message_id))
    }
    assert text_of(entries) == row(live).content
    assert "30 days" in text_of(entries)
    question = Message.objects.get(role=MessageRole.USER)
    stranger = Live(Principal.of(make_user()), LEAVE)
    stranger.session_id, stranger.message_id = live.session_id, live.message_id
    live.message_id = question.pk
    for other in (stranger, live):
        with pytest.raises(NotFound):
            async_to_sync(other.read)()


def test_sentences_of_a_model_come_while_it_still_writes(reader: Principal) -> None:
    """With a stop in the middle: the model is let go, what was written stays, and the end says so."""

    async def stop_at_the_answer(live: Live) -> tuple[list[LogEntry], list[LogEntry]]:
        before = await live.read(until=is_answer)
        await request_stop(live.message_id)
        return before, await live.read(before[-1].seq)

    live = Live(reader, LEAVE)
    with modelled(SEARCH, says(TWO, size=200, hang=1)) as server:
        before, after = lived(live, stop_at_the_answer)
        assert server.gone.wait(300), "the model's connection is closed"
    events = events_of([*before, *after])
    assert kinds(events)[-2:] == ["stop", "complete"]
    assert events[-2].content == "Stopped before the answer was complete."
    assert events[-1].data["stop_reason"] == "cancelled"
    stored = row(live)
    assert (stored.stop_reason, stored.is_complete) == (StopReason.CANCELLED, True)
    assert stored.content == text_of([*before, *after])
    assert "30 days" in stored.content


def test_a_stop_before_the_first_word_says_so(reader: Principal) -> None:
    async def stop_at_once(live: Live) -> list[LogEntry]:
        await live.read(until=lambda entry: entry.seq == 0)
        assert await asyncio.to_thread(server.asked.wait, 60)
        await request_stop(live.message_id)
        return await live.read()

    live = Live(reader, LEAVE)
    with modelled(says("", hang="before")) as server:
        entries = lived(live, stop_at_once)
    assert kinds(events_of(entries)) == ["agent_query", "stop", "complete"]
    assert row(live).content == "Stopped before the answer was complete."


@pytest.mark.usefixtures("impatient")
def test_without_its_log_a_run_is_read_from_its_message(reader: Principal, valkey: Any) -> None:
    async def lose_it(live: Live) -> tuple[list[LogEntry], list[LogEntry]]:
        whole = await live.read()
        valkey.delete(build_log_key(live.message_id))
        return whole, await live.read(2)

    whole, anew = lived(Live(reader, LEAVE), lose_it)
    assert [entry.seq for entry in anew] == list(range(len(anew))), "from the beginning"
    assert kinds(events_of(anew)) == ["agent_query", "references", "answer", "complete"]
    assert events_of(anew)[0].content == events_of(whole)[0].content == LEAVE
    assert text_of(anew) == text_of(whole)
    references = [event for event in events_of(whole) if event.response_type == "references"]
    told = [event for event in events_of(anew) if event.response_type == "references"]
    assert told[-1].knowledge_references == references[-1].knowledge_references


@pytest.mark.usefixtures("impatient")
def test_a_log_that_is_lost_in_the_middle_does_not_stop_the_run(reader: Principal, valkey: Any) -> None:
    async def lose_it(live: Live) -> list[LogEntry]:
        before = await live.read(until=lambda entry: entry.seq == 0)
        valkey.delete(build_log_key(live.message_id))
        return [*before, *await live.read(before[-1].seq)]

    live = Live(reader, LEAVE)
    with modelled(SEARCH, says(THIRTY)):
        entries = lived(live, lose_it)
    assert entries[-1].type == "complete"
    assert text_of(entries) == row(live).content
    assert "30 days" in text_of(entries)


def test_a_finished_run_is_read_again_under_the_rights_of_that_day(
    handbook: Handbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, end_right = secret_run(handbook)

    async def read_twice(live: Live) -> tuple[list[LogEntry], list[LogEntry], list[LogEntry]]:
        before = await live.read()
        await sync_to_async(end_right)()
        after = await live.read()
        with monkeypatch.context() as patched:  # without the look at what is read again it leaves
            patched.setattr(follow, "may_read_grounds", lambda _principal, grounds: [True for _each in grounds])
            return before, after, await live.read()

    before, after, unlooked = lived(live, read_twice)
    assert "420,000" in text_of(before)
    assert kinds(events_of(after)) == ["agent_query", "answer", "complete"]
    assert "420,000" not in str(after)
    assert "Salaries" not in str(after)
    assert "420,000" in text_of(unlooked)


def secret_run(handbook: Handbook) -> tuple[Live, Any]:
    """A run that stood on what its reader may not see any more once the second value is called."""
    _base, _manual, secret = handbook
    person = make_reader(secret.knowledge_base)
    return Live(Principal.of(person), SALARY), lambda: revoke_rights(
        None, [Right.VIEW], secret.knowledge_base, of=person
    )


def test_a_reader_of_a_running_answer_gets_nothing_that_ended(handbook: Handbook) -> None:
    live, end_right = secret_run(handbook)

    async def read_late(live: Live) -> tuple[list[LogEntry], list[LogEntry]]:
        before = await live.read(until=is_answer)
        await sync_to_async(end_right)()
        late = await live.read()
        await request_stop(live.message_id)
        await live.read()
        return before, late

    salary = "The salary of the managing director is 420,000 euros a year [1]."
    with modelled(
        calls(("knowledge_search", {"queries": [SALARY]})), says(f"{salary} And more will never come", size=200, hang=1)
    ):
        before, late = lived(live, read_late)
    assert "420,000" in text_of(before)
    assert "420,000" not in str(late)
    assert late[-1].type == "error"
    assert "Your access changed" in late[-1].body


# --- processes that die ---


def abandoned(reader: Principal) -> Message:
    """An answer that a process began long ago."""
    session = create_session(reader)
    session.messages.create(role=MessageRole.USER, content=LEAVE)
    message = session.messages.create(role=MessageRole.ASSISTANT, is_complete=False)
    Message.objects.filter(pk=message.pk).update(created_at=timezone.now() - timedelta(seconds=LEASE_S + 1))
    return message


@pytest.fixture
def long_up(monkeypatch: pytest.MonkeyPatch, valkey: Any) -> None:
    """The tests' Valkey is younger than a lease, and a second look comes at once."""
    monkeypatch.setattr(reaper, "CERTAIN_S", 0)
    info = {"uptime_in_seconds": LEASE_S}
    monkeypatch.setattr(Redis, "info", lambda self, *sections: info)


@pytest.mark.usefixtures("long_up")
def test_an_answer_that_nobody_makes_is_closed_as_an_error(reader: Principal, valkey: Any) -> None:
    message = abandoned(reader)
    for _turn in range(2):
        assert close_abandoned_runs() == 0, "one look is not enough"
        valkey.set(build_lease_key(message.pk), "1", ex=LEASE_S)  # it was late, and lives
        assert close_abandoned_runs() == 0
        valkey.delete(build_lease_key(message.pk))
    assert close_abandoned_runs() == 0
    assert close_abandoned_runs() == 1
    message.refresh_from_db()
    assert (message.is_complete, message.stop_reason) == (True, StopReason.TOOL_ERROR)
    assert "ask it again" in message.content
    entry = AuditEntry.objects.get(action=Action.QUESTION_ANSWERED)
    assert (entry.outcome, entry.reason, entry.run_id) == (Outcome.ERROR, "Abandoned", str(message.pk))
    assert close_abandoned_runs() == 0


@pytest.mark.usefixtures("long_up")
def test_an_answer_that_ends_while_it_is_looked_at_keeps_its_words(
    reader: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = abandoned(reader)

    def ended(_valkey: Any, run_id: UUID) -> Grounds:
        Message.objects.filter(pk=run_id).update(content="Thirty days.", is_complete=True)
        return Grounds()

    monkeypatch.setattr(reaper, "read_log_grounds", ended)
    close_abandoned_runs()
    close_abandoned_runs()
    message.refresh_from_db()
    assert (message.content, message.stop_reason) == ("Thirty days.", "")
    assert not AuditEntry.objects.filter(action=Action.QUESTION_ANSWERED).exists()


def test_two_looks_in_a_row_are_one_and_a_valkey_that_has_just_started_knows_nobody(
    reader: Principal, monkeypatch: pytest.MonkeyPatch, valkey: Any
) -> None:
    info = {"uptime_in_seconds": LEASE_S - 1}
    monkeypatch.setattr(Redis, "info", lambda self, *sections: info)
    message = abandoned(reader)
    assert [close_abandoned_runs(), close_abandoned_runs()] == [0, 0]
    valkey.delete(build_missing_key(message.pk))
    info["uptime_in_seconds"] = LEASE_S
    assert [close_abandoned_runs(), close_abandoned_runs()] == [0, 0], (
        "beat may be late with one and on time with the next"
    )
    valkey.expire(build_missing_key(message.pk), reaper.FORGOTTEN_S - reaper.CERTAIN_S)
    assert close_abandoned_runs() == 1


@pytest.mark.usefixtures("long_up")
def test_a_process_that_was_taken_for_dead_changes_nothing_when_it_comes_back(
    reader: Principal, valkey: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LOOK_S", 3600)  # it is too busy to renew its lease
    long_ago = timezone.now() - timedelta(seconds=LEASE_S + 1)

    async def overtaken(live: Live) -> tuple[list[LogEntry], list[LogEntry]]:
        await live.read(until=is_answer)
        valkey.delete(build_lease_key(live.message_id))
        await Message.objects.filter(pk=live.message_id).aupdate(created_at=long_ago)
        assert [await sync_to_async(close_abandoned_runs)() for _look in range(2)] == [0, 1]
        ended = await live.read()
        for task in asyncio.all_tasks():
            if task.get_name().startswith("walk "):
                task.cancel()
        await all_runs()
        return ended, await live.read()

    live = Live(reader, LEAVE)
    with modelled(SEARCH, says(TWO, size=200, hang=1)):
        ended, later = lived(live, overtaken)
    assert ended == later
    assert kinds(events_of(ended))[-1] == "error"
    assert row(live).stop_reason == StopReason.TOOL_ERROR
    shown = AuditEntry.objects.get(action=Action.QUESTION_ANSWERED, reason="Abandoned").detail["chunks"]
    read = {str(chunk_id) for entry in ended for chunk_id in entry.grounds.chunk_ids}
    assert set(shown) == read != set(), "what it had shown by then is recorded"


async def all_runs() -> None:
    """Wait for every run of this loop to end."""
    await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name().startswith("run ")))


def test_a_conversation_that_is_deleted_in_the_middle_ends_its_run(reader: Principal) -> None:
    async def delete_it(live: Live) -> None:
        await live.read(until=is_answer)
        await sync_to_async(delete_session)(reader, live.session_id)
        await request_stop(live.message_id)
        with pytest.raises(NotFound):
            await live.read()
        await all_runs()

    live = Live(reader, LEAVE)
    with modelled(SEARCH, says(TWO, size=200, hang=1)):
        lived(live, delete_it)
    assert not Message.objects.exists()


SIGN_IN_ENDS: dict[str, Callable[[User, str], object]] = {
    "signed out": lambda _user, key: DbSession.objects.filter(pk=key).delete(),
    "another password": lambda user, _key: User.objects.filter(pk=user.pk).update(password=make_password("another")),
    "disabled": lambda user, _key: User.objects.filter(pk=user.pk).update(is_active=False),
}


@pytest.mark.parametrize("how", SIGN_IN_ENDS)
def test_a_reader_of_a_running_answer_gets_nothing_after_their_sign_in_has_ended(handbook: Handbook, how: str) -> None:
    base, _manual, _secret = handbook
    user, browser = make_reader(base), Client()
    browser.force_login(user)
    key = str(browser.session.session_key)
    live = Live(Principal.of(user).signed_in(key), LEAVE)

    async def read_late(live: Live) -> list[LogEntry]:
        await live.read(until=is_answer)
        await sync_to_async(SIGN_IN_ENDS[how])(user, key)
        late = await live.read()
        await request_stop(live.message_id)
        return late

    with modelled(SEARCH, says(TWO, size=100, hang=1)):
        late = lived(live, read_late)
    assert THIRTY[:10] not in str(late)
    assert late[-1].type == "error"


def test_a_person_reads_so_many_answers_at_once_and_others_theirs(
    handbook: Handbook, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Principal.of(make_reader(handbook[0]))
    monkeypatch.setattr(follow.READERS, "most", 2)
    live, other = Live(reader, LEAVE), Live(Principal.of(make_user()), LEAVE)

    async def crowd(live: Live) -> None:
        crowd = [
            follow.follow_run(reader, session_id=live.session_id, message_id=live.message_id) for _reader in range(2)
        ]
        for entries in crowd:
            await anext(aiter(entries))
        with pytest.raises(TooMany):
            await live.read()
        for entries in crowd:
            await entries.aclose()
        assert follow.READERS.of(reader.user_id) == 0
        assert (await live.read())[-1].is_terminal

    lived(live, crowd)
    assert lived(other, Live.read)[-1].is_terminal
    assert follow.READERS.of(reader.user_id) == 0
