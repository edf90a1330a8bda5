"""The API through another person's eyes: exactly what they see, by whom the page lets look, recorded, and nothing stored."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import InternalError
from rest_framework.test import APIClient

from agent.models import Message, Session
from agent.rest import impersonation as see_as_module
from agent.rest.impersonation import MayOversee
from audit.actions import Action
from audit.models import Entry
from authz.models import PermissionSnapshot
from authz.permissions import Right
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.services import access
from tests.factories import allow, make_base, make_folder, make_user
from tests.integration.agent.conversations import LEAVE, SALARY, asked, make_reader, stored
from tests.integration.governance.world import World, make_overseer, staff
from tests.integration.rest.world import signed_in
from tests.tokens import client_with

pytestmark = pytest.mark.django_db

LISTS = {"knowledge-bases": "name", "folders": "name", "documents": "filename"}
ASKS: dict[str, dict[str, str]] = {
    "knowledge-search": {"query": "annual leave"},
    "answer": {"query": LEAVE},
}
DOORS = (*LISTS, *ASKS)
each_kind = pytest.mark.parametrize("door", ["documents", *ASKS])  # the lists are one view


@pytest.fixture
def world() -> World:
    """Not shared: other tests here have people of their own with the same names."""
    return World()


def call(client: APIClient, door: str, user: str, **more: Any) -> Any:
    if door in LISTS:
        return client.get(f"/api/v1/see-as/{door}", {"user": user, **more})
    return client.post(f"/api/v1/see-as/{door}", {"user": user, **ASKS[door], **more})


def seen(client: APIClient, person: User, door: str, **more: Any) -> set[str]:
    """The names in one list as somebody sees it."""
    answer = call(client, door, person.username, **more)
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert body["as"]["username"] == person.username
    found = [row[LISTS[door]] for row in body["results"]]
    assert len(found) == body["count"]
    return set(found)


def stored_rows() -> tuple[int, ...]:
    return Session.objects.count(), Message.objects.count()


def test_the_lists_are_exactly_theirs_and_filters_never_widen_them(world: World) -> None:
    access.deny_place_rights(None, [Right.VIEW], world.travel, to=world.anna)
    access.grant_place_rights(None, [Right.VIEW], world.salaries, to=world.ben)
    client = signed_in(make_overseer())
    visible: dict[str, tuple[User, set[str], set[str], set[str]]] = {
        "anna": (world.anna, {"Handbook"}, {"Rules"}, {"house.md"}),
        "ben": (world.ben, {"Handbook"}, set(), {"pay.md"}),
        "mia": (world.mia, set(), set(), set()),  # manages, and may not view
        "root": (world.root, set(), set(), set()),
    }
    for person, bases, folders, documents in visible.values():
        assert seen(client, person, "knowledge-bases") == bases, person
        assert seen(client, person, "folders") == folders, person
        assert seen(client, person, "documents") == documents, person
        principal = Principal.of(person)
        assert {row.name for row in KnowledgeBase.objects.visible_to(principal)} == bases
        assert {row.name for row in Folder.objects.visible_to(principal)} == folders
        assert {row.filename for row in Document.objects.visible_to(principal)} == documents
    assert seen(client, world.anna, "folders", parent=world.rules.pk) == set()
    for hidden in (world.pay.pk, world.travel.pk, uuid4()):
        assert seen(client, world.anna, "documents", folder=hidden) == set()
    assert seen(client, world.anna, "folders", knowledge_base=make_base().pk) == set()


def test_with_the_guard_of_the_rows_off_the_lists_show_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the two above."""
    monkeypatch.setattr(Principal, "of", classmethod(lambda cls, user: cls(world.boss.pk, "boss", frozenset())))
    allow(world.boss, world.base)
    assert seen(signed_in(make_overseer()), world.anna, "documents") == {"house.md", "pay.md", "travel.md"}


def test_a_search_and_an_answer_are_theirs_and_nothing_is_stored(library: tuple[KnowledgeBase, User]) -> None:
    base, reader = library
    theirs = stored(asked(reader, LEAVE)).content
    client, before = signed_in(make_overseer()), stored_rows()
    found = call(client, "knowledge-search", reader.username).json()
    assert found["as"]["username"] == reader.username
    assert {hit["title"] for hit in found["hits"]} == {"Leave"}
    body = call(client, "answer", reader.username).json()
    assert (body["as"]["username"], body["content"], body["stop_reason"]) == (reader.username, theirs, "ok")
    assert [row["title"] for row in body["references"]] == ["Leave"]
    assert "30 days" in body["content"]
    for person in (reader, make_user("stranger")):
        no = call(client, "answer", person.username, query=SALARY)
        assert "420,000" not in no.content.decode()
        nothing = call(client, "knowledge-search", person.username, query=SALARY)
        assert "420,000" not in nothing.content.decode()
    assert stored_rows() == before
    assert call(client, "knowledge-search", "stranger").json()["hits"] == []
    for scope, hits in ((base, 1), (make_base(), 0)):
        body = call(client, "knowledge-search", reader.username, knowledge_base_ids=[str(scope.pk)], top_k=1).json()
        assert len(body["hits"]) == hits


@each_kind
def test_who_looked_as_whom_is_recorded_without_the_words(door: str) -> None:
    reader = make_reader(make_base("Handbook"))
    body = call(signed_in(make_overseer()), door, reader.username).json()
    entry = Entry.objects.get(action=Action.ACCESS_PREVIEWED)
    what = {"knowledge-search": "search", "answer": "ask"}.get(door, "tree")
    assert (entry.actor_name, entry.on_behalf_of_name, entry.target_id) == ("olga", reader.username, str(reader.pk))
    assert entry.detail["what"] == what
    assert entry.detail["perm_snapshot_id"] == body["as"]["perm_snapshot_id"]
    assert PermissionSnapshot.objects.get(pk=entry.detail["perm_snapshot_id"]).username == reader.username
    if what != "tree":
        assert entry.detail["characters"] == len(ASKS[door]["query"])
        assert ASKS[door]["query"] not in str(entry.detail)
    assert not Entry.objects.filter(action__in=[Action.QUESTION_ASKED, Action.SEARCHED]).exists()
    assert not Entry.objects.filter(actor_name=reader.username).exists()


@each_kind
def test_a_write_on_the_way_is_refused_by_the_database(door: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = make_reader(make_base("Handbook"))

    def writes(*_args: Any) -> None:
        Session.objects.create(user=reader)

    monkeypatch.setattr(see_as_module.ImpersonationSerializer, "to_representation", writes)
    if door in LISTS:  # their rows are read within the block, `as` is said after it
        monkeypatch.setattr(see_as_module._SeenList, "paginate_queryset", writes)
    with pytest.raises(InternalError, match="read-only transaction"):
        call(signed_in(make_overseer()), door, reader.username)


@each_kind
def test_exactly_those_of_the_page_look_and_others_are_told_nothing(door: str) -> None:
    """Nobody else learns whether there is such a person either."""
    reader = make_reader(make_base("Handbook"))
    root, olga = make_user("root", is_superuser=True), make_overseer()
    without_staff = make_overseer("without_staff")
    User.objects.filter(pk=without_staff.pk).update(is_staff=False)
    may = {"olga": olga, "root": root}
    may_not = {"staff": staff("sam"), "without_staff": without_staff, "reader": reader}
    for user in may.values():
        assert call(signed_in(user), door, reader.username).status_code == 200
    for name, user in may_not.items():
        known, unknown = (call(signed_in(user), door, asked_for) for asked_for in (reader.username, "nobody-at-all"))
        assert (known.status_code, known.json()["code"]) == (403, "permission_denied"), name
        assert known.content == unknown.content
    assert {entry.actor_name for entry in Entry.objects.filter(action=Action.ACCESS_PREVIEWED)} == set(may)


def test_without_its_permission_class_anybody_would_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the one above."""
    reader = make_reader(make_base("Handbook"))
    monkeypatch.setattr(MayOversee, "has_permission", lambda *_args: True)
    for door in LISTS:
        assert call(signed_in(reader), door, reader.username).status_code == 200


NEEDED = {
    "knowledge-bases": ({"audit", "search"}, {"audit", "ingest"}),
    "folders": ({"audit", "search"}, {"audit", "ingest"}),
    "documents": ({"audit", "search"}, {"audit", "ingest"}),
    "knowledge-search": ({"audit", "search"},),
    "answer": ({"audit", "chat"},),
}


@each_kind
def test_a_token_needs_audit_and_what_the_same_takes_for_oneself(door: str) -> None:
    reader, olga = make_reader(make_base("Handbook")), Principal.of(make_overseer())
    for scopes in ({"search", "chat", "ingest"}, *({"audit", scope} for scope in TokenScope.values)):
        secret = issue_token(olga, name="script", scopes=scopes)[1]
        answer = call(client_with(secret), door, reader.username)
        assert (answer.status_code == 200) == (scopes in NEEDED[door]), scopes
        if answer.status_code != 200:
            assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")


def test_a_token_for_one_folder_looks_as_nobody() -> None:
    folder, olga = make_folder(make_base("Handbook")), make_overseer()
    allow(olga, folder)
    reader = make_reader(folder.knowledge_base)
    secret = issue_token(Principal.of(olga), name="script", scopes=TokenScope.values, folder_id=folder.pk)[1]
    for door in DOORS:
        answer = call(client_with(secret), door, reader.username)
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied"), door


@each_kind
def test_bad_input_is_one_sentence_and_nobody_looked(door: str) -> None:
    make_user("anna")
    client = signed_in(make_overseer())
    said = {
        "There is no person called “ana”. Did you mean “anna”?": call(client, door, "ana"),
        "usr: There is no field “usr”. Did you mean “user”?": call(client, door, "anna", usr="anna"),
        "user: This field may not be blank.": call(client, door, " "),
    }
    for sentence, answer in said.items():
        assert (answer.status_code, answer.json()["detail"]) == (400, sentence)
        assert answer["Content-Type"] == "application/problem+json"
    assert not Entry.objects.filter(action=Action.ACCESS_PREVIEWED).exists()


def test_a_disabled_person_sees_nothing_and_is_said_to_be_disabled(world: World) -> None:
    User.objects.filter(pk=world.anna.pk).update(is_active=False)
    client = signed_in(make_overseer())
    for door in LISTS:
        body = call(client, door, "anna").json()
        assert body["as"] == {"username": "anna", "is_active": False, "perm_snapshot_id": ""}
        assert body["results"] == []
    assert call(client, "knowledge-search", "anna").json()["hits"] == []
    no = call(client, "answer", "anna")
    assert (no.status_code, no.json()["detail"]) == (400, "The account is disabled: it would get no answer.")
