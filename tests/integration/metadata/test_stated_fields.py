"""What a file states of itself (front matter): fields of its base are filled from it, the rest is the document's own."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Document, FieldKind, KnowledgeBase
from knowledge.retrieval.plan import documents_in
from knowledge.retrieval.search import Scope
from knowledge.services.fields import FieldSpec, change_metadata, conditions_of, set_fields
from knowledge.stated_fields import stated_of
from tests.factories import allow, make_base, make_document, make_user

pytestmark = pytest.mark.django_db
SPECS = [
    FieldSpec("Document no"),
    FieldSpec("Valid until", FieldKind.DATE),
    FieldSpec("State", FieldKind.CHOICE, ("valid", "draft")),
]


@pytest.fixture
def keeper() -> User:
    return make_user("manager")


@pytest.fixture
def base(keeper: User) -> KnowledgeBase:
    base = make_base("Contracts")
    allow(keeper, base, *Right)
    return base


def page(*front: str) -> str:
    return "\n".join(["---", "title: Onboarding", *front, "---", "", "# Onboarding", "", "Suppliers register."])


def written(base: KnowledgeBase, *front: str) -> Document:
    return make_document(base, "onboarding.md", page(*front), ingested=True)


def metadata_of(document: Document) -> dict[str, Any]:
    return Document.unscoped.get(pk=document.pk).metadata  # type: ignore[no-any-return]


def test_declared_fields_are_filled_and_filter(base: KnowledgeBase, keeper: User) -> None:
    by = Principal.of(keeper)
    set_fields(by, base.pk, SPECS)
    document = written(
        base, "document_no: ON-7", "VALID-UNTIL: 2027-03-31", "state: gone", "owner: Purchasing <b>desk</b>"
    )
    assert metadata_of(document) == {"Document no": "ON-7", "Valid until": "2027-03-31"}
    for given, found in (({"equals": "ON-7"}, {document.pk}), ({"equals": "ON-8"}, set())):
        scope = Scope(metadata=conditions_of(by, [{"field": "Document no", **given}]))
        assert set(documents_in(by, scope).values_list("pk", flat=True)) == found

    client = Client()
    client.force_login(keeper)
    shown = client.get(reverse("document", args=[document.pk])).content.decode()
    assert "<dt>owner</dt><dd>Purchasing &lt;b&gt;desk&lt;/b&gt;</dd>" in shown
    assert "<dt>state</dt><dd>gone</dd>" in shown, "a value that does not fit its field"
    assert "<dt>document_no</dt>" not in shown
    assert client.get(f"/api/v1/documents/{document.pk}").json()["stated"]["owner"] == "Purchasing <b>desk</b>"


def test_a_new_file_changes_what_the_one_before_stated_and_nothing_else(base: KnowledgeBase, keeper: User) -> None:
    by = Principal.of(keeper)
    set_fields(by, base.pk, SPECS)
    document = written(base, "document_no: ON-7", "valid_until: 2027-03-31", "state: draft")
    change_metadata(by, document_id=document.pk, values={"State": "valid"})
    written(base, "document_no: ON-8", "state: draft")
    assert metadata_of(document) == {"Document no": "ON-8", "State": "valid"}


def test_fields_that_are_declared_later_are_filled_from_the_files(base: KnowledgeBase, keeper: User) -> None:
    document, other = written(base, "document_no: ON-7", "state: draft"), make_document(base, "plain.md", ingested=True)
    assert metadata_of(document) == {}
    set_fields(Principal.of(keeper), base.pk, SPECS)
    assert (metadata_of(document), metadata_of(other)) == ({"Document no": "ON-7", "State": "draft"}, {})
    change_metadata(Principal.of(keeper), document_id=document.pk, values={"State": None})
    set_fields(Principal.of(keeper), base.pk, [*SPECS, FieldSpec("Owner")])
    assert metadata_of(document) == {"Document no": "ON-7"}, "a field that was there stays as somebody set it"


def test_what_is_kept_is_bounded_and_one_line() -> None:
    kept = stated_of(
        {"a\0b": "x\0\ny", "": "nameless", "blank": " ", "long": "x" * 9_000} | {f"n{n}": "v" for n in range(500)}
    )
    assert (kept["a b"], len(kept["long"]), len(kept)) == ("x y", 2_000, 100)
