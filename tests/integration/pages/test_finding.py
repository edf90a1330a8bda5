"""Finding documents by words and facts, choosing several, the counts of the tree, and a base in one step."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from authz.permissions import Right
from authz.principal import Principal
from knowledge import library
from knowledge.documents import search as document_search
from knowledge.embedding.base import EmbedderUnavailable
from knowledge.models import Document, DocumentVersion, KnowledgeBase
from knowledge.retrieval.search import search
from knowledge.services import access
from knowledge.services.trash import list_trashed_documents
from tests.factories import PASSAGE, allow, make_document, make_group, make_user
from tests.integration.pages.house import House, client_of, plain
from tests.sharing import share_world


def listed(filled: House, person: Any, **given: Any) -> list[str]:
    page = client_of(person).get(reverse("find"), given)
    assert page.status_code == 200
    return [row.document.filename for row in page.context["page"].object_list]


def make_filled() -> House:
    """Three documents the reader may read, one of them below, and one that is hidden from them."""
    house = House()
    assert house.document
    make_document(house.folder, "holiday.txt", "Thirty days of leave are given.", title="Holiday rules")
    make_document(house.below, "broken.pdf", b"%PDF-1.4\nnothing", ingested=True)
    assert house.hidden
    User.objects.filter(pk=house.reader.pk).update(first_name="伟", last_name="陈")
    Document.unscoped.filter(filename="holiday.txt").update(
        owner=house.reader, review_on=timezone.localdate() - timedelta(days=1)
    )
    DocumentVersion.unscoped.filter(document__filename="holiday.txt").update(
        created_at=timezone.now() - timedelta(days=20)
    )
    return house


shared_filled, filled = share_world("filled", make_filled)


def test_filters_narrow_what_the_person_may_read(filled: House) -> None:
    rows: list[tuple[dict[str, str], set[str]]] = [
        ({}, {"rolling.md", "holiday.txt", "broken.pdf"}),
        ({"type": ".pdf"}, {"broken.pdf"}),
        ({"owner": "keeper"}, {"rolling.md", "broken.pdf"}),
        ({"owner": "陈伟"}, {"holiday.txt"}),  # the name that the list shows, in either order of its parts
        ({"owner": "伟 陈"}, {"holiday.txt"}),
        ({"age": "7"}, {"rolling.md", "broken.pdf"}),
        ({"state": "ready"}, {"rolling.md"}),
        ({"state": "failed"}, {"broken.pdf"}),
        ({"state": "unfinished"}, {"holiday.txt"}),
        ({"state": "review"}, {"holiday.txt"}),
        ({"q": "HOLIDAY", "type": ".txt"}, {"holiday.txt"}),
        ({"type": "no such", "age": "x", "sort": "x", "page": "z"}, {"rolling.md", "holiday.txt", "broken.pdf"}),
        ({"folder": str(filled.below.pk)}, {"broken.pdf"}),
        ({"folder": str(filled.folder.pk)}, {"rolling.md", "holiday.txt", "broken.pdf"}),
        ({"folder": str(filled.sibling.pk)}, set()),  # hidden
    ]
    for given, expected in rows:
        assert set(listed(filled, filled.reader, **given)) == expected, given
    assert listed(filled, filled.reader, sort="oldest")[0] == "holiday.txt"
    assert listed(filled, filled.reader, sort="newest")[-1] == "holiday.txt"
    assert listed(filled, filled.reader, sort="largest")[0] == "rolling.md"


def test_people_find_exactly_what_they_may_read_with_and_without_words(filled: House) -> None:
    whole = make_user("whole")
    allow(whole, filled.base)
    read = {"rolling.md", "holiday.txt", "broken.pdf"}
    people = {filled.reader: read, filled.keeper: read, filled.stranger: set(), filled.elsewhere: set()}
    for person, expected in (people | {whole: read | {"plan.md"}}).items():
        assert set(listed(filled, person)) == expected, person
    assert listed(filled, whole, q="The plan is secret")[0] == "plan.md"
    assert "plan.md" not in listed(filled, filled.reader, q="The plan is secret")
    assert listed(filled, filled.stranger, q="The plan is secret") == []


def test_a_hidden_folder_is_not_named_beside_a_document_that_may_be_read(filled: House) -> None:
    access.grant_place_rights(None, [Right.VIEW], filled.hidden, to=filled.stranger)
    page = client_of(filled.stranger).get(reverse("find"))
    assert [row.document.filename for row in page.context["page"].object_list] == ["plan.md"]
    assert "Secret plans" not in plain(page.content)


def test_without_the_model_titles_are_searched_and_the_page_says_so(
    filled: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_args: object, **_named: object) -> None:
        raise EmbedderUnavailable("away")

    monkeypatch.setattr(document_search, "search_knowledge", gone)
    page = client_of(filled.reader).get(reverse("find"), {"q": "holiday"})
    assert [row.document.filename for row in page.context["page"].object_list] == ["holiday.txt"]
    assert "only titles and file names were" in plain(page.content)


def test_several_are_moved_trashed_and_put_back_and_hidden_ones_stay(filled: House) -> None:
    mine = list(Document.unscoped.filter(folder=filled.folder))
    ids = [str(row.pk) for row in mine]
    url, keeper = reverse("documents-several"), client_of(filled.keeper)
    keeper.post(url, {"documents": ids, "what": "move", "folder": str(filled.below.pk), "back": "q=x"})
    below = Document.unscoped.filter(folder=filled.below).values_list("filename", flat=True)
    assert set(below) == {"rolling.md", "holiday.txt", "broken.pdf"}
    page = keeper.post(url, {"documents": [*ids, str(filled.hidden.pk)], "what": "trash"}, follow=True)
    assert "There is no such document" in plain(page.content)
    assert {row.pk for row in list_trashed_documents(Principal.of(filled.keeper))} == {row.pk for row in mine}
    assert Document.unscoped.get(pk=filled.hidden.pk).trashed_at is None
    undo(keeper, page)
    assert not Document.unscoped.filter(trashed_at__isnull=False).exists()


def undo(by: Client, page: Any) -> Any:
    """Press the button of the notice, as the page has it."""
    form = plain(page.content).split('<ul class="notices">')[1].split("<form")[1].split("</form>")[0]
    ids = re.findall(r'name="documents" value="([^"]+)"', form)
    return by.post(reverse("documents-several"), {"what": "restore", "documents": ids}, follow=True)


def test_undo_asks_for_the_rights_of_now(filled: House) -> None:
    document = Document.unscoped.filter(folder=filled.folder)[0]
    keeper = client_of(filled.keeper)
    page = keeper.post(reverse("document-delete", args=[document.pk]), follow=True)
    access.deny_place_rights(None, [Right.CHANGE], filled.folder, to=filled.keeper)
    refused = undo(keeper, page)
    assert "There is no such document" in plain(refused.content)
    assert refused.redirect_chain[-1][0] == reverse("trash")
    assert Document.unscoped.filter(pk=document.pk, trashed_at__isnull=False).exists()


def test_a_reader_is_offered_no_choice_and_changes_nothing(filled: House) -> None:
    reader = client_of(filled.reader)
    assert 'name="documents"' not in plain(reader.get(reverse("find")).content)
    ids = list(Document.unscoped.filter(folder=filled.folder).values_list("pk", flat=True))
    reader.post(reverse("documents-several"), {"documents": ids, "what": "trash"})
    assert not Document.unscoped.filter(trashed_at__isnull=False).exists()
    assert reader.post(reverse("documents-several"), {"documents": ["x"], "what": "trash"}).status_code == 400
    assert reader.post(reverse("documents-several"), {"documents": ids, "what": "move"}).status_code == 400


def test_the_tree_counts_what_the_person_may_read(filled: House) -> None:
    def counts(person: Any) -> dict[str, int]:
        rows = library.build_folder_tree(Principal.of(person), filled.base, filled.below)
        found: dict[str, int] = {}
        for row in rows:
            found |= {row.name: row.count} | {child.name: child.count for child in row.children}
        return found

    assert counts(filled.reader) == {"Updates": 3, "Old": 1}
    whole = make_user("whole")
    allow(whole, filled.base)
    assert counts(whole)["Rules"] == 4
    access.deny_place_rights(None, [Right.VIEW], Document.unscoped.get(filename="rolling.md"), to=filled.reader)
    assert counts(filled.reader) == {"Updates": 2, "Old": 1}


def test_a_base_is_made_in_one_step_with_its_readers_and_files(filled: House) -> None:
    root, readers, others = make_user("root", is_superuser=True), make_group("Everybody"), make_group("Others")
    inside, outside = make_user("inside", groups=[readers]), make_user("outside", groups=[others])
    files = [SimpleUploadedFile("a.md", b"# A"), SimpleUploadedFile("old.doc", b"x")]
    given = {"name": "Handbook", "description": "Rules for all", "readers": [readers.pk], "first_files": files}
    client_of(root).post(reverse("base-new"), given, follow=True)
    base = KnowledgeBase.unscoped.get(name="Handbook")
    assert set(Document.objects.visible_to(Principal.of(inside)).values_list("filename", flat=True)) == {"a.md"}
    assert set(Document.objects.visible_to(Principal.of(root)).values_list("filename", flat=True)) == {"a.md"}
    assert not Document.objects.visible_to(Principal.of(outside)).exists()
    assert base.description == "Rules for all"


def test_a_base_that_cannot_be_made_says_why_and_makes_nothing(filled: House) -> None:
    root = make_user("root", is_superuser=True)
    before = KnowledgeBase.unscoped.count()
    page = client_of(root).post(
        reverse("base-new"), {"name": "Rules", "first_files": [SimpleUploadedFile("a.md", b"# A")]}
    )
    assert "There is already a knowledge base called" in plain(page.content)
    assert client_of(root).post(reverse("base-new"), {"name": " "}).status_code == 200
    for person in (filled.keeper, filled.stranger):
        assert client_of(person).get(reverse("base-new")).status_code == 403
        assert client_of(person).post(reverse("base-new"), {"name": "Mine"}).status_code == 403
        assert reverse("base-new") not in plain(client_of(person).get(reverse("library")).content)
    assert KnowledgeBase.unscoped.count() == before


def test_the_search_test_shows_both_orders_out_of_what_the_person_may_read(filled: House) -> None:
    whole = make_user("whole")
    allow(whole, filled.base)
    url, asked = reverse("search-test"), {"q": "The plan is secret", "left": "product", "right": "lexical"}
    seen = {}
    for person in (filled.reader, whole, filled.stranger):
        found = client_of(person).get(url, asked).context["found"]
        seen[person.username] = [{hit.passage.filename for hit in hits} for _setting, hits in found.sides]
    assert seen["stranger"] == [set(), set()]
    assert "plan.md" not in seen["reader"][0] | seen["reader"][1]
    assert "plan.md" in seen["whole"][0] & seen["whole"][1]
    sides = client_of(whole).get(url, asked).context["found"].sides
    assert [hit.place for hit in sides[0][1]] == list(range(1, len(sides[0][1]) + 1))
    assert sides[1][1][0].elsewhere == next(hit.place for hit in sides[0][1] if hit.passage.filename == "plan.md")


def test_what_is_superseded_answers_only_where_its_successor_is_not_found(filled: House) -> None:
    newer = make_document(filled.folder, "newer.md", PASSAGE, title="Newer", ingested=True)
    old = filled.document

    def found(person: Any) -> set[Any]:
        return {hit.passage.document_id for hit in search(Principal.of(person), "unavailable pods").hits}

    assert found(filled.reader) == {old.pk, newer.pk}
    Document.unscoped.filter(pk=old.pk).update(superseded_by=newer)
    assert found(filled.reader) == {newer.pk}
    access.deny_place_rights(None, [Right.VIEW], newer, to=filled.reader)
    assert found(filled.reader) == {old.pk}  # nobody loses an answer to a document that they may not see
    assert found(filled.keeper) == {newer.pk}


def test_only_whoever_sees_the_successor_is_told_that_there_is_one(filled: House) -> None:
    Document.unscoped.filter(filename="rolling.md").update(superseded_by=filled.hidden)
    Document.unscoped.filter(filename="holiday.txt").update(superseded_by=filled.document)
    whole = make_user("whole")
    allow(whole, filled.base)
    told = {}
    for person in (filled.reader, whole):
        page = client_of(person).get(reverse("find"))
        rows = plain(page.content).split("Documents that fit")[1]
        told[person.username] = (set(listed(filled, person, state="superseded")), rows.count("superseded"))
    assert told == {"reader": ({"holiday.txt"}, 1), "whole": ({"holiday.txt", "rolling.md"}, 2)}


def test_only_staff_who_manage_a_place_are_led_to_its_rights(filled: House) -> None:
    place = filled.folder
    address = reverse("rights-place", args=["folder", place.pk])

    def is_led(person: User) -> bool:
        return address in plain(client_of(person).get(reverse("folder", args=[place.pk])).content)

    assert not is_led(filled.keeper)
    User.objects.filter(pk__in=[filled.keeper.pk, filled.reader.pk]).update(is_staff=True)
    assert (is_led(filled.keeper), is_led(filled.reader)) == (True, False)
