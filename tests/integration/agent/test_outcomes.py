"""Without a model: the best passages, or that nothing was found. Which one depends on what this person may read alone."""

import pytest
from django.contrib.auth.models import User

from agent.conversations.sessions import create_session, get_message
from agent.events import Answer, Complete, Event, StopReason
from audit.actions import Action, Outcome
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from knowledge.services import access
from tests.factories import allow, make_base, make_document, make_folder
from tests.integration.agent.conversations import (
    LEAVE,
    SALARY,
    SECRET,
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

pytestmark = pytest.mark.django_db

LEAD = "Best match (not verified):"


def told(events: list[Event]) -> list[dict[str, object]]:
    """All that left, but for the ids of this run."""
    own = {"id", "session_id", "assistant_message_id"}
    return [event.model_dump(mode="json", exclude=own) for event in events]


def test_the_best_passages_are_shown_and_not_called_an_answer(handbook: Handbook, floor: Floor) -> None:
    floor(near=True)
    base, manual, _secret = handbook
    reader = make_reader(base)
    events = asked(reader, LEAVE)
    row = stored(events)
    assert kinds(events) == ["agent_query", "references", "answer", "session_title", "complete"]
    assert isinstance(events[-1], Complete)
    assert events[-1].data["stop_reason"] == "ok"
    told = [event.data for event in events if isinstance(event, Answer)]
    assert all(data["kind"] == "passages" for data in told)
    assert told[-1]["confidence"] < 0.5
    shown = get_message(Principal.of(reader), row.session, row.pk)
    assert shown.data == {"kind": "passages", "confidence": told[-1]["confidence"]}
    assert row.content == words(events)
    assert row.content.splitlines()[0] == LEAD
    assert row.sentences[0]["citations"] == []
    assert {tuple(sentence["citations"]) for sentence in row.sentences[1:]} == {(1,)}
    assert [citation.document_id for citation in row.citations.all()] == [manual.pk]
    assert sources(events) == ["Leave"]
    entry = Entry.objects.get(action=Action.QUESTION_ANSWERED)
    assert (entry.outcome, entry.reason) == (Outcome.ALLOW, "ok")
    assert entry.detail["cited"] == [citation.evidence_id for citation in row.citations.all()] != []
    revoke_rights(None, [Right.VIEW], base, of=reader)
    hidden = get_message(Principal.of(reader), row.session, row.pk)
    assert (hidden.content, hidden.masked_count, hidden.citations) == ("", len(row.sentences) - 1, ())


def test_where_nothing_is_near_it_says_what_was_searched_and_whom_to_ask(reader: User, floor: Floor) -> None:
    floor(near=False)
    assert words(asked(reader, UNKNOWN)).splitlines() == [
        "I found nothing about this in the 1 document you can read.",
        "Searched: Handbook.",
        "Try other words, or ask keeper.",
    ]
    second = make_base("Travel")
    make_document(second, "trips.md", "Trips are reported before they begin.", ingested=True)
    allow(reader, second)
    chinese = words(asked(reader, UNKNOWN, language="zh-hans"))
    assert "Handbook、Travel" in chinese or "Travel、Handbook" in chinese, "as the language writes a list"
    assert "。 " not in chinese


@pytest.mark.parametrize("near", [True, False])
def test_forbidden_looks_like_missing(handbook: Handbook, floor: Floor, *, near: bool) -> None:
    """The same events, to the byte, whether a document is hidden or not there: in another base, in a folder, alone."""
    base, _manual, secret = handbook
    reader = make_reader(base)
    closed = make_document(make_folder(base, "Pay"), "pay.md", SECRET, ingested=True)
    access.deny_place_rights(None, [Right.VIEW], closed.folder, to=reader)
    floor(near=near)
    hidden = told(asked(reader, SALARY))
    for document in (secret, closed):
        document.delete()
    assert told(asked(reader, SALARY)) == hidden


def test_a_follow_up_that_finds_nothing_searches_the_documents_just_cited(handbook: Handbook, floor: Floor) -> None:
    base, manual, _secret = handbook
    make_document(base, "whales.md", "# Whales\n\nA sick whale is towed to the third harbour.\n", ingested=True)
    reader = Principal.of(make_reader(base))
    session = create_session(reader)
    asked(reader, LEAVE, session)
    floor(near=False)
    row = stored(asked(reader, "And the sick note?", session))
    assert row.stop_reason == StopReason.OK
    assert {citation.document_id for citation in row.citations.all()} == {manual.pk}
    unsaid = stored(asked(reader, "And the colour of tungsten ore?", session))
    assert unsaid.stop_reason == StopReason.NO_EVIDENCE, "no cited document says a word of it"


SLIP = "How many days of anual leave do employees have?"


def test_a_question_with_a_slip_is_read_without_it_and_the_answer_shows_how(reader: User) -> None:
    events = asked(reader, SLIP)
    assert "30 days" in words(events)
    assert stored(events).notice == "I read it as: How many days of annual leave do employees have?"
    make_document(make_base("Closed"), "anual.md", "The anual is a list of ours.", ingested=True)
    again = asked(reader, SLIP)
    assert (words(again), stored(again).notice[:12]) == (words(events), "I read it as")
