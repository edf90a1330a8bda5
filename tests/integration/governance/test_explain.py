"""Why somebody may, or may not: the rule that decides, the way it came, since when and by whom."""

from datetime import timedelta

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
from authz.rights.checks import can
from authz.rights.governing import is_reviewer
from knowledge.governance.review import explain_rights
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.services import access
from tests.factories import allow
from tests.integration.governance.world import World, client_of, place_url, principal_of, text_of

pytestmark = pytest.mark.django_db


def why(world: World, user: User, place: KnowledgeBase | Folder | Document, right: Right = Right.VIEW) -> Explanation:
    found = {item.right: item for item in explain_rights(principal_of(world.root), user, place)}[right]
    if isinstance(place, Folder | Document):
        assert found.is_allowed == can(Principal.of(User.objects.get(pk=user.pk)), right, place), "it says what is"
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
    access.deny(None, [Right.VIEW], world.base, to=world.platform.group, reason="leaves in May")
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
