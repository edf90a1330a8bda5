"""Pages of units, roles, groups and accounts: whom a change touches is shown first, and nothing is kept until it is confirmed."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.models import OrgUnit, Role, UnitKind
from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Document
from tests.factories import allow
from tests.integration.governance.world import World, client_of, text_of

pytestmark = pytest.mark.django_db


def sees(user: User, document: Document) -> bool:
    user = User.objects.get(pk=user.pk)
    return user.is_active and Document.objects.visible_to(Principal.of(user)).filter(pk=document.pk).exists()


def asked_and_confirmed(client: Client, url: str, form: dict[str, Any], *, says: str) -> None:
    """The first time the page only says whom it touches; what it asks to send again is what saves."""
    asked = client.post(url, form)
    assert asked.status_code == 200
    assert "confirm" in str(asked.templates[0].name)
    assert says in text_of(asked)
    assert "successfully" not in text_of(asked), "it does not say that it was saved"
    assert Entry.objects.filter(action=Action.CHANGE_PREVIEWED).exists()
    again = dict(asked.context["fields"]) | form | {"confirmed": asked.context["effects"].fingerprint}
    saved = client.post(url, again)
    assert saved.status_code == 302, text_of(saved)
    assert "successfully" in text_of(client.get(saved["Location"])), "it says so when it was"


def unit_form(unit: OrgUnit, **changed: Any) -> dict[str, Any]:
    members = [str(user.pk) for user in unit.group.user_set.all()]
    return {"name": unit.name, "parent": unit.parent_id or "", "members": members} | changed


def test_a_unit_that_moves_says_who_loses_and_who_gains(world: World) -> None:
    client, url = client_of(world.root), reverse("admin:authz_orgunit_change", args=[world.platform.pk])
    form = unit_form(world.platform, parent="")
    assert "One person loses" in text_of(client.post(url, form))
    world.platform.refresh_from_db()
    assert world.platform.parent == world.engineering, "nothing is kept"
    assert sees(world.anna, world.house_rules)
    assert not Entry.objects.filter(action=Action.ORG_UNIT_MOVED, actor_name="root").exists()
    asked_and_confirmed(client, url, form, says="anna")
    assert not sees(world.anna, world.house_rules)
    world.platform.refresh_from_db()
    asked_and_confirmed(
        client, url, unit_form(world.platform, parent=str(world.engineering.pk)), says="One person gains"
    )
    assert sees(world.anna, world.house_rules)


def test_members_of_a_unit_that_is_new_gain_what_its_parent_has(world: World) -> None:
    client, url = client_of(world.root), reverse("admin:authz_orgunit_add")
    form = {
        "name": "Storage",
        "kind": UnitKind.PROJECT,
        "parent": str(world.engineering.pk),
        "members": [str(world.ben.pk)],
    }
    asked_and_confirmed(client, url, form, says="ben")
    assert OrgUnit.objects.get(name="Storage").parent == world.engineering
    assert sees(world.ben, world.house_rules)


def test_a_role_that_is_deleted_says_who_loses(world: World) -> None:
    allow(world.auditors.group, world.pay, Right.VIEW)
    url = reverse("admin:authz_role_delete", args=[world.auditors.pk])
    asked_and_confirmed(client_of(world.root), url, {"post": "yes"}, says="One person loses")
    assert not Role.objects.filter(pk=world.auditors.pk).exists()
    assert not sees(world.ben, world.salaries)


def test_an_account_that_is_disabled_says_what_it_loses(world: World) -> None:
    form = {"username": "anna", "first_name": "", "last_name": "", "email": ""}
    url = reverse("admin:auth_user_change", args=[world.anna.pk])
    asked_and_confirmed(client_of(world.root), url, form, says="One person loses")
    assert not sees(world.anna, world.house_rules)


def test_what_touches_nobody_is_saved_at_once(world: World) -> None:
    url = reverse("admin:authz_orgunit_change", args=[world.platform.pk])
    assert client_of(world.root).post(url, unit_form(world.platform, name="Platforms")).status_code == 302
    world.platform.refresh_from_db()
    assert world.platform.name == "Platforms"
    assert not Entry.objects.filter(action=Action.CHANGE_PREVIEWED).exists()
