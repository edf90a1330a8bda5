"""Why somebody may, or may not: the rule that decides, the way it came, since when and by whom."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from django.utils import timezone

from audit.actions import Action
from audit.models import Entry
from authz.explanations.explain import Explanation, Reason
from authz.models import FolderGroupGrant
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import has_right
from authz.rights.governing import is_reviewer
from knowledge.governance.review import explain_rights
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.services import access
from tests.factories import allow, make_folder, make_group, make_user
from tests.integration.governance.world import World, client_of, place_url, principal_of, text_of

pytestmark = pytest.mark.django_db


def why(world: World, user: User, place: KnowledgeBase | Folder | Document, right: Right = Right.VIEW) -> Explanation:
    found = {item.right: item for item in explain_rights(principal_of(world.root), user, place)}[right]
    if isinstance(place, Folder | Document):
        assert found.is_allowed == has_right(Principal.of(User.objects.get(pk=user.pk)), right, place), (
            "it says what is"
        )
    return found


def test_a_yes_names_the_unit_the_grant_and_the_folders_it_came_down(world: World) -> None:
    found = why(world, world.anna, world.travel)
    assert (found.is_allowed, found.reason) == (True, Reason.GRANTED)
    assert [(step.kind, step.name) for step in found.path] == [
        ("person", "anna"),
        ("unit", "Platform"),
        ("unit", "Engineering"),
        ("row", "Rules"),
        ("place", "Travel"),
    ]
    assert "Engineering" in found.sentence
    assert "“Rules”" in found.sentence


def test_a_denial_wins_over_a_nearer_grant_and_says_its_reason(world: World) -> None:
    allow(world.anna, world.travel)
    access.deny_place_rights(None, [Right.VIEW], world.base, to=world.platform.group, reason="leaves in May")
    found = why(world, world.anna, world.travel_rules)
    assert (found.is_allowed, found.reason) == (False, Reason.DENIED)
    assert found.decisive is not None
    assert (found.decisive.row.holder_name, found.decisive.row.reason) == ("Platform", "leaves in May")
    assert {other.fate for other in found.others} == {"allows"}, "what it outweighs is listed"


def test_a_break_is_named_with_the_grant_that_it_stops(world: World) -> None:
    allow(world.boss, world.travel, Right.MANAGE)
    access.break_inheritance(None, world.travel)
    found = why(world, world.anna, world.travel)
    assert (found.reason, found.decisive and found.decisive.cut_by and found.decisive.cut_by.name) == (
        Reason.CUT,
        "Travel",
    )


def test_a_grant_that_has_ended_is_named_with_its_end(world: World) -> None:
    FolderGroupGrant.objects.update(expires_at=timezone.now() - timedelta(days=1))
    found = why(world, world.anna, world.rules)
    assert found.reason is Reason.ENDED
    assert "Engineering" in found.sentence


def test_what_is_missing_is_said(world: World) -> None:
    found = why(world, world.anna, world.pay)
    assert (found.reason, found.decisive) == (Reason.MISSING, None)
    assert "neither to anna by name nor to one of the 2 groups" in found.sentence


def test_a_disabled_account_is_the_reason_whatever_is_granted(world: World) -> None:
    User.objects.filter(pk=world.anna.pk).update(is_active=False)
    world.anna.refresh_from_db()
    assert why(world, world.anna, world.rules).reason is Reason.INACTIVE


def test_it_is_recorded_with_the_person_it_tells_about(world: World) -> None:
    why(world, world.anna, world.rules)
    entry = Entry.objects.filter(action=Action.ACCESS_EXPLAINED).latest("id")
    assert (entry.actor_name, entry.target_name, entry.detail) == (
        "root", "Rules", {"user": world.anna.pk, "held": ["view", "download"]},
    )  # fmt: skip


def test_the_page_answers_managers_and_nobody_else(world: World) -> None:
    url = place_url("rights-why", world.travel)
    page = client_of(world.mia).get(url, {"user": "anna"})
    assert page.status_code == 200
    assert "Yes: anna holds “view” on “Travel”, granted to Engineering on “Rules”." in text_of(page)
    assert client_of(world.boss).get(place_url("rights-why", world.pay), {"user": "anna"}).status_code == 200
    assert client_of(world.mia).get(place_url("rights-why", world.pay), {"user": "anna"}).status_code == 404
    assert client_of(world.anna).get(url, {"user": "anna"}).status_code == 302, "no staff: to the sign-in of the admin"


def auditor(world: World) -> User:
    """ben, whose role lets him read the audit log and enter the admin; he manages nothing."""
    world.auditors.group.permissions.add(Permission.objects.get(codename="view_entry"))
    User.objects.filter(pk=world.ben.pk).update(is_staff=True)
    return User.objects.get(pk=world.ben.pk)


def test_an_auditor_asks_about_every_place_and_changes_none(world: World) -> None:
    query = {"user": "anna", "kind": "folder", "id": str(world.pay.pk)}
    before = client_of(world.ben).get("/api/v1/explain", query)
    assert before.status_code == 404, "the role alone is nothing: its permission is"
    client = client_of(auditor(world))
    assert client.get("/api/v1/explain", query).json()["reason"] == "missing"
    page = client.get(place_url("rights-why", world.pay), {"user": "anna"})
    assert "No: “view” on “Pay” is granted neither" in text_of(page)
    assert "Pay" in text_of(client.get(reverse("rights-tree")))
    rows = b"".join(client.get(reverse("rights-export"))).decode()
    assert "mia" in rows
    place = client.get(place_url("rights-place", world.rules))
    assert "You see these rights as an auditor" in text_of(place)
    assert place_url("rights-change", world.rules) not in place.content.decode()
    given = {"what": "give", "holder_kind": "user", "holder": "ben", "rights": ["view"]}
    assert client.post(place_url("rights-change", world.rules), given).status_code == 404
    assert client.get(reverse("document", args=[world.salaries.pk])).status_code == 404, "rights, not contents"


def test_what_an_auditor_looks_at_is_recorded_each_time(world: World) -> None:
    client = client_of(auditor(world))
    for url in (place_url("rights-place", world.rules), reverse("rights-matrix", args=[world.base.pk])):
        client.get(url)
    told = Entry.objects.filter(action=Action.ACCESS_EXPLAINED, actor_name="ben").order_by("id")
    assert [(item.target_name, item.detail) for item in told] == [
        ("Rules", {"review": "folder"}),
        ("Handbook", {"review": "base"}),
    ]


def test_a_token_for_one_folder_reviews_nothing(world: World) -> None:
    principal = principal_of(auditor(world))
    assert is_reviewer(principal)
    narrow = principal.narrowed(scopes=frozenset({"audit"}), folder_id=world.rules.pk)
    assert not is_reviewer(narrow)


def test_the_api_tells_managers_the_same(world: World) -> None:
    query = {"user": "anna", "kind": "folder", "id": str(world.travel.pk)}
    told = client_of(world.mia).get("/api/v1/explain", query).json()
    assert (told["is_allowed"], told["reason"], told["rule"]["holder"]) == (True, "granted", "Engineering")
    assert [step["name"] for step in told["path"]] == ["anna", "Platform", "Engineering", "Rules", "Travel"]
    hidden = client_of(world.mia).get("/api/v1/explain", query | {"id": str(world.pay.pk)})
    missing = client_of(world.mia).get("/api/v1/explain", query | {"id": "00000000-0000-0000-0000-000000000000"})
    assert (hidden.status_code, missing.status_code) == (404, 404)
    assert hidden.content == missing.content
    assert client_of(world.mia).get("/api/v1/explain", query | {"user": "nobody"}).status_code == 400


# --- the table of folders and groups, the export of effective access, the tree, and the pages of people ---


def exported(world: World, user: User, **query: Any) -> list[dict[str, str]]:
    answer = client_of(user).get(reverse("rights-export"), query)
    assert answer.status_code == 200
    body = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    assert body.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(body.removeprefix("\ufeff"))))


def test_the_export_is_exactly_what_everybody_may(world: World) -> None:
    access.deny_place_rights(None, [Right.VIEW], world.travel, to=world.anna)
    access.grant_place_rights(None, [Right.VIEW], world.salaries, to=world.ben)
    rows = exported(world, world.root)
    listed = {
        (row["person"], row["place"].rpartition(" / ")[2], row["right"]) for row in rows if row["kind"] == "folder"
    }
    expected = {
        (user.username, folder.name, right.value)
        for user in User.objects.all()
        for folder in Folder.unscoped.filter(kind="folder")
        for right in Right
        if has_right(Principal.of(user), right, folder)
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
    access.deny_place_rights(None, [Right.VIEW], world.travel, to=world.anna, reason="x")
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
    access.grant_place_rights(None, [Right.MANAGE], world.travel, to=world.boss)
    access.grant_place_rights(None, [Right.MANAGE], world.house_rules, to=world.boss)
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
    access.grant_place_rights(None, [Right.VIEW, Right.CHANGE], world.rules, to=world.mia)
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
