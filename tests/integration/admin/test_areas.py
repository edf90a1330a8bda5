"""The rail of the administration: who is led where, and that every page of it is in the rail."""

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.people.roles import create_role
from copilot_site.admin_home.areas import list_open_pages
from tests.factories import make_base
from tests.integration.governance.world import World, client_of, make_overseer, staff
from tests.sharing import share_world

pytestmark = pytest.mark.django_db


shared_world, world = share_world("world", World)


def led_to(person: User) -> dict[str, str]:
    """Name → address of each page that the rail and the palette lead this person to."""
    return dict(list_open_pages(client_of(person).get(reverse("expert")).wsgi_request))


def test_each_is_led_to_exactly_the_pages_that_are_open_to_them(world: World) -> None:
    everybody = {
        "Overview",
        "People and units",
        "Folders and rights",
        "Access requests",
        "Ingestion",
        "Trash",
        "Search settings",
        "Expert",
    }
    overseen = {"View as", "Answers", "Ratings", "Questions without a good answer", "Evaluation"}
    assert led_to(staff("sam")).keys() == everybody
    assert led_to(make_overseer()).keys() == everybody | overseen
    assert led_to(world.boss).keys() == everybody | {"Knowledge bases"}
    assert led_to(world.root).keys() == everybody | overseen | {
        "Who was shown this",
        "Privacy",
        "What takes long",
        "Knowledge bases", "Roles", "Company sign-in", "Company directory", "Groups of the company", "Accounts of programs",
        "Language models", "Use of models", "Budgets of units",
        "Assistants", "Skills", "Services with tools", "Search of the web", "Bots in chat platforms",
        "Data sources", "Sources", "Webhooks", "Connections of the server", "Audit log", "Legal holds",
    }  # fmt: skip


def test_nobody_is_led_to_a_page_that_refuses_them(world: World) -> None:
    overseer = make_overseer()
    client, ways = client_of(overseer), led_to(overseer).values()
    assert {way: client.get(way).status_code for way in ways} == dict.fromkeys(ways, 200)


def test_a_page_below_another_is_in_its_area_and_a_table_without_a_page_is_the_experts(world: World) -> None:
    client = client_of(world.root)

    def current(name: str, *args: object) -> list[str]:
        areas = client.get(reverse(name, args=args)).context["areas"]
        return [link.name for area in areas for link in (area, *area.more) if link.is_current]

    assert current("admin:index") == ["Overview"]
    assert current("person", world.anna.pk) == ["People and units"]
    assert current("language-model-add") == ["Language models"]
    assert current("admin:knowledge_document_changelist") == ["Expert"]


def test_a_role_opens_pages_of_the_administration_and_its_page_shows_which(world: World) -> None:
    role = create_role(None, name="Examiners")
    opened = Permission.objects.get(codename="view_entry", content_type__app_label="audit")
    form = {"name": "Examiners", "members": [world.anna.pk], "permissions": [opened.pk]}
    client = client_of(world.root)
    User.objects.filter(pk=world.anna.pk).update(first_name="Anna", last_name="Berg")
    offered = dict(client.get(reverse("admin:authz_role_add")).context["adminform"].form.fields["permissions"].choices)
    people = client.get(reverse("admin:authz_role_add")).context["adminform"].form.fields["members"].choices
    assert "Anna Berg anna" in dict(people).values()
    assert {"Audit entries: view", "Permission snapshots: Can see as another person and replay answers"} <= set(
        offered.values()
    )
    assert len({*offered.values()}) == len(offered), "each reads differently"
    assert not any(label.startswith(("Chunks", "Citations")) for label in offered.values()), "they have no page"
    answer = client.post(reverse("admin:authz_role_change", args=[role.pk]), form)
    assert answer["Location"] == reverse("roles")
    assert set(role.group.permissions.all()) == {opened}
    assert Entry.objects.filter(action=Action.GROUP_CHANGED, detail__permissions__0__contains="view_entry").exists()
    shown = {
        (line.name, line.people, line.opens) for line in client.get(reverse("roles"), {"q": "examin"}).context["roles"]
    }
    assert shown == {("Examiners", 1, ("Audit entry",))}


@pytest.mark.parametrize(("name", "statuses"), [("roles", (200, 403, 403)), ("data-sources", (200, 404, 404))])
def test_only_people_who_manage_something_open_its_list(world: World, name: str, statuses: tuple[int, ...]) -> None:
    people = (world.root, world.boss, staff("sam"))
    assert tuple(client_of(person).get(reverse(name)).status_code for person in people) == statuses


def test_search_settings_show_the_bases_that_a_person_manages(world: World) -> None:
    def bases(person: User) -> set[str]:
        return {line.base.name for line in client_of(person).get(reverse("search-settings")).context["rows"]}

    make_base("Sales")
    assert bases(staff("sam")) == set()
    assert bases(world.boss) == {"Handbook"}
    assert bases(world.root) == {"Handbook", "Sales"}
