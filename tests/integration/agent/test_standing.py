"""What answers say of documents that nobody approved yet, or that are superseded; and which of two that differ comes first."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agent.events import Answer, Complete
from agent.models import Message
from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Document, DocumentVersion, KnowledgeBase
from knowledge.retrieval.search import search
from knowledge.selectors import list_document_passages
from knowledge.services import access
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.conversations import LEAVE, asked, sources, stored
from tests.integration.agent.modelled import THIRTY, modelled, of, sent
from tests.modelserver import says
from tests.sharing import Share

pytestmark = pytest.mark.django_db
NEW = "# Leave 2026\n\nEmployees have 30 days of annual leave in each calendar year.\n"
OLD = NEW.replace("30", "25").replace("2026", "2024")
WAITS = "not approved yet"


class Rules:
    """A base that wants approval, with the rule of 2024, which is approved, and a newer one of 2026, which is not."""

    def __init__(self) -> None:
        self.base = make_base("Rules")
        KnowledgeBase.unscoped.filter(pk=self.base.pk).update(is_approval_wanted=True)
        self.old = make_document(self.base, "leave-2024.md", OLD, ingested=True)
        self.new = make_document(self.base, "leave-2026.md", NEW, ingested=True)
        self.reader = make_user()
        allow(self.reader, self.base)
        self.approve(self.old)

    def approve(self, *documents: Document) -> None:
        DocumentVersion.unscoped.filter(document__in=documents).update(approved_at=timezone.now())


@pytest.fixture(scope="module")
def shared_rules(share: Share) -> Callable[[], Rules]:
    return share(Rules)


@pytest.fixture
def rules(shared_rules: Callable[[], Rules], db: None) -> Rules:
    return shared_rules()


def page_of(reader: User, row: Message) -> str:
    client = Client()
    client.force_login(reader)
    return client.get(reverse("conversation", args=[row.session_id])).content.decode()


def said(events: list[Any]) -> str:
    return "".join(item.content or "" for item in of(events, Answer))


def test_each_way_to_a_passage_knows_whether_it_is_approved(rules: Rules) -> None:
    reader = Principal.of(rules.reader)
    for is_wanted in (True, False):
        KnowledgeBase.unscoped.update(is_approval_wanted=is_wanted)
        read = [passage for document in (rules.old, rules.new) for passage in list_document_passages(reader, document)]
        found = [hit.passage for hit in search(reader, LEAVE).hits]
        for passages in (read, found):
            assert {passage.document_id for passage in passages if passage.is_unapproved} == (
                {rules.new.pk} if is_wanted else set()
            )


def test_an_answer_quotes_the_approved_one_of_two_that_differ(rules: Rules) -> None:
    events = asked(rules.reader, LEAVE)
    row = stored(events)
    assert set(sources(events)) == {"Leave 2024", "Leave 2026"}
    assert "25 days" in said(events)
    assert "30 days" not in said(events)
    block = page_of(rules.reader, row).rsplit("<figcaption", 1)[1].split("</figure>", 1)[0]
    assert "the approved one first" in block
    assert block.index("Leave 2024") < block.index("Leave 2026")


def test_an_answer_from_what_nobody_approved_says_so(rules: Rules) -> None:
    access.deny_place_rights(None, [Right.VIEW], rules.old, to=rules.reader)
    events = asked(rules.reader, LEAVE)
    assert "30 days" in said(events)
    assert "Source 1 is not approved yet." in of(events, Complete)[-1].data["notices"]
    row = stored(events)
    assert page_of(rules.reader, row).count(WAITS) > 1  # the sentence, and the source itself
    rules.approve(rules.new)
    assert page_of(rules.reader, row).count(WAITS) == 1, "the sentence was true then; the source is as it is today"


def test_a_model_gets_the_approved_first_and_a_mark_on_the_other(rules: Rules) -> None:
    with modelled(says(THIRTY.replace("30", "25"))) as server:
        events = asked(rules.reader, LEAVE)
    asking = sent(server.requests[-1])
    assert asking.index("25 days") < asking.rindex('approved="no"') < asking.index("30 days")
    assert asking.count('approved="no"') == 2  # on one piece of evidence, and in what is said of the mark
    rules.approve(rules.new)
    with modelled(says(THIRTY)) as server:
        events = asked(rules.reader, LEAVE)
    assert sent(server.requests[-1]).count('approved="no"') == 1, "what the mark means"
    assert "answer_unapproved.en" not in stored(events).prompts
    assert not [item for item in of(events, Complete)[-1].data.get("notices", []) if WAITS in item]
    assert WAITS not in page_of(rules.reader, stored(events)), "an answer from what is approved says nothing of it"


def test_a_source_that_another_one_holds_instead_of_says_so_to_who_may_see_that_one(rules: Rules) -> None:
    elsewhere = make_document(make_base("Drafts"), "other.md", "# Canteen\n\nSoup is served at noon.\n", ingested=True)
    row = stored(asked(rules.reader, LEAVE))
    assert "superseded" not in page_of(rules.reader, row)
    Document.unscoped.filter(pk=rules.old.pk).update(superseded_by=elsewhere)
    assert "superseded" not in page_of(rules.reader, row)
    allow(rules.reader, elsewhere.knowledge_base)
    assert "superseded" in page_of(rules.reader, row)
