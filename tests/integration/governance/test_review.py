"""The table of folders and groups, the export of effective access, the tree, and the pages of people."""

import csv
import io
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.checks import can
from authz.permissions import Right
from authz.principal import Principal
from authz.tokens import issue_token
from copilot_site.lib.spreadsheets import csv_parts, safe_cell
from knowledge.governance.review import matrix
from knowledge.models import Document, DocumentVersion, Folder
from knowledge.services import access
from tests.factories import allow, make_folder, make_group, make_user
from tests.integration.governance.world import World, client_of, place_url, principal_of, text_of

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
    body = "".join(csv_parts([[safe] for safe in ("=1", "+1", "-1", "@x", "\tx", " =1", "a")]))
    assert body.splitlines() == ["\ufeff'=1", "'+1", "'-1", "'@x", "'\tx", "' =1", "a"]
    assert safe_cell("-") == "'-"
    for row in exported(world, world.root):
        assert not any(value.startswith(("=", "+", "-", "@")) for value in row.values())


def test_the_matrix_shows_what_each_group_is_worth(world: World) -> None:
    access.deny(None, [Right.VIEW], world.travel, to=world.platform.group)
    shown = {world.base.pk, *Folder.unscoped.values_list("pk", flat=True)}
    found = matrix(world.base.pk, shown, most_rows=50)
    assert [group.username for group in found.groups] == ["Engineering", "Platform"]
    cells = {row.place.name: [(cell.held, cell.denied) for cell in row.cells] for row in found.rows if row.depth > 1}
    both = (Right.VIEW, Right.DOWNLOAD)
    assert cells["Rules"] == [(both, ()), (both, ())], "Platform is below Engineering"
    assert cells["Travel"] == [(both, ()), ((Right.DOWNLOAD,), (Right.VIEW,))]
    assert cells["Pay"] == [((), ()), ((), ())]
    assert matrix(world.base.pk, shown, most_rows=2).left_out == len(found.rows) - 2


def test_the_tree_shows_governed_places_with_what_stands_on_them(world: World) -> None:
    access.deny(None, [Right.VIEW], world.travel, to=world.anna, reason="x")
    access.set_discoverable(None, world.travel, is_discoverable=True)
    whole = text_of(client_of(world.boss).get(reverse("rights-tree")))
    assert "Engineering view, download" in whole
    assert "denied anna view" in whole
    assert "name may be told" in whole
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


@pytest.mark.parametrize("name", ["rights-tree", "access-requests", "people", "ingestion"])
def test_every_page_is_for_staff(world: World, name: str) -> None:
    assert client_of(world.boss).get(reverse(name)).status_code == 200
    assert client_of(world.root).get(reverse(name)).status_code == 200
    answer = client_of(world.anna).get(reverse(name))
    assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (302, reverse("admin:login"))


def test_a_manager_who_is_no_staff_is_told_what_is_missing(world: World) -> None:
    allow(world.anna, world.pay, Right.MANAGE)
    answer = client_of(world.anna).get(reverse("rights-tree"), follow=True)
    assert answer.status_code == 403
    assert "ask an administrator to give your account the staff status" in text_of(answer)
    User.objects.filter(pk=world.anna.pk).update(is_staff=True)
    assert "Pay" in text_of(client_of(world.anna).get(reverse("rights-tree"), follow=True))


def test_the_page_of_a_person_shows_groups_and_access_where_whoever_looks_governs(world: World) -> None:
    url = reverse("person", args=[world.anna.pk])
    page = text_of(client_of(world.mia).get(url))
    assert "Engineering unit it is above Platform" in page
    assert "Rules Handbook › Rules view download" in page
    allow(world.anna, world.pay)
    assert "Pay" not in text_of(client_of(world.mia).get(url))
    assert "Pay" in text_of(client_of(world.boss).get(url))
    assert client_of(world.boss).get(reverse("person", args=[0])).status_code == 404


def test_a_membership_is_changed_by_administrators_only(world: World) -> None:
    url = reverse("membership", args=[world.ben.pk])
    client_of(world.boss).post(url, {"what": "join", "group": "Engineering"})
    assert not world.ben.groups.filter(name="Engineering").exists()
    _confirmed(client_of(world.root), url, {"what": "join", "group": "Engineering"})
    assert can(principal_of(world.ben), Right.VIEW, world.rules)
    _confirmed(client_of(world.root), url, {"what": "leave", "group": "Engineering"})
    assert not can(principal_of(world.ben), Right.VIEW, world.rules)
    wrong = client_of(world.root).post(url, {"what": "join", "group": "Enginering"}, follow=True)
    assert "Did you mean “Engineering”?" in text_of(wrong)


def _confirmed(client: Client, url: str, asked: dict[str, str]) -> None:
    """Ask for a change, and save what is shown of it."""
    shown = client.post(url, asked)
    assert client.post(url, asked | {"confirmed": shown.context["effects"].fingerprint}).status_code == 302


def test_units_and_roles_are_changed_through_their_services(world: World) -> None:
    root = client_of(world.root)
    data = {"name": "Payments", "kind": "project", "parent": str(world.engineering.pk), "members": [str(world.ben.pk)]}
    asked = root.post(reverse("admin:authz_orgunit_add"), data)
    data["confirmed"] = asked.context["effects"].fingerprint
    assert root.post(reverse("admin:authz_orgunit_add"), data).status_code == 302
    group = Group.objects.get(name="Payments")
    assert can(principal_of(world.ben), Right.VIEW, world.rules), "Payments lies in Engineering"
    assert Entry.objects.filter(action=Action.ORG_UNIT_CREATED, actor_name="root").exists()
    unit = group.org_unit
    circle = root.post(
        reverse("admin:authz_orgunit_change", args=[world.engineering.pk]),
        {"name": "Engineering", "parent": str(unit.pk), "members": []},
        follow=True,
    )
    assert "would close a circle" in text_of(circle)
    assert client_of(world.boss).get(reverse("admin:authz_orgunit_changelist")).status_code == 403
    assert root.post(reverse("admin:authz_role_add"), {"name": "editors", "members": []}).status_code == 302
    taken = root.post(reverse("admin:authz_role_add"), {"name": "Engineering", "members": []}, follow=True)
    assert "There is a group called “Engineering” already." in text_of(taken)


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
    assert "It is queued again." in text_of(client_of(world.mia).post(again, follow=True))
    assert Document.unscoped.get(pk=world.travel_rules.pk).versions.get().parse_status == "pending"
    refused = client_of(world.boss).post(again, follow=True)
    assert "or you may not see it" in text_of(refused)


def test_the_list_of_versions_speaks_to_people(world: World) -> None:
    url = reverse("admin:knowledge_documentversion_changelist")
    DocumentVersion.unscoped.filter(document=world.travel_rules).update(queue="bulk")
    page = text_of(client_of(world.root).get(url))
    assert "Reason of failure" in page
    assert "imports" in page
    assert "interactive" not in page
    only = text_of(client_of(world.root).get(url, {"queue": "bulk"}))
    assert "1 version" in only
    chinese = client_of(world.root).get(url, headers={"Accept-Language": "zh-hans"}).content.decode()
    assert "Failure reason" not in chinese


def test_dates_on_the_page_of_a_place_stay_whole(world: World) -> None:
    page = client_of(world.boss).get(place_url("rights-place", world.rules)).content.decode()
    assert page.count('<td class="whole">') >= 2


def test_a_place_is_reached_from_its_row_in_the_admin(world: World) -> None:
    page = client_of(world.boss).get(reverse("admin:knowledge_folder_change", args=[world.rules.pk]))
    assert place_url("rights-place", world.rules) in page.content.decode()


def test_the_page_of_a_folder_leads_to_the_tokens_for_it_alone(world: World) -> None:
    allow(world.mia, world.rules)
    for name, folder in (("importer", world.rules), ("all of it", None)):
        issue_token(
            principal_of(world.mia), name=name, days=30, scopes=["search"], folder_id=folder.pk if folder else None
        )
    root = client_of(world.root)
    page = root.get(place_url("rights-place", world.rules)).content.decode()
    link = f"{reverse('admin:authz_apitoken_changelist')}?folder__id__exact={world.rules.pk}"
    assert f'href="{link}">one API token for this folder alone' in page
    listed = root.get(link)
    assert [token.name for token in listed.context["cl"].result_list] == ["importer"]
    assert "one API token" not in text_of(root.get(place_url("rights-place", world.pay)))
    assert link not in client_of(world.mia).get(place_url("rights-place", world.rules)).content.decode()
