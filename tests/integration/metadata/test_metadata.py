"""Fields of a base and what documents say in them: who may set them, what fits, and what a search brings that is narrowed by them."""

from typing import Any
from uuid import UUID

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound, PermissionDenied
from knowledge.graph.traversal import traverse_from_question
from knowledge.models import Document, DocumentField, FieldKind, KnowledgeBase
from knowledge.retrieval.conditions import FieldCondition
from knowledge.retrieval.plan import select_documents
from knowledge.retrieval.search import Scope, search
from knowledge.services.fields import FieldSpec, change_metadata, list_fields, parse_conditions, set_fields
from knowledge.stated_fields import clean_front_matter
from knowledge.tool_selectors import list_documents_in_scope
from tests.factories import allow, make_base, make_document, make_user
from tests.sharing import share_world

pytestmark = pytest.mark.django_db
QUESTION = "How long is the notice period?"
SPECS = [
    FieldSpec("State", FieldKind.CHOICE, ("valid", "draft")),
    FieldSpec("Year", FieldKind.NUMBER),
    FieldSpec("Valid until", FieldKind.DATE),
    FieldSpec("Client", FieldKind.TEXT),
]
VALUES: list[dict[str, Any]] = [
    {"State": "valid", "Year": 2024, "Valid until": "2026-12-31", "Client": "Müller & Söhne"},
    {"State": "draft", "Year": 2026, "Valid until": "2027-06-30", "Client": "Huber"},
    {"Year": "2025"},
    {},
]


class Library:
    """Four documents that the reader may read, with VALUES; a fifth that says the same as the first, which they may not."""

    def __init__(self) -> None:
        self.base = make_base("Contracts")
        self.keeper, self.reader = make_user("manager"), make_user("reader")
        allow(self.keeper, self.base, *Right)
        allow(self.reader, self.base)
        self.other = make_base("Others")
        allow(self.keeper, self.other, *Right)
        self.seen = [make_document(self.base, f"{n}.md", lines(n), ingested=True) for n in range(4)]
        self.hidden = make_document(self.other, "hidden.md", lines(9), ingested=True)
        for base in (self.base, self.other):
            set_fields(Principal.of(self.keeper), base.pk, SPECS)
        for document, values in zip([*self.seen, self.hidden], [*VALUES, VALUES[0]], strict=True):
            change_metadata(Principal.of(self.keeper), document_id=document.pk, values=values)


def lines(number: int) -> str:
    return f"# Notice {number}\n\nThe notice period of contract {number} is {number} weeks.\n"


shared_library, library = share_world("library", Library)


CASES: list[tuple[FieldCondition, list[int]]] = [
    (FieldCondition("State", equals="valid"), [0]),
    (FieldCondition("Year", at_least=2025), [1, 2]),
    (FieldCondition("Year", at_least=2024, at_most=2025), [0, 2]),
    (FieldCondition("Year", equals=2025), [2]),
    (FieldCondition("Valid until", at_most="2026-12-31"), [0]),
    (FieldCondition("Valid until", at_least="2027-01-01"), [1]),
    (FieldCondition("Client", contains="müLLer"), [0]),
    (FieldCondition("Client", contains="_"), []),
    (FieldCondition("Client", at_most=5), []),
    (FieldCondition("'; DROP TABLE knowledge_document; --%s", equals="x"), []),
]


def test_a_search_brings_what_fits_and_may_be_read(library: Library, settings: LazySettings) -> None:
    reader = Principal.of(library.reader)
    for condition, expected in CASES:
        scope, ids = Scope(metadata=(condition,)), {library.seen[place].pk for place in expected}
        for settings.SEARCH_EXACT_LIMIT in (50_000, 0):
            hits = search(reader, QUESTION, scope=scope, top_k=10).hits
            assert {hit.passage.document_id for hit in hits} == ids, condition
        assert set(select_documents(reader, scope).values_list("pk", flat=True)) == ids
        assert set(list_documents_in_scope(reader, scope).values_list("pk", flat=True)) == ids
        traverse_from_question(
            reader, "What is known of “Notice 0”?", scope
        )  # the statement is one that PostgreSQL takes
    both = Scope(metadata=(FieldCondition("State", equals="draft"), FieldCondition("Year", at_most=2025)))
    assert search(reader, QUESTION, scope=both, top_k=10).hits == [], "several conditions all hold"


def metadata_of(document: Document) -> dict[str, Any]:
    return Document.unscoped.get(pk=document.pk).metadata  # type: ignore[no-any-return]


UNFIT: list[tuple[str, Any]] = [
    ("State", "gone"), ("State", ["valid"]), ("Year", "soon"), ("Year", "nan"), ("Year", 1e300), ("Year", True), ("Year", [1]),
    ("Valid until", "31.12.2026"), ("Valid until", 7), ("Client", "x" * 301), ("Client", {"a": 1}), ("Colour", "red"),
]  # fmt: skip


def test_what_does_not_fit_is_refused_and_changes_nothing(library: Library) -> None:
    for name, value in UNFIT:
        with pytest.raises(InvalidInput):
            change_metadata(
                Principal.of(library.keeper), document_id=library.seen[0].pk, values={"Client": "x", name: value}
            )
        assert metadata_of(library.seen[0]) == VALUES[0]


def test_fields_that_go_take_their_values_along_and_others_stay(library: Library) -> None:
    by = Principal.of(library.keeper)
    kept = [FieldSpec("State", FieldKind.CHOICE, ("valid", "ended")), FieldSpec("Year", FieldKind.TEXT), SPECS[3]]
    set_fields(by, library.base.pk, kept)
    found = [metadata_of(document) for document in library.seen]
    assert found == [{"State": "valid", "Client": "Müller & Söhne"}, {"Client": "Huber"}, {}, {}]
    assert metadata_of(library.hidden) == VALUES[0]  # of another base
    assert [field.name for field in list_fields(by, library.base.pk)] == ["State", "Year", "Client"]


def test_fields_that_cannot_be_are_refused(library: Library) -> None:
    for specs in (
        [FieldSpec(" ")], [FieldSpec("x" * 61)], [FieldSpec("A"), FieldSpec(" A ")], [FieldSpec("A", FieldKind.CHOICE)],
        [FieldSpec(f"{n}") for n in range(31)],
    ):  # fmt: skip
        with pytest.raises(InvalidInput):
            set_fields(Principal.of(library.keeper), library.base.pk, specs)
    assert DocumentField.unscoped.filter(knowledge_base=library.base).count() == 4


def test_who_may_set_fields_and_values(library: Library) -> None:
    reader = Principal.of(library.reader)
    with pytest.raises(NotFound):
        set_fields(reader, library.base.pk, [])
    with pytest.raises(PermissionDenied):
        change_metadata(reader, document_id=library.seen[0].pk, values={"Year": 1})
    with pytest.raises(NotFound):
        change_metadata(reader, document_id=library.hidden.pk, values={"Year": 1})
    stranger = Principal.of(make_user())
    assert [list(list_fields(item, library.other.pk)) for item in (reader, stranger)] == [[], []]
    with pytest.raises(InvalidInput):
        parse_conditions(stranger, [{"field": "Year", "equals": "2024"}])


def test_a_name_of_two_kinds_is_asked_back(library: Library) -> None:
    by = Principal.of(library.keeper)
    set_fields(by, library.other.pk, [FieldSpec("Year", FieldKind.TEXT)])
    with pytest.raises(InvalidInput, match="several kinds"):
        parse_conditions(by, [{"field": "Year", "equals": "2024"}])
    (condition,) = parse_conditions(by, [{"field": "Year", "equals": "2024"}], [library.base.pk])
    assert condition == FieldCondition("Year", equals=2024)


def browser(user: User) -> Client:
    page = Client()
    page.force_login(user)
    return page


def test_the_api_sets_shows_and_searches_by_fields(library: Library) -> None:
    keeper, reader = browser(library.keeper), browser(library.reader)
    fields, values = (
        f"/api/v1/knowledge-bases/{library.base.pk}/fields",
        f"/api/v1/documents/{library.seen[3].pk}/metadata",
    )
    assert [item["name"] for item in reader.get(fields).json()] == ["State", "Year", "Valid until", "Client"]
    body: dict[str, Any] = {"fields": [{"name": "Year", "kind": "number"}, {"name": "Team"}]}
    assert reader.put(fields, body, "application/json").status_code == 404
    assert keeper.put(fields, body, "application/json").json() == [
        {"name": "Year", "kind": "number", "choices": []}, {"name": "Team", "kind": "text", "choices": []},
    ]  # fmt: skip
    said = {"metadata": {"Team": "Legal", "Year": 2030}}
    assert reader.patch(values, said, "application/json").status_code == 403
    assert keeper.patch(values, said, "application/json").json()["metadata"] == said["metadata"]
    assert keeper.patch(values, {"metadata": {"Year": None}}, "application/json").json()["metadata"] == {
        "Team": "Legal"
    }
    assert reader.get(values.removesuffix("/metadata")).json()["metadata"] == {"Team": "Legal"}
    assert found(reader, [{"field": "Team", "equals": "Legal"}]) == {library.seen[3].pk}
    assert found(reader, [{"field": "Year", "at_least": 2025}]) == {library.seen[1].pk, library.seen[2].pk}
    for wrong in (
        [{"field": "Colour", "equals": "red"}],
        [{"field": "Year", "equals": "soon"}],
        [{"equals": "x"}],
        "x",
    ):
        answer = reader.post("/api/v1/knowledge-search", {"query": QUESTION, "metadata": wrong}, "application/json")
        assert answer.status_code == 400


def found(by: Client, metadata: list[dict[str, Any]]) -> set[UUID]:
    answer = by.post("/api/v1/knowledge-search", {"query": QUESTION, "metadata": metadata}, "application/json")
    assert answer.status_code == 200, answer.content
    return {UUID(hit["knowledge_id"]) for hit in answer.json()["hits"]}


def test_the_pages_show_set_and_narrow(library: Library) -> None:
    User.objects.filter(pk=library.keeper.pk).update(is_staff=True)
    keeper, reader = browser(library.keeper), browser(library.reader)
    document = library.seen[0]
    shown = reader.get(f"/documents/{document.pk}/").content.decode()
    assert "Müller &amp; Söhne" in shown
    assert "31 Dec 2026" in shown
    assert "change-metadata" not in shown
    assert "change-metadata" in keeper.get(f"/documents/{document.pk}/").content.decode()
    keeper.post(f"/documents/{document.pk}/metadata/", {"field_0": "draft", "field_1": "2020", "field_2": "2027-01-31"})
    assert metadata_of(document) == {"State": "draft", "Year": 2020, "Valid until": "2027-01-31"}
    keeper.post(f"/documents/{document.pk}/metadata/", {"field_0": "gone"})
    assert metadata_of(document)["State"] == "draft"
    assert reader.post(f"/documents/{document.pk}/metadata/", {}).status_code == 403
    page = reader.get("/library/find/", {"base": str(library.base.pk), "field_1_at_least": "2025"})
    assert {row.document.pk for row in page.context["page"].object_list} == {item.pk for item in library.seen[1:3]}
    assert "Year from" in page.content.decode()


def management(*rows: dict[str, str]) -> dict[str, str]:
    forms = {f"form-{place}-{name}": value for place, row in enumerate(rows) for name, value in row.items()}
    return {"form-TOTAL_FORMS": str(len(rows)), "form-INITIAL_FORMS": "4", **forms}


def test_the_administration_sets_the_fields(library: Library) -> None:
    User.objects.filter(pk=library.keeper.pk).update(is_staff=True)
    User.objects.filter(pk=library.reader.pk).update(is_staff=True)
    keeper, address = browser(library.keeper), f"/admin/fields/{library.base.pk}/"
    assert "Valid until" in keeper.get(address).content.decode()
    state = {"name": "State", "kind": "choice", "choices": "valid\ndraft"}
    rows = [state, {"name": "", "kind": "number"}, {"name": "Note", "kind": "text"}]
    assert keeper.post(address, management(*rows)).status_code == 302
    assert [(f.name, f.kind) for f in DocumentField.unscoped.filter(knowledge_base=library.base)] == [
        ("State", "choice"),
        ("Note", "text"),
    ]
    wrong = keeper.post(address, management({"name": "State", "kind": "choice"}))
    assert wrong.status_code == 400
    assert "name what can be chosen" in wrong.content.decode()
    assert browser(library.reader).get(address).status_code == 404
    assert KnowledgeBase.unscoped.filter(pk=library.base.pk).exists()


# Metadata in the file itself (front matter)

STATED = [
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


def test_declared_fields_are_filled_and_filter(base: KnowledgeBase, keeper: User) -> None:
    by = Principal.of(keeper)
    set_fields(by, base.pk, STATED)
    document = written(
        base, "document_no: ON-7", "VALID-UNTIL: 2027-03-31", "state: gone", "owner: Purchasing <b>desk</b>"
    )
    assert metadata_of(document) == {"Document no": "ON-7", "Valid until": "2027-03-31"}
    for given, found in (({"equals": "ON-7"}, {document.pk}), ({"equals": "ON-8"}, set())):
        scope = Scope(metadata=parse_conditions(by, [{"field": "Document no", **given}]))
        assert set(select_documents(by, scope).values_list("pk", flat=True)) == found

    client = Client()
    client.force_login(keeper)
    shown = client.get(reverse("document", args=[document.pk])).content.decode()
    assert "<dt>owner</dt><dd>Purchasing &lt;b&gt;desk&lt;/b&gt;</dd>" in shown
    assert "<dt>state</dt><dd>gone</dd>" in shown, "a value that does not fit its field"
    assert "<dt>document_no</dt>" not in shown
    assert client.get(f"/api/v1/documents/{document.pk}").json()["stated"]["owner"] == "Purchasing <b>desk</b>"


def test_a_new_file_changes_what_the_one_before_stated_and_nothing_else(base: KnowledgeBase, keeper: User) -> None:
    by = Principal.of(keeper)
    set_fields(by, base.pk, STATED)
    document = written(base, "document_no: ON-7", "valid_until: 2027-03-31", "state: draft")
    change_metadata(by, document_id=document.pk, values={"State": "valid"})
    written(base, "document_no: ON-8", "state: draft")
    assert metadata_of(document) == {"Document no": "ON-8", "State": "valid"}


def test_fields_that_are_declared_later_are_filled_from_the_files(base: KnowledgeBase, keeper: User) -> None:
    document, other = written(base, "document_no: ON-7", "state: draft"), make_document(base, "plain.md", ingested=True)
    assert metadata_of(document) == {}
    set_fields(Principal.of(keeper), base.pk, STATED)
    assert (metadata_of(document), metadata_of(other)) == ({"Document no": "ON-7", "State": "draft"}, {})
    change_metadata(Principal.of(keeper), document_id=document.pk, values={"State": None})
    set_fields(Principal.of(keeper), base.pk, [*STATED, FieldSpec("Owner")])
    assert metadata_of(document) == {"Document no": "ON-7"}, "a field that was there stays as somebody set it"


def test_what_is_kept_is_bounded_and_one_line() -> None:
    kept = clean_front_matter(
        {"a\0b": "x\0\ny", "": "nameless", "blank": " ", "long": "x" * 9_000} | {f"n{n}": "v" for n in range(500)}
    )
    assert (kept["a b"], len(kept["long"]), len(kept)) == ("x y", 2_000, 100)
