"""A change of rights is shown with whom it touches, and saved only when that is confirmed."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.explanations.impact import Effects
from authz.models import FolderUserGrant, OrgUnit, Role, UnitKind
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import has_right
from knowledge.governance.changes import RightsChange, What, apply_place_change
from knowledge.models import Document, Folder
from tests.factories import allow, make_user
from tests.integration.governance.world import World, client_of, place_url, principal_of, staff, text_of

pytestmark = pytest.mark.django_db


def effects_of(world: World, place: Folder | Document, change: RightsChange) -> Effects:
    effects = apply_place_change(principal_of(world.boss), place, change)
    assert effects is not None
    return effects


def counted(effects: Effects) -> dict[str, tuple[dict[str, int], dict[str, int]]]:
    """Person → documents gained and lost by right."""
    return {
        person.person.username: (
            {delta.right.value: len(delta.documents) for delta in person.gains},
            {delta.right.value: len(delta.documents) for delta in person.losses},
        )
        for person in effects.people
    }


def test_who_loses_is_exact_and_what_another_grant_keeps_is_not_lost(world: World) -> None:
    allow(world.anna, world.travel)
    take = RightsChange(What.TAKE_BACK, world.engineering.group, (Right.VIEW,))
    assert counted(effects_of(world, world.rules, take)) == {"anna": ({}, {"view": 1})}


def test_nothing_is_changed_before_it_is_confirmed(world: World) -> None:
    give = RightsChange(What.GIVE, world.ben, (Right.VIEW,))
    effects = effects_of(world, world.pay, give)
    assert not FolderUserGrant.objects.filter(user=world.ben).exists()
    assert not Entry.objects.filter(action=Action.GRANT_GIVEN, detail__user=world.ben.pk).exists()
    assert Entry.objects.get(action=Action.CHANGE_PREVIEWED).detail == {"what": "give", "gaining": 1, "losing": 0}
    assert apply_place_change(principal_of(world.boss), world.pay, give, confirmed=effects.fingerprint) is None
    assert has_right(principal_of(world.ben), Right.VIEW, world.pay)


def test_a_denial_is_shown_first_also_where_it_takes_nothing_away(world: World) -> None:
    deny = RightsChange(What.DENY, world.ben, (Right.VIEW,))
    effects = effects_of(world, world.pay, deny)
    assert counted(effects) == {}
    assert apply_place_change(principal_of(world.boss), world.pay, deny, confirmed=effects.fingerprint) is None
    allow(world.ben, world.pay)
    assert not has_right(principal_of(world.ben), Right.VIEW, world.pay)


def test_a_confirmation_of_other_effects_does_not_count(world: World) -> None:
    give = RightsChange(What.GIVE, world.auditors.group, (Right.VIEW,))
    seen = effects_of(world, world.pay, give)
    world.auditors.group.user_set.add(make_user("carl"))  # meanwhile somebody joined
    again = apply_place_change(principal_of(world.boss), world.pay, give, confirmed=seen.fingerprint)
    assert again is not None
    assert set(counted(again)) == {"ben", "carl"}
    assert not has_right(principal_of(world.ben), Right.VIEW, world.pay)


def post(user: User, place: Folder | Document, **fields: Any) -> Any:
    return client_of(user).post(place_url("rights-change", place), fields)


def test_the_page_asks_names_and_counts_then_saves(world: World) -> None:
    fields = {"what": "give", "holder_kind": "user", "holder": "ben", "rights": ["view"], "until": "2199-12-31"}
    asked = post(world.mia, world.rules, **fields)
    assert asked.status_code == 200
    assert "One person gains ben view 2 documents" in text_of(asked)
    assert not has_right(principal_of(world.ben), Right.VIEW, world.rules)
    saved = post(world.mia, world.rules, **fields, confirmed=asked.context["effects"].fingerprint)
    assert saved.status_code == 302
    assert has_right(principal_of(world.ben), Right.VIEW, world.travel)
    grant = FolderUserGrant.objects.get(user=world.ben)
    assert (grant.expires_at.year, grant.granted_by) == (2199, world.mia) if grant.expires_at else False
    entry = Entry.objects.filter(action=Action.GRANT_GIVEN).latest("id")
    assert (entry.actor_name, entry.target_name) == ("mia", "Rules")


def test_who_does_not_manage_the_place_neither_sees_nor_changes_it(world: World) -> None:
    fields = {"what": "give", "holder_kind": "user", "holder": "mia", "rights": ["view"]}
    assert post(world.mia, world.pay, **fields).status_code == 404
    assert client_of(world.mia).get(place_url("rights-place", world.pay)).status_code == 404
    assert post(world.anna, world.rules, **fields).status_code == 302
    assert not FolderUserGrant.objects.filter(user=world.mia, content_object=world.pay).exists()


def test_moving_a_folder_is_shown_with_whom_it_touches_first(world: World) -> None:
    """Travel lies in Rules, where Engineering may view; in Pay it may not."""
    boss = client_of(world.boss)
    page = boss.get(place_url("rights-place", world.travel))
    assert {pk for pk, _name in page.context["destinations"]} == {world.pay.pk, world.rules.parent_id}
    asked = {"what": "move", "parent": str(world.pay.pk)}
    shown = boss.post(place_url("rights-change", world.travel), asked)
    assert {item.person.username for item in shown.context["effects"].losing} == {"anna", "mia"}
    assert Folder.unscoped.get(pk=world.travel.pk).parent_id == world.rules.pk
    fields = {name: value for name, value in shown.context["fields"] if value}
    assert fields == asked
    confirmed = asked | {"confirmed": shown.context["effects"].fingerprint}
    assert boss.post(place_url("rights-change", world.travel), confirmed).status_code == 302
    assert Folder.unscoped.get(pk=world.travel.pk).parent_id == world.pay.pk
    assert Entry.objects.filter(action=Action.FOLDER_MOVED, target_id=str(world.travel.pk)).count() == 1


def test_a_membership_is_shown_with_what_it_opens_and_ends_first(world: World) -> None:
    root, url = client_of(world.root), reverse("membership", args=[world.ben.pk])
    asked = {"what": "join", "group": "Platform"}
    client_of(world.boss).post(url, asked)  # no administrator
    shown = root.post(url, asked)
    assert counted(shown.context["effects"]) == {"ben": ({"view": 2, "download": 2}, {})}
    assert not world.ben.groups.filter(name="Platform").exists()
    assert dict(shown.context["fields"]) == asked
    root.post(url, asked | {"confirmed": shown.context["effects"].fingerprint})
    assert world.ben.groups.filter(name="Platform").exists()
    leaving = root.post(url, {"what": "leave", "group": "Platform"})
    assert counted(leaving.context["effects"]) == {"ben": ({}, {"view": 2, "download": 2})}
    assert world.ben.groups.filter(name="Platform").exists()


# --- Pages of units, roles, groups and accounts: whom a change touches is shown first, and nothing is kept until it
# is confirmed ---


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


# --- Rights on several documents at once: shown with whom they touch, made on all of them, and only on those that
# one governs ---


def address(*documents: Document) -> str:
    return f"{reverse('rights-several')}?{urlencode([('documents', document.pk) for document in documents])}"


def give(by: User, *documents: Document, **more: Any) -> Any:
    form = {"what": "give", "holder_kind": "user", "holder": "guest", "rights": ["view"]}
    return client_of(by).post(
        reverse("rights-several"), {**form, "documents": [document.pk for document in documents], **more}
    )


def seen_by(user: User) -> set[str]:
    return set(Document.objects.visible_to(Principal.of(user)).values_list("filename", flat=True))


def test_rights_are_given_on_each_chosen_document_once_they_are_confirmed(world: World) -> None:
    guest = make_user("guest")
    asked = give(world.boss, world.travel_rules, world.salaries)
    assert seen_by(guest) == set()
    assert [person.person.username for person in asked.context["effects"].people] == ["guest"]
    done = give(world.boss, world.travel_rules, world.salaries, confirmed=asked.context["effects"].fingerprint)
    assert done.status_code == 302
    assert seen_by(guest) == {"travel.md", "pay.md"}
    taken = give(world.boss, world.salaries, what="take_back")
    give(world.boss, world.salaries, what="take_back", confirmed=taken.context["effects"].fingerprint)
    assert seen_by(guest) == {"travel.md"}


def test_a_document_that_others_govern_stays_as_it_is_and_is_only_counted(world: World) -> None:
    guest = make_user("guest")
    page = client_of(world.mia).get(address(world.house_rules, world.salaries))
    assert [item.filename for item in page.context["documents"]] == ["house.md"]
    assert page.context["left_out"] == 1
    assert "Salaries" not in text_of(page)
    asked = give(world.mia, world.house_rules, world.salaries)
    give(world.mia, world.house_rules, world.salaries, confirmed=asked.context["effects"].fingerprint)
    assert seen_by(guest) == {"house.md"}


def test_whoever_governs_none_of_them_finds_nothing(world: World) -> None:
    make_user("guest")
    stranger = staff("sam")
    for by, documents in ((stranger, (world.house_rules, world.salaries)), (world.mia, (world.salaries,))):
        assert client_of(by).get(address(*documents)).status_code == 404
        assert give(by, *documents).status_code == 404


@pytest.mark.parametrize("fault", [{"holder": "nobody"}, {"what": "break"}])
def test_what_cannot_be_done_is_said_and_nothing_is_changed(world: World, fault: dict[str, Any]) -> None:
    guest = make_user("guest")
    answer = give(world.boss, world.house_rules, world.salaries, **fault)
    assert answer.status_code == 400
    assert seen_by(guest) == set()
