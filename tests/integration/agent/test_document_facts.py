"""An answer about documents themselves stands on their facts, for as long as all those documents may be seen."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from agent.conversations.history import load_history
from agent.models import Message
from agent.runs.follow import replay_entries
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import revoke_rights
from business.results import visibility
from copilot_site.lib.registry import Registry
from knowledge.models import Document
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.conversations import asked, stored
from tests.integration.agent.modelled import modelled
from tests.integration.pages.house import client_of
from tests.modelserver import calls, says
from tests.sharing import Share
from tests.tooling import called

pytestmark = pytest.mark.django_db
READY = "How many of these documents are ready?"
TITLE = "Bluebird merger"


class Answered:
    """Somebody who was told about two documents of two bases."""

    def __init__(self) -> None:
        self.reader: User = make_user()
        self.documents: list[Document] = []
        for title in ("Handbook", TITLE):
            base = make_base()
            allow(self.reader, base)
            self.documents.append(make_document(base, content=f"# {title}\n\nText.\n", title=title, ingested=True))
        info = calls(("get_document_info", {"knowledge_ids": [str(item.pk) for item in self.documents]}))
        with modelled(info, says("2 of these documents are ready [1].")):
            self.row: Message = stored(asked(self.reader, READY))

    def pages(self) -> str:
        """All that this person is shown of the answer."""
        client: Any = client_of(self.reader)
        names = ("conversation", "run")
        args = {"conversation": [self.row.session_id], "run": [self.row.session_id, self.row.pk]}
        pages = [client.get(reverse(name, args=args[name])).content.decode() for name in names]
        told = replay_entries(Principal.of(self.reader), self.row.session_id, self.row.pk)
        return "\n".join([*pages, *(entry.body for entry in told)])

    def lose_one(self) -> None:
        revoke_rights(None, [Right.VIEW], self.documents[1].knowledge_base, of=self.reader)


@pytest.fixture(scope="module")
def shared_answered(share: Share) -> Callable[[], Answered]:
    return share(Answered)


@pytest.fixture
def answered(shared_answered: Callable[[], Answered], db: None) -> Answered:
    return shared_answered()


def test_the_answer_cites_a_table_of_facts(answered: Answered) -> None:
    assert (answered.row.stop_reason, answered.row.content) == ("ok", "2 of these documents are ready.[1]")
    page = answered.pages()
    assert TITLE in page
    assert "document catalogue" in page
    assert "Run again" not in page, "there is no statement to run"
    csv: Any = client_of(answered.reader).get(
        reverse("query-table", args=[answered.row.session_id, answered.row.pk, 1])
    )
    assert TITLE in b"".join(csv).decode() if csv.streaming else TITLE in csv.content.decode()
    again: Any = client_of(answered.reader).post(
        reverse("query-run-again", args=[answered.row.session_id, answered.row.pk, 1])
    )
    assert again.status_code == 404


def test_when_one_document_may_not_be_seen_any_more_the_sentence_and_the_table_are_hidden(answered: Answered) -> None:
    answered.lose_one()
    page = answered.pages()
    assert TITLE not in page
    assert "2 of these documents are ready" not in page


def test_the_test_above_turns_red_when_everything_is_vouched_for(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    everybody: Registry[Any] = Registry("kind")
    everybody.add("all", lambda _principal, queried: set(queried))
    monkeypatch.setattr(visibility, "query_sources", everybody)
    answered.lose_one()
    assert TITLE in answered.pages()


def test_the_facts_are_of_visible_documents_only_and_none_make_no_evidence() -> None:
    reader, base = make_user(), make_base()
    allow(reader, base)
    mine = make_document(base, content="# Mine\n\nText.\n", title="Mine", ingested=True)
    hidden = make_document(make_base(), content="# Hidden\n\nText.\n", title="Hidden", ingested=True)
    (finding,) = called(reader, "get_document_info", {"knowledge_ids": [str(hidden.pk), str(mine.pk)]}).result.findings
    assert "1 document: 1 ready" in finding.item.text
    assert "Hidden" not in str(finding)
    assert not called(reader, "get_document_info", {"knowledge_ids": [str(hidden.pk)]}).result.findings


def test_a_model_that_is_told_the_answer_again_is_told_with_what_it_stands_on(answered: Answered) -> None:
    """So that the next run, too, ends where one of the documents is lost."""
    question = Message.objects.create(
        session=answered.row.session, role="user", parent=answered.row, content="And now?"
    )
    now = Message.objects.create(session=answered.row.session, role="assistant", parent=question, is_complete=False)
    _asked, told = load_history(Principal.of(answered.reader), now.session_id, before=now.pk)
    assert told.content.startswith("2 of these documents are ready")
    assert [len(queried.reach) for queried in told.queried] == [2]


def test_what_the_fields_of_a_document_say_is_a_fact_that_an_answer_may_stand_on() -> None:
    reader, base = make_user(), make_base()
    allow(reader, base)
    document = make_document(base, content="# Contract\n\nText.\n", title="Contract", ingested=True)
    other = make_document(base, content="# Note\n\nOther.\n", title="Note", ingested=True)
    Document.unscoped.filter(pk=document.pk).update(metadata={"Client": "Huber", "Year": 2026})
    ids = [str(document.pk), str(other.pk)]
    (finding,) = called(reader, "get_document_info", {"knowledge_ids": ids}).result.findings
    assert "“Contract”《Contract》: Client: Huber; Year: 2026." in finding.item.text
    assert "《Note》:" not in finding.item.text, "it says nothing in its fields"
    assert finding.query is not None
    assert finding.query.table is not None
    assert finding.query.table.columns[-2:] == ("Client", "Year")
    assert [line[-2:] for line in finding.query.table.rows] == [("Huber", 2026), ("", "")]
