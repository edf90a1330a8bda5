"""The palette and the list of places name what a person may see, and nothing beside it."""

from uuid import UUID

from django.contrib.auth.models import User
from django.urls import reverse

from agent.models import Message, MessageRole, Session
from agent.palette.finding import find_passages, search_palette
from agent.palette.places import find_places, list_scope_places
from agent.profiles.kept_scope import convert_scope_to_json, read_stored_scope
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from knowledge.retrieval.search import Scope
from tests.factories import allow, make_base, make_document, make_folder
from tests.integration.pages.house import House, client_of, principal_of
from tests.sharing import share_world


def names(person: User, words: str) -> set[tuple[str, str]]:
    """What the palette finds, as (kind, name)."""
    found = search_palette(principal_of(person), person, words)
    return {
        *(("conversation", conversation.title) for conversation in found.conversations),
        *(("document", document.title) for document in found.documents),
        *((place.kind, place.name) for place in found.places),
    }


def places(person: User, words: str) -> set[tuple[str, str, int]]:
    return {(place.kind, place.name, place.count) for place in find_places(principal_of(person), words)}


def make_release() -> House:
    """Two of everything that is called “release”: one in what the reader may see, one beside it."""
    house = House()
    make_document(make_folder(house.folder, "Release notes"), "release-one.md", "# Release one\n\nText.", ingested=True)
    make_document(
        make_folder(house.sibling, "Release plans"), "release-two.md", "# Release two\n\nText.", ingested=True
    )
    allow(house.reader, make_base("Release base"))
    make_base("Release of others")
    for person in (house.reader, house.keeper):
        session = Session.objects.create(user=person, title=f"Of {person.username}")
        Message.objects.create(
            session=session, role=MessageRole.USER, content=f"Which release is the last of {person.username}?"
        )
    return house


shared_release, release = share_world("release", make_release)


def test_what_is_found_is_what_the_person_may_see(release: House) -> None:
    visible = {
        ("conversation", "Of reader"),
        ("document", "Release one"),
        ("folder", "Release notes"),
        ("base", "Release base"),
    }
    assert names(release.reader, "release") == visible
    assert names(release.reader, "RELEASE one") == {("document", "Release one")}
    assert names(release.stranger, "release") == set()
    revoke_rights(None, [Right.VIEW], release.folder, of=release.reader)
    assert names(release.reader, "release") == {("conversation", "Of reader"), ("base", "Release base")}


def test_words_of_texts_find_the_documents_that_the_person_may_read(release: House) -> None:
    def found(person: User, words: str) -> set[tuple[str, str]]:
        return {(passage.title, passage.snippet) for passage in find_passages(principal_of(person), words)}

    for folder, title in ((release.folder, "Gateways"), (release.sibling, "Secret gateways")):
        text = f"# {title}\n\nThe gateway KG-400 works from -40 to 70 degrees."
        make_document(folder, f"{title}.md", text, ingested=True)
    snippet = "Gateways The gateway <b>KG-400</b> works from -40 to 70 degrees."
    assert found(release.reader, "KG-400") == {("Gateways", snippet)}
    assert found(release.reader, "gateway") == set()  # the palette finds it by its name
    assert found(release.stranger, "KG-400") == set()
    revoke_rights(None, [Right.VIEW], release.folder, of=release.reader)
    assert found(release.reader, "KG-400") == set()
    client_of(release.reader).get(reverse("palette-passages"), {"q": "KG-400"})
    assert Entry.objects.filter(action=Action.SEARCHED).exists()


def test_places_count_what_the_person_is_answered_from(release: House) -> None:
    make_document(release.folder, "unread.md", "# Unread\n\nText.")
    assert places(release.reader, "rules") == {("base", "Rules", 1)}
    assert places(release.keeper, "release") == {("folder", "Release notes", 1), ("document", "Release one", 1)}
    allow(release.reader, release.base)
    assert places(release.reader, "rules") == {("base", "Rules", 2)}
    assert places(release.reader, "updates") == {("folder", "Updates", 1)}
    assert places(release.stranger, "") == set()


def test_a_question_finds_its_conversation_with_the_words_marked(release: House) -> None:
    found = search_palette(principal_of(release.reader), release.reader, "which release").conversations
    assert [str(item.snippet) for item in found] == ["Which <b>release</b> is the last of reader?"]
    evil = Session.objects.create(user=release.reader, title="Evil")
    Message.objects.create(session=evil, role=MessageRole.USER, content="<script>alert(1)</script> crashes?")
    body = client_of(release.reader).get(reverse("palette"), {"q": "crashes"}).content.decode()
    assert "<script>" not in body
    assert "&lt;script&gt;" in body


def test_the_places_of_a_conversation_are_named_under_todays_rights(release: House) -> None:
    folder = next(place for place in find_places(principal_of(release.reader), "notes") if place.kind == "folder")
    assert isinstance(folder.id, UUID)
    scope = Scope(folder_ids=(folder.id,))
    assert read_stored_scope(convert_scope_to_json(scope)) == scope
    session = Session.objects.create(user=release.reader, title="Narrow", scope=convert_scope_to_json(scope))
    page = reverse("conversation", args=[session.pk])
    assert "in Release notes: one document you can read" in client_of(release.reader).get(page).content.decode()
    revoke_rights(None, [Right.VIEW], release.folder, of=release.reader)
    body = client_of(release.reader).get(page).content.decode()
    assert "Release notes" not in body
    assert "in a place you can no longer see" in body
    assert [(place.name, place.count) for place in list_scope_places(principal_of(release.reader), scope)] == [("", 0)]
