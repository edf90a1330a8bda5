"""A base may want the versions of its documents to be approved: whoever manages them says so, readers see whether it was said."""

import pytest
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from knowledge.models import Document, DocumentVersion, KnowledgeBase
from tests.factories import allow, make_document, make_user
from tests.integration.pages.house import House, client_of

pytestmark = pytest.mark.django_db
WAITS = "is not approved yet"


@pytest.fixture
def house(house: House) -> House:
    KnowledgeBase.unscoped.filter(pk=house.base.pk).update(is_approval_wanted=True)
    assert house.document
    return house


def approved(house: House) -> set[int]:
    versions = DocumentVersion.unscoped.filter(document=house.document).exclude(approved_at=None)
    return set(versions.values_list("number", flat=True))


def address(house: House, number: int = 1) -> str:
    return reverse("version-approve", args=[house.document.pk, number])


def page_of(house: House, document: Document, *, by: str = "reader") -> str:
    return client_of(getattr(house, by)).get(reverse("document", args=[document.pk])).content.decode()


def unapproved_for(house: House) -> set[str]:
    page = client_of(house.reader).get(reverse("find"), {"state": "unapproved"})
    return {row.document.filename for row in page.context["page"].object_list}


def test_managers_approve_a_version_for_all_readers_and_the_next_version_waits(house: House) -> None:
    assert WAITS in page_of(house, house.document)
    assert address(house) not in page_of(house, house.document)  # a reader is offered no button
    assert address(house) in page_of(house, house.document, by="keeper")
    assert unapproved_for(house) == {"rolling.md"}
    assert client_of(house.keeper).post(address(house)).status_code == 302
    assert approved(house) == {1}
    page = page_of(house, house.document)
    assert (WAITS in page, "Approved on" in page) == (False, True)
    assert unapproved_for(house) == set()
    entry = Entry.objects.get(action=Action.VERSION_APPROVED)
    assert (entry.actor_name, entry.detail) == (house.keeper.username, {"version": 1})
    make_document(house.folder, "rolling.md", "# Rolling\n\nAt most 30% of the pods are unavailable.", ingested=True)
    assert WAITS in page_of(house, house.document)
    assert unapproved_for(house) == {"rolling.md"}
    assert approved(house) == {1}


def test_whoever_may_not_manage_it_approves_nothing(house: House) -> None:
    editor = make_user("editor")
    allow(editor, house.folder, Right.VIEW, Right.CHANGE, Right.ADD, Right.DOWNLOAD)
    assert [client_of(item).post(address(house)).status_code for item in (editor, house.reader, house.stranger)] == [
        403, 403, 404,
    ]  # fmt: skip
    assert approved(house) == set()


def test_there_is_nothing_to_approve_twice_unread_or_where_no_base_wants_it(house: House) -> None:
    unread = make_document(house.folder, "waits.md")
    client_of(house.keeper).post(reverse("version-approve", args=[unread.pk, 1]))
    client_of(house.keeper).post(address(house))
    client_of(house.keeper).post(address(house))
    assert Entry.objects.filter(action=Action.VERSION_APPROVED).count() == 1
    KnowledgeBase.unscoped.update(is_approval_wanted=False)
    assert WAITS not in page_of(house, unread)
    DocumentVersion.unscoped.update(approved_at=None)
    client_of(house.keeper).post(address(house))
    assert approved(house) == set()
    assert unapproved_for(house) == set()
