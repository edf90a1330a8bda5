"""A change of rights is shown with whom it touches, and saved only when that is confirmed."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.explanations.impact import Effects
from authz.models import FolderUserGrant
from authz.permissions import Right
from authz.rights.checks import can
from knowledge.governance.changes import Change, What, carry_out
from knowledge.models import Document, Folder
from tests.factories import allow, make_user
from tests.integration.governance.world import World, client_of, place_url, principal_of, text_of

pytestmark = pytest.mark.django_db


def effects_of(world: World, place: Folder | Document, change: Change) -> Effects:
    effects = carry_out(principal_of(world.boss), place, change)
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
    take = Change(What.TAKE_BACK, world.engineering.group, (Right.VIEW,))
    assert counted(effects_of(world, world.rules, take)) == {"anna": ({}, {"view": 1})}


def test_nothing_is_changed_before_it_is_confirmed(world: World) -> None:
    give = Change(What.GIVE, world.ben, (Right.VIEW,))
    effects = effects_of(world, world.pay, give)
    assert not FolderUserGrant.objects.filter(user=world.ben).exists()
    assert not Entry.objects.filter(action=Action.GRANT_GIVEN, detail__user=world.ben.pk).exists()
    assert Entry.objects.get(action=Action.CHANGE_PREVIEWED).detail == {"what": "give", "gaining": 1, "losing": 0}
    assert carry_out(principal_of(world.boss), world.pay, give, confirmed=effects.fingerprint) is None
    assert can(principal_of(world.ben), Right.VIEW, world.pay)


def test_a_denial_is_shown_first_also_where_it_takes_nothing_away(world: World) -> None:
    deny = Change(What.DENY, world.ben, (Right.VIEW,))
    effects = effects_of(world, world.pay, deny)
    assert counted(effects) == {}
    assert carry_out(principal_of(world.boss), world.pay, deny, confirmed=effects.fingerprint) is None
    allow(world.ben, world.pay)
    assert not can(principal_of(world.ben), Right.VIEW, world.pay)


def test_a_confirmation_of_other_effects_does_not_count(world: World) -> None:
    give = Change(What.GIVE, world.auditors.group, (Right.VIEW,))
    seen = effects_of(world, world.pay, give)
    world.auditors.group.user_set.add(make_user("carl"))  # meanwhile somebody joined
    again = carry_out(principal_of(world.boss), world.pay, give, confirmed=seen.fingerprint)
    assert again is not None
    assert set(counted(again)) == {"ben", "carl"}
    assert not can(principal_of(world.ben), Right.VIEW, world.pay)


def post(user: User, place: Folder | Document, **fields: Any) -> Any:
    return client_of(user).post(place_url("rights-change", place), fields)


def test_the_page_asks_names_and_counts_then_saves(world: World) -> None:
    fields = {"what": "give", "holder_kind": "user", "holder": "ben", "rights": ["view"], "until": "2199-12-31"}
    asked = post(world.mia, world.rules, **fields)
    assert asked.status_code == 200
    assert "One person gains ben view 2 documents" in text_of(asked)
    assert not can(principal_of(world.ben), Right.VIEW, world.rules)
    saved = post(world.mia, world.rules, **fields, confirmed=asked.context["effects"].fingerprint)
    assert saved.status_code == 302
    assert can(principal_of(world.ben), Right.VIEW, world.travel)
    grant = FolderUserGrant.objects.get(user=world.ben)
    assert (grant.expires_at.year, grant.granted_by) == (2199, world.mia) if grant.expires_at else False
    entry = Entry.objects.filter(action=Action.GRANT_GIVEN).latest("id")
    assert (entry.actor_name, entry.target_name) == ("mia", "Rules")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"holder": "ben", "rights": []}, "Choose at least one right."),
        ({"holder": "Engineerin", "holder_kind": "group", "rights": ["view"]}, "Did you mean “Engineering”?"),
        ({"holder": "ben", "rights": ["view"], "until": "2020-01-01"}, "A right cannot end in the past"),
        ({"what": "steal"}, "steal is not one of the available choices."),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(world: World, fields: dict[str, Any], sentence: str) -> None:
    answer = post(world.mia, world.rules, **{"what": "give", "holder_kind": "user"} | fields)
    assert answer.status_code == 400
    assert sentence in text_of(answer)
    assert not FolderUserGrant.objects.filter(user=world.ben).exists()


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


def test_a_folder_moves_only_where_one_governs_and_never_below_itself(world: World) -> None:
    mia = client_of(world.mia)  # manages Rules, and not Pay
    refused = mia.post(place_url("rights-change", world.travel), {"what": "move", "parent": str(world.pay.pk)})
    assert refused.status_code == 404
    below = mia.post(place_url("rights-change", world.rules), {"what": "move", "parent": str(world.travel.pk)})
    assert "cannot be moved below itself" in text_of(below)
    document = mia.post(place_url("rights-change", world.house_rules), {"what": "move", "parent": str(world.travel.pk)})
    assert "Only folders are moved here" in text_of(document)
    assert Folder.unscoped.get(pk=world.travel.pk).parent_id == world.rules.pk


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
