"""The table of folders and groups, the export of effective access, the tree, and the pages of people."""

import csv
import io
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import can
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.services import access
from tests.factories import allow, make_folder, make_group, make_user
from tests.integration.governance.world import World, client_of, place_url, text_of

pytestmark = pytest.mark.django_db


def exported(world: World, user: User, **query: Any) -> list[dict[str, str]]:
    answer = client_of(user).get(reverse("rights-export"), query)
    assert answer.status_code == 200
    body = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    assert body.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(body.removeprefix("\ufeff"))))


def test_the_export_is_exactly_what_everybody_may(world: World) -> None:
    access.deny(None, [Right.VIEW], world.travel, to=world.anna)
    access.give(None, [Right.VIEW], world.salaries, to=world.ben)
    rows = exported(world, world.root)
    listed = {
        (row["person"], row["place"].rpartition(" / ")[2], row["right"]) for row in rows if row["kind"] == "folder"
    }
    expected = {
        (user.username, folder.name, right.value)
        for user in User.objects.all()
        for folder in Folder.unscoped.filter(kind="folder")
        for right in Right
        if can(Principal.of(user), right, folder)
    }
    assert listed == expected
    assert ("anna", "Travel", "view") not in listed
    assert ("anna", "Travel", "download") in listed
    own = [row for row in rows if row["kind"] == "document" and row["person"] == "ben"]
    assert [(row["place"], row["right"], row["granted to"]) for row in own] == [("Pay / Salaries", "view", "user ben")]
    rule = next(row for row in rows if (row["person"], row["place"], row["right"]) == ("anna", "Rules", "view"))
    assert (rule["granted to"], rule["granted on"]) == ("group Engineering", "Rules")
    assert "member of the unit Platform → and so of the unit Engineering" in rule["path"]


def test_a_manager_exports_what_they_manage_and_it_is_recorded(world: World) -> None:
    rows = exported(world, world.mia)
    assert {row["place"] for row in rows} == {"Rules", "Rules / Travel"}
    entry = Entry.objects.get(action=Action.ACCESS_EXPORTED)
    assert (entry.actor_name, entry.detail) == ("mia", {"knowledge_bases": [str(world.base.pk)]})
    assert client_of(make_staff_without_rights()).get(reverse("rights-export")).status_code == 404
    assert client_of(world.mia).get(reverse("rights-export"), {"base": "x"}).status_code == 404


def make_staff_without_rights() -> User:
    user = make_user("idle")
    User.objects.filter(pk=user.pk).update(is_staff=True)
    return User.objects.get(pk=user.pk)


def test_no_cell_is_a_formula(world: World) -> None:
    evil = make_folder(world.base, "=HYPERLINK(1)")
    allow(make_group("@SUM(1)", members=[world.ben]), evil)
    for row in exported(world, world.root):
        assert not any(value.startswith(("=", "+", "-", "@")) for value in row.values())


def test_the_tree_shows_governed_places_with_what_stands_on_them(world: World) -> None:
    access.deny(None, [Right.VIEW], world.travel, to=world.anna, reason="x")
    access.set_discoverable(None, world.travel, is_discoverable=True)
    whole = text_of(client_of(world.boss).get(reverse("rights-tree")))
    assert "Engineering view, download" in whole
    assert "denied anna view" in whole
    assert "name may be shown" in whole
    assert "Pay" in whole
    part = text_of(client_of(world.mia).get(reverse("rights-tree")))
    assert "Travel" in part
    assert "Pay" not in part


def test_what_others_govern_below_a_governed_folder_is_not_shown(world: World) -> None:
    access.give(None, [Right.MANAGE], world.travel, to=world.boss)
    access.give(None, [Right.MANAGE], world.house_rules, to=world.boss)
    access.break_inheritance(None, world.travel)
    access.break_inheritance(None, Document.unscoped.get(pk=world.house_rules.pk))
    secret = make_group("secret", members=[world.ben])
    allow(secret, world.travel)
    client = client_of(world.mia)
    pages = [
        text_of(client.get(url))
        for url in (
            reverse("rights-tree"),
            reverse("rights-matrix", args=[world.base.pk]),
            reverse("person", args=[world.ben.pk]),
        )
    ]
    for page in pages:
        assert "Travel" not in page
        assert "House rules" not in page
        assert "secret" not in page.replace("secret group is a member", "")
    assert {row["place"] for row in exported(world, world.mia)} == {"Rules"}
    assert {"Handbook", "Rules / Travel", "Rules / House rules"} <= {
        row["place"] or row["knowledge base"] for row in exported(world, world.boss)
    }


def test_every_page_is_for_staff(world: World) -> None:
    boss, anna = client_of(world.boss), client_of(world.anna)
    for name in ("rights-tree", "people", "ingestion"):
        assert boss.get(reverse(name)).status_code == 200, name
        answer = anna.get(reverse(name))
        assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (302, reverse("admin:login"))
    assert boss.get(reverse("admin:authz_orgunit_changelist")).status_code == 403


def test_the_page_of_a_person_shows_groups_and_access_where_whoever_looks_governs(world: World) -> None:
    url = reverse("person", args=[world.anna.pk])
    page = text_of(client_of(world.mia).get(url))
    assert "Engineering unit it is above Platform" in page
    assert "Rules Handbook › Rules view download" in page
    allow(world.anna, world.pay)
    assert "Pay" not in text_of(client_of(world.mia).get(url))
    assert "Pay" in text_of(client_of(world.boss).get(url))
    assert client_of(world.boss).get(reverse("person", args=[0])).status_code == 404


def test_the_health_of_ingestion_lists_failures_with_reasons(world: World) -> None:
    version = world.travel_rules.versions.get()
    version.parse_status, version.failure = "failed", {"code": "empty", "params": {}}
    version.save()
    page = text_of(client_of(world.mia).get(reverse("ingestion")))
    assert "Travel rules" in page
    assert version.failure_reason in page
    assert "Salaries" not in page
    access.give(None, [Right.VIEW, Right.CHANGE], world.rules, to=world.mia)
    again = reverse("ingestion-again", args=[world.travel_rules.pk])
    client_of(world.mia).post(again)
    assert Document.unscoped.get(pk=world.travel_rules.pk).versions.get().parse_status == "pending"


def test_a_name_in_two_languages_is_shown_in_the_readers_alone(world: World) -> None:
    KnowledgeBase.unscoped.filter(pk=world.base.pk).update(name="手册 | Handbook")
    Folder.unscoped.filter(pk=world.rules.pk).update(name="制度 | Rules")
    client = client_of(world.root)
    for address in (
        reverse("rights-tree"),
        reverse("rights-matrix", args=[world.base.pk]),
        place_url("rights-place", world.rules),
        reverse("admin:knowledge_knowledgebase_changelist"),
        reverse("admin:knowledge_folder_changelist"),
        reverse("search-settings"),
        reverse("passages-of-base", args=[world.base.pk]),
        reverse("graph-of-base", args=[world.base.pk]),
        reverse("fields-of-base", args=[world.base.pk]),
        reverse("see-as-choose"),
    ):
        page = client.get(address).content.decode()
        assert "手册" not in page, address
        assert "制度" not in page, address
