"""One question becomes one answer with evidence, or an honest no; streamed and stored are the same."""

import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from django.conf import LazySettings
from django.contrib.auth.models import User

from agent.conversations.sessions import create_session, search_sessions
from agent.events import Complete, Error, Event, References, SessionTitle, StopReason, StreamEvent
from agent.models import Citation, Message
from agent.profiles.settings import Options
from agent.run_state.run import Goto, Run
from agent.run_state.state import State
from agent.runs import run as runs
from agent.runs.start import ask_question, prepare_run
from agent.states import STATES
from agent.workflow import Together
from audit.actions import Action, Outcome
from audit.models import Entry
from authz.models import PermissionSnapshot
from authz.principal import Principal
from knowledge.models import Chunk, Document
from knowledge.retrieval import engine
from knowledge.retrieval.search import Scope
from tests.factories import make_base, make_user
from tests.integration.agent.conversations import (
    LEAVE,
    SALARY,
    UNKNOWN,
    Floor,
    Handbook,
    asked,
    kinds,
    make_reader,
    sources,
    stored,
    words,
)
from tests.ports import closed_port

pytestmark = pytest.mark.django_db


def test_what_is_streamed_is_stored_and_recorded_with_its_evidence(handbook: Handbook) -> None:
    base, manual, _secret = handbook
    reader = make_reader(base)
    events = asked(reader, LEAVE)
    assert [event.seq for event in events] == list(range(len(events)))
    assert kinds(events) == ["agent_query", "references", "answer", "session_title", "complete"]
    assert len({(event.session_id, event.assistant_message_id, event.id) for event in events}) == 1
    assert [isinstance(event, Complete | Error) for event in events].index(True) == len(events) - 1
    row = stored(events)
    assert "30 days" in words(events)
    assert row.content == words(events)
    assert (row.stop_reason, row.is_complete, row.provider) == (StopReason.OK, True, "extractive")
    assert row.duration_ms is not None
    assert isinstance(events[-1], Complete)
    assert events[-1].data == {"stop_reason": "ok"}
    assert [step["node"] for step in row.state["trace_steps"]] == [
        "Preprocess", "LoadAuthz", "Route", "DocRAGTool", "ValidateEvidence", "Synthesize",
    ]  # fmt: skip
    for part in ("evidence_items", "trace_steps", "tools"):
        assert "30 days" not in str(row.state[part])
    check_that_sentences_stand_in_spans(row, manual)
    assert sources(events) == ["Leave"] * row.citations.count()
    question = Entry.objects.get(action=Action.QUESTION_ASKED)
    answer = Entry.objects.get(action=Action.QUESTION_ANSWERED)
    for entry in (question, answer):
        assert (entry.actor_id, entry.run_id, entry.target_type) == (reader.pk, str(row.pk), "session")
    assert question.detail == {"characters": len(LEAVE)}
    assert answer.outcome == Outcome.ALLOW
    assert answer.detail["cited"] == [citation.evidence_id for citation in row.citations.all()]
    assert set(answer.detail["cited"]) <= set(answer.detail["evidence"])
    assert all(str(manual.pk) in evidence for evidence in answer.detail["evidence"])
    assert "30 days" not in str(answer.detail)


def check_that_sentences_stand_in_spans(row: Message, manual: Document) -> None:
    citations = {citation.number: citation for citation in row.citations.all()}
    assert row.sentences
    for sentence in row.sentences:
        if sentence["text"] == "Best match (not verified):":
            continue
        assert sentence["citations"]
        for number in sentence["citations"]:
            cited: Citation = citations[number]
            chunk = Chunk.unscoped.get(id=cited.chunk_id)
            assert cited.document_id == manual.pk
            assert sentence["text"] in chunk.text[cited.start : cited.end]


def test_a_greeting_is_answered_with_what_can_be_asked(handbook: Handbook) -> None:
    base, manual, _secret = handbook
    for greeting in ("Hello!", "你好，你能做什么？"):
        events = asked(make_reader(base), greeting)
        row = stored(events)
        assert (row.stop_reason, sources(events)) == (StopReason.NEED_CLARIFY, [])
        [reading] = row.state["plan"]["clarifying_questions"]
        assert manual.title in reading


def test_a_scope_narrows_and_says_so_when_nothing_is_left(handbook: Handbook, floor: Floor) -> None:
    """What is asked for and may not be read, what does not exist, and a base that lacks the document: the same words."""
    base, manual, secret = handbook
    reader = make_reader(base)
    scopes = [
        Scope(knowledge_base_ids=(secret.knowledge_base_id,)),
        Scope(document_ids=(secret.pk,)),
        Scope(folder_ids=(uuid4(),)),
        Scope(knowledge_base_ids=(secret.knowledge_base_id,), document_ids=(manual.pk,)),
    ]
    said = {words(asked(reader, SALARY, scope=scope)) for scope in scopes}
    assert said == {"You can read nothing in the chosen scope. Choose another one, or none."}
    assert "30 days" in words(asked(reader, LEAVE, scope=Scope(document_ids=(manual.pk, secret.pk))))
    floor(near=False)
    assert "I found nothing about this in the 1 document" in words(
        asked(reader, SALARY, scope=Scope(document_ids=(manual.pk,)))
    )


def test_no_right_and_no_such_matter_are_refused_in_the_same_words(handbook: Handbook, floor: Floor) -> None:
    base, _manual, secret = handbook
    assert "420,000" in words(asked(make_reader(secret.knowledge_base), SALARY)), "who may read it is answered"
    reader, nobody = make_reader(base), make_user()
    floor(near=False)
    refusals = [
        asked(reader, SALARY),  # it is there and not theirs
        asked(reader, UNKNOWN),  # it is nowhere
        asked(nobody, LEAVE),  # they may read nothing at all
    ]
    floor(near=True)
    refusals.append(asked(nobody, LEAVE))
    assert len({words(events) for events in refusals[:2]}) == len({words(events) for events in refusals[2:]}) == 1
    assert all("1" in words(events) for events in refusals[:2]), "one document was searched"
    for events in refusals:
        assert kinds(events) == ["agent_query", "answer", "session_title", "complete"]
        assert isinstance(events[-1], Complete)
        assert events[-1].data == {"stop_reason": "no_evidence"}
        row = stored(events)
        assert (row.stop_reason, row.sentences, row.citations.count()) == (StopReason.NO_EVIDENCE, [], 0)
        assert row.content == words(events)
    denied = Entry.objects.filter(action=Action.QUESTION_ANSWERED, outcome=Outcome.DENY)
    assert [entry.reason for entry in denied] == ["no_evidence"] * 4


def test_rights_are_read_when_the_run_runs_and_not_when_the_page_was_opened(reader: User) -> None:
    opened = Principal.of(reader)
    reader.is_active = False
    reader.save()
    events = asked(opened, LEAVE)
    assert kinds(events) == ["agent_query", "error"]
    assert "30 days" not in str([event.model_dump() for event in events])
    assert stored(events).stop_reason == StopReason.TOOL_ERROR


@pytest.fixture
def no_embedder(settings: LazySettings) -> Iterator[None]:
    """A served embedder that nobody serves; a wrong address is not tried again."""
    settings.EMBEDDER = "openai_compatible"
    settings.EMBEDDER_OPTIONS = {
        **settings.EMBEDDER_OPTIONS,
        "base_url": f"http://127.0.0.1:{closed_port()}/v1",
        "model": None,
    }
    engine._load_embedder.cache_clear()
    yield
    engine._load_embedder.cache_clear()


def test_a_running_conversation_is_in_the_list_and_keeps_its_place_when_it_fails() -> None:
    reader = Principal.of(make_user("reader"))
    session = create_session(reader)
    prepare_run(reader, session.pk, LEAVE, scope=Scope(), language="en", options=Options()).ticket.leave()  # type: ignore[union-attr]
    assert [element.title for element in search_sessions(reader)] == [LEAVE]
    unnamed = create_session(reader)
    options = Options(disable_title=True)
    prepare_run(reader, unnamed.pk, LEAVE, scope=Scope(), language="en", options=options).ticket.leave()  # type: ignore[union-attr]
    assert [element.pk for element in search_sessions(reader)] == [session.pk]


def test_a_failing_engine_ends_the_run_and_closes_the_answer(
    reader: User, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    request.getfixturevalue("no_embedder")
    with caplog.at_level(logging.ERROR):
        events = asked(reader, LEAVE)
    assert kinds(events) == ["agent_query", "error"]
    assert [event.seq for event in events] == [0, 1]
    row = stored(events)
    assert (row.stop_reason, row.is_complete, row.content) == (StopReason.TOOL_ERROR, True, events[-1].content)
    entry = Entry.objects.get(action=Action.QUESTION_ANSWERED)
    assert (entry.outcome, entry.reason, entry.run_id) == (Outcome.ERROR, "EmbedderMisconfigured", str(row.pk))
    assert str(row.pk) in caplog.text, "the log names the run"
    assert not Message.objects.filter(is_complete=False).exists()


def left_at(handbook: Handbook, kind: type) -> Any:
    """The event at which the reader of a run goes away."""
    base, _manual, _secret = handbook
    principal = Principal.of(make_reader(base))
    session_id = create_session(principal).pk

    async def leave() -> Any:
        events = ask_question(principal, session_id=session_id, question=LEAVE)
        async for event in events:
            if isinstance(event, kind):
                await events.aclose()  # type: ignore[attr-defined]
                return event
        raise AssertionError(f"no {kind} came")

    return async_to_sync(leave)()


def test_an_answer_that_is_stored_stays_when_the_reader_goes_away_before_its_last_event(handbook: Handbook) -> None:
    left_at(handbook, SessionTitle)
    (entry,) = Entry.objects.filter(action=Action.QUESTION_ANSWERED)
    assert entry.outcome == Outcome.ALLOW
    assert Message.objects.get(pk=entry.run_id).stop_reason == StopReason.OK


def test_a_reader_who_goes_away_leaves_no_open_answer_and_what_was_shown_is_recorded(handbook: Handbook) -> None:
    shown = left_at(handbook, References)
    assert not Message.objects.filter(is_complete=False).exists()
    entry = Entry.objects.get(action=Action.QUESTION_ANSWERED, outcome=Outcome.ERROR)
    cited = {row.evidence_id for row in shown.knowledge_references}
    assert cited
    assert cited <= set(entry.detail["evidence"])
    assert PermissionSnapshot.objects.filter(pk=entry.detail["perm_snapshot_id"]).exists()


def test_a_run_that_was_closed_meanwhile_stores_nothing_more(reader: User, monkeypatch: pytest.MonkeyPatch) -> None:

    async def closed(run: Run) -> AsyncIterator[Event | Together | Goto]:
        await Message.objects.filter(pk=run.message_id).aupdate(content="Closed.", is_complete=True)
        async for item in STATES[State.VALIDATE_EVIDENCE](run):
            yield item

    monkeypatch.setattr(runs, "STATES", {**STATES, State.VALIDATE_EVIDENCE: closed})
    events: list[Event] = asked(reader, LEAVE)
    assert "interrupted" in events[-1].content
    message = stored(events)
    assert (message.content, message.citations.count()) == ("Closed.", 0)
    assert not Entry.objects.filter(action=Action.QUESTION_ANSWERED).exists()


@pytest.mark.parametrize("goes_to", [State.SYNTHESIZE, State.DONE, None])
def test_a_run_that_leaves_the_table_ends_with_an_error(goes_to: State | None, monkeypatch: pytest.MonkeyPatch) -> None:
    async def astray(run: Run) -> AsyncIterator[StreamEvent | Goto]:
        if goes_to is not None:
            yield Goto(goes_to)

    monkeypatch.setattr(runs, "STATES", {**STATES, State.LOAD_AUTHZ: astray})
    events: list[Event] = asked(make_user(), LEAVE)
    assert kinds(events) == ["agent_query", "error"]
    assert Entry.objects.get(action=Action.QUESTION_ANSWERED).reason == "IllegalTransition"
    make_base()  # the transaction is usable: nothing of the run hangs in it
