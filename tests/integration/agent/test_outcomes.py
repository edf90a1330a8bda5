"""Three honest outcomes: answered, found and not confirmed, nothing found. Which one depends on what this person may read alone."""

import pytest

from agent.conversations.sessions import create_session, messages_of
from agent.events import Complete, Event, StopReason
from audit.actions import Action, Outcome
from audit.models import Entry
from authz.grants import take_back
from authz.permissions import Right
from authz.principal import Principal
from knowledge.services import access
from tests.factories import allow, make_base, make_document, make_folder
from tests.integration.agent.conversations import (
    LEAVE,
    SALARY,
    SECRET,
    UNKNOWN,
    Handbook,
    Judged,
    asked,
    kinds,
    make_reader,
    sources,
    stored,
    words,
)

pytestmark = pytest.mark.django_db

LEAD = "I cannot confirm an answer. These passages come closest:"


def told(events: list[Event]) -> list[dict[str, object]]:
    """All that left, but for the ids of this run."""
    own = {"id", "session_id", "assistant_message_id"}
    return [event.model_dump(mode="json", exclude=own) for event in events]


def test_what_comes_near_is_shown_as_no_answer(handbook: Handbook, judged: Judged) -> None:
    judged(confirms=False, near=True)
    base, manual, _secret = handbook
    events = asked(make_reader(base), LEAVE)
    row = stored(events)
    assert kinds(events) == ["agent_query", "references", "answer", "session_title", "complete"]
    assert isinstance(events[-1], Complete)
    assert events[-1].data == {"stop_reason": "not_confirmed"}
    assert row.content == words(events)
    assert row.content.splitlines()[0] == LEAD
    assert [sentence["citations"] for sentence in row.sentences] == [[], [1]]
    assert [citation.document_id for citation in row.citations.all()] == [manual.pk]
    assert sources(events) == ["Leave"]


def test_what_was_shown_is_in_the_audit_log(handbook: Handbook, judged: Judged) -> None:
    judged(confirms=False, near=True)
    base, _manual, _secret = handbook
    row = stored(asked(make_reader(base), LEAVE))
    entry = Entry.objects.get(action=Action.QUESTION_ANSWERED)
    assert (entry.outcome, entry.reason) == (Outcome.ALLOW, "not_confirmed")
    assert entry.detail["cited"] == [citation.evidence_id for citation in row.citations.all()] != []


def test_where_nothing_is_near_it_says_what_was_searched_and_whom_to_ask(handbook: Handbook, judged: Judged) -> None:
    judged(confirms=False)
    base, _manual, _secret = handbook
    said = words(asked(make_reader(base), UNKNOWN))
    assert "1 document was searched, in Handbook." in said
    assert "ask whoever keeps these documents: keeper." in said
    assert "Board" not in said


def test_a_list_of_names_is_written_as_the_language_writes_it(handbook: Handbook, judged: Judged) -> None:
    judged(confirms=False)
    base, _manual, _secret = handbook
    reader = make_reader(base)
    second = make_base("Travel")
    make_document(second, "trips.md", "Trips are reported before they begin.", ingested=True)
    allow(reader, second)
    assert "in Handbook, Travel." in (english := words(asked(reader, UNKNOWN))) or "in Travel, Handbook." in english
    chinese = words(asked(reader, UNKNOWN, language="zh-hans"))
    assert "Handbook、Travel" in chinese or "Travel、Handbook" in chinese
    assert "。 " not in chinese


@pytest.mark.parametrize("near", [True, False])
def test_forbidden_looks_like_missing(handbook: Handbook, judged: Judged, *, near: bool) -> None:
    """The same events, to the byte, whether a document is hidden or not there: in another base, in a folder, alone."""
    base, _manual, secret = handbook
    reader = make_reader(base)
    closed = make_document(make_folder(base, "Pay"), "pay.md", SECRET, ingested=True)
    access.deny(None, [Right.VIEW], closed.folder, to=reader)
    judged(confirms=False, near=near)
    hidden = told(asked(reader, SALARY))
    for document in (secret, closed):
        document.delete()
    assert told(asked(reader, SALARY)) == hidden


def test_a_passage_that_is_hidden_later_is_shown_no_more(handbook: Handbook, judged: Judged) -> None:
    judged(confirms=False, near=True)
    base, _manual, _secret = handbook
    reader = make_reader(base)
    principal = Principal.of(reader)
    session = create_session(principal)
    asked(principal, LEAVE, session)
    shown = messages_of(principal, session)[-1]
    assert (shown.masked_count, len(shown.citations)) == (0, 1)
    assert "30 days" in shown.content
    take_back(None, [Right.VIEW], base, of=reader)
    shown = messages_of(principal, session)[-1]
    assert (shown.content, shown.masked_count, shown.citations) == (LEAD, 1, ())


def test_a_fragment_after_an_answer_of_documents_is_asked_with_the_question_before_it(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    make_document(base, "report.md", "# Report\n\nSales are reported by region every month.\n", ingested=True)
    reader = Principal.of(make_reader(base))
    session = create_session(reader)
    first = asked(reader, LEAVE, session)
    assert stored(first).stop_reason == StopReason.OK
    second = asked(reader, "and by region?", session)
    assert [event.content for event in second if event.response_type == "agent_query"][
        -1
    ] == f"{LEAVE[:-1]} (by region)?"
    assert stored(second).stop_reason == StopReason.NO_EVIDENCE, "nothing speaks of leave by region"
