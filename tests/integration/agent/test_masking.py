"""An answer is shown under today's rights: what stood on a passage that is not theirs any more says nothing."""

from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from agent.conversations.sessions import create_session, delete_session, get_message, get_session, list_branch_messages
from agent.events import AgentQuery, Event
from agent.evidence.document_facts import make_documents_source
from agent.models import Message, Session
from agent.revocation import EvidenceGone, iterate_readable_events, remove_unreadable_evidence, require_readable_sources
from agent.run_state.run import Run
from agent.run_state.state import Turn
from agent.runs.start import assign_model
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from copilot_site.lib.errors import NotFound
from knowledge.models import Document
from knowledge.retrieval.search import Scope
from knowledge.services.removal import remove_document
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.conversations import asked, stored
from tests.integration.agent.modelled import modelled
from tests.sharing import Share

pytestmark = pytest.mark.django_db


LINES = {"first": "The notice period is four weeks.", "second": "The notice period in the trial time is two weeks."}
NOTICE = "How long is the notice period?"


Two = tuple[User, Session, dict[str, Document], Message]


@pytest.fixture(scope="module")
def shared_two(share: Share) -> Callable[[], Two]:
    return share(make_two)


@pytest.fixture
def two(shared_two: Callable[[], Two], db: None) -> Two:
    return shared_two()


def make_two() -> Two:
    """An answer of one reader that stands on two documents of two knowledge bases, a sentence on each."""
    reader = make_user()
    documents = {}
    for name, line in LINES.items():
        base = make_base()
        allow(reader, base)
        documents[name] = make_document(base, f"{name}.md", f"# {name}\n\n{line}\n", ingested=True)
    session = create_session(Principal.of(reader))
    answer = stored(asked(reader, NOTICE, session))
    assert {citation.document_id for citation in answer.citations.all()} == {d.pk for d in documents.values()}
    return reader, session, documents, answer


def standing_on(answer: Message, document: Document) -> int:
    """How many sentences of an answer stand on a document."""
    numbers = set(answer.citations.filter(document_id=document.pk).values_list("number", flat=True))
    return sum(bool(numbers & set(sentence["citations"])) for sentence in answer.sentences)


def shown(reader: User, session: Session) -> Any:
    """The answer as its reader sees it now."""
    return list_branch_messages(Principal.of(reader), session)[-1]


def test_all_is_shown_while_all_may_be_read(two: Two) -> None:
    reader, session, _documents, answer = two
    message = shown(reader, session)
    assert message.masked_count == 0
    assert len(message.citations) == answer.citations.count()
    for line in LINES.values():
        assert line in message.content
    for sentence in message.sentences:
        spans = {citation.number: citation.snippet for citation in message.citations}
        assert all(sentence.text in spans[number] for number in sentence.citations)


@pytest.mark.parametrize("gone", LINES)
def test_after_a_revocation_its_sentence_its_source_and_its_number_vanish_until_it_is_back(two: Two, gone: str) -> None:
    reader, session, documents, answer = two
    before = shown(reader, session)
    revoke_rights(None, [Right.VIEW], documents[gone].knowledge_base, of=reader)
    message = shown(reader, session)
    kept = next(name for name in LINES if name != gone)
    assert message.masked_count == standing_on(answer, documents[gone]) > 0
    assert LINES[kept] in message.content
    assert LINES[gone] not in str(message)
    assert gone not in {citation.passage.title for citation in message.citations}
    assert {citation.passage.document_id for citation in message.citations} == {documents[kept].pk}
    assert get_message(Principal.of(reader), session, message.id) == message
    allow(reader, documents[gone].knowledge_base)
    assert shown(reader, session) == before


def test_a_deleted_document_is_masked_and_a_disabled_reader_reads_nothing(two: Two) -> None:
    reader, session, documents, answer = two
    gone, opened = standing_on(answer, documents["first"]), Principal.of(reader)
    remove_document(None, documents["first"])
    message = shown(reader, session)
    assert message.masked_count == gone > 0
    assert LINES["first"] not in str(message)
    User.objects.filter(pk=reader.pk).update(is_active=False)
    message = list_branch_messages(opened, session)[-1]
    assert (message.content, message.citations) == ("", ())


def test_an_old_version_is_still_cited_after_a_new_one(two: Two) -> None:
    reader, session, documents, _answer = two
    make_document(documents["first"].folder, "first.md", "# first\n\nThere is no notice period.\n", ingested=True)
    message = shown(reader, session)
    assert LINES["first"] in message.content
    cited = {citation.passage.title: citation.passage.is_current for citation in message.citations}
    assert cited == {"first": False, "second": True}


def test_conversations_are_their_owner_s_alone(two: Two) -> None:
    anna, session, _documents, answer = two
    bert = Principal.of(make_user(is_superuser=True))
    for call in (get_session, delete_session):
        with pytest.raises(NotFound):
            call(bert, session.pk)
    with pytest.raises(NotFound):
        get_message(bert, create_session(bert), answer.pk)
    assert Session.objects.filter(pk=session.pk).exists()
    delete_session(Principal.of(anna), session.pk)
    assert not Message.objects.filter(session_id=session.pk).exists()
    deleted = Entry.objects.get(action=Action.CONVERSATION_DELETED)
    assert (deleted.actor_id, deleted.target_name) == (anna.pk, str(session.pk))
    assert str(answer.pk) in deleted.detail["runs"], "its runs' entries can still be found"


def test_reading_again_is_recorded_where_it_shows_evidence_and_with_every_right_gone_nothing_is_left(two: Two) -> None:
    reader, session, documents, _answer = two
    message = shown(reader, session)
    entry = Entry.objects.get(action=Action.CONVERSATION_READ)
    assert (entry.actor_id, entry.target_id) == (reader.pk, str(session.pk))
    assert set(entry.detail["evidence"]) == {citation.evidence_id for citation in message.citations}
    for document in documents.values():
        revoke_rights(None, [Right.VIEW], document.knowledge_base, of=reader)
    message = shown(reader, session)
    assert (message.content, message.citations, message.masked_count) == ("", (), len(message.sentences))
    assert "weeks" not in str(message)
    assert list_branch_messages(Principal.of(reader), session)[0].content == NOTICE, "what they asked is theirs"
    assert Entry.objects.filter(action=Action.CONVERSATION_READ).count() == 1, "nothing was shown"


@pytest.mark.parametrize("by", ["passage", "result"])
def test_rights_on_earlier_answers_are_checked_in_the_middle_of_a_run(two: Two, by: str) -> None:
    """The completed question is no word of the person; and an earlier answer may stand on a result."""
    reader, session, documents, answer = two
    document = documents["second"]
    if by == "passage":
        turn = Turn(role="assistant", content=answer.content, stands_on=[_chunk_of(answer, document)])
    else:
        turn = Turn(role="assistant", content="Two documents.", queried=[make_documents_source([document.pk])])
    run = Run(session.pk, answer.pk, Principal.of(reader), "Why?", Scope(), "en", history=[turn])
    with modelled():
        assign_model(run)
        assert _let_out(run, "Why two weeks?") == ["Why two weeks?"]
        revoke_rights(None, [Right.VIEW], document.knowledge_base, of=reader)
        assert _let_out(run, "Why?") == ["Why?"]
        with pytest.raises(EvidenceGone):
            _let_out(run, "Why two weeks?")
        with pytest.raises(EvidenceGone):
            require_readable_sources(run)
        with pytest.raises(EvidenceGone):
            remove_unreadable_evidence(run)


def _chunk_of(answer: Message, document: Document) -> UUID:
    chunk_id: UUID = answer.citations.filter(document_id=document.pk).values_list("chunk_id", flat=True)[0]
    return chunk_id


def _let_out(run: Run, question: str) -> list[str]:
    async def events() -> AsyncIterator[Event]:
        yield AgentQuery(content=question)

    async def told() -> list[str]:
        return [event.content async for event in iterate_readable_events(run, events())]

    return async_to_sync(told)()
