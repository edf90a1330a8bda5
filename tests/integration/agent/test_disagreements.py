"""Two documents that say something else of the same are both shown, each with where it is, to whoever may read both."""

from collections.abc import Callable
from contextlib import nullcontext

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from agent.events import Answer, Complete, References
from agent.models import Message
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from knowledge.models import KnowledgeBase
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.conversations import LEAVE, asked, sources, stored
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled, of
from tests.integration.pages.house import client_of
from tests.modelserver import says
from tests.sharing import Share

pytestmark = pytest.mark.django_db

NEW = "# Leave 2026\n\nEmployees have 30 days of annual leave in each calendar year.\n"
OLD = NEW.replace("30", "25").replace("2026", "2024")
TOLD = "Sources 1 and 2 disagree."


Bases = tuple[KnowledgeBase, KnowledgeBase]


@pytest.fixture(scope="module")
def shared_bases(share: Share) -> Callable[[], Bases]:
    return share(make_bases)


@pytest.fixture
def bases(shared_bases: Callable[[], Bases], db: None) -> Bases:
    return shared_bases()


def make_bases() -> Bases:
    """Two bases with a rule each; the one of the archive is older."""
    archive, handbook = make_base("Archive"), make_base("Handbook")
    make_document(archive, "leave-2024.md", OLD, ingested=True)
    make_document(handbook, "leave-2026.md", NEW, ingested=True)
    return archive, handbook


def reader_of(*bases: KnowledgeBase) -> User:
    reader = make_user()
    for base in bases:
        allow(reader, base)
    return reader


def page_of(reader: User, row: Message) -> str:
    return client_of(reader).get(reverse("conversation", args=[row.session_id])).content.decode()


@pytest.mark.parametrize("has_model", [False, True])
def test_both_are_shown_with_place_version_and_day_the_newer_first(bases: Bases, *, has_model: bool) -> None:
    reader = reader_of(*bases)
    with modelled(SEARCH, says(THIRTY)) if has_model else nullcontext():
        events = asked(reader, LEAVE)
    row = stored(events)
    assert set(sources(events)) == {"Leave 2024", "Leave 2026"}
    (pair,) = of(events, Answer)[-1].data["disagreements"]
    assert sorted(pair) == [1, 2]
    assert TOLD in of(events, Complete)[-1].data["notices"]
    assert {reference.number for reference in of(events, References)[-1].knowledge_references} == {1, 2}
    block = page_of(reader, row).rsplit("<figcaption", 1)[1].split("</figure>", 1)[0]
    assert block.index("Leave 2026") < block.index("Leave 2024")
    assert "25 days" in block
    assert "30 days" in block
    assert "Archive" in block
    assert "version 1" in block


def test_who_may_read_one_sees_no_disagreement(bases: Bases) -> None:
    reader = reader_of(bases[1])
    events = asked(reader, LEAVE)
    assert sources(events) == ["Leave 2026"]
    assert "disagreements" not in of(events, Answer)[-1].data
    assert "disagree" not in page_of(reader, stored(events))


def test_who_may_no_longer_read_one_is_not_shown_what_it_says(bases: Bases) -> None:
    reader = reader_of(*bases)
    row = stored(asked(reader, LEAVE))
    assert "<figcaption" in page_of(reader, row)
    revoke_rights(None, (Right.VIEW,), bases[0], of=reader)
    page = page_of(reader, row)
    assert "Leave 2024" not in page
    assert "25 days" not in page
