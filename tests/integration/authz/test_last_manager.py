"""A place keeps its last manager though two changes meet: each looks at what the other one left."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, User

from authz.models import OrgUnit, ServiceAccount
from authz.people import roles, units
from authz.people.accounts import change_account, create_service_account, delete_account, set_enabled
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.holders import find_people_with_right
from copilot_site.lib.errors import InvalidInput
from knowledge.models import KnowledgeBase
from knowledge.services import access
from tests.factories import make_base, make_group, make_user
from tests.integration.authz.steps import Actor, while_uncommitted

pytestmark = pytest.mark.django_db(transaction=True)

MANAGE = [Right.MANAGE]


class Handing:
    """A base that one person manages, and somebody who is to manage it instead."""

    def __init__(self) -> None:
        self.root = Principal.of(make_user("root", is_superuser=True))
        self.base: KnowledgeBase = make_base("Handbook")
        self.first: User = make_user("first")
        access.grant_place_rights(None, MANAGE, self.base, to=self.first)
        self.account: ServiceAccount = create_service_account(self.root, username="robot", purpose="keeps the base")
        self.second: User = make_user("second")
        self.group: Group = make_group("keepers", members=[self.second])
        self.barred: Group = make_group("barred")
        self.above: OrgUnit = units.create_unit(None, name="above")
        self.unit: OrgUnit = units.create_unit(None, name="unit", parent=self.above)
        units.add_member(None, self.unit, user=self.second)

    def hand_over(self, to: User | Group) -> None:
        access.grant_place_rights(None, MANAGE, self.base, to=to)
        access.revoke_place_rights(None, MANAGE, self.base, of=self.first)

    def disable(self, person: User) -> None:
        person.is_active = False
        change_account(self.root, person, changed={"is_active"})


Change = Callable[[Handing], object]
WAYS: dict[str, tuple[Change, Change]] = {
    "disabled": (lambda it: it.hand_over(it.second), lambda it: it.disable(it.second)),
    "deleted": (lambda it: it.hand_over(it.second), lambda it: delete_account(it.root, it.second)),
    "turned off": (
        lambda it: it.hand_over(it.account.user),
        lambda it: set_enabled(it.root, it.account, enabled=False),
    ),
    "left": (lambda it: it.hand_over(it.group), lambda it: units.remove_member(None, it.group, user=it.second)),
    "group deleted": (lambda it: it.hand_over(it.group), lambda it: roles.delete_group(None, it.group)),
    "unit moved": (lambda it: it.hand_over(it.above.group), lambda it: units.move_unit(None, it.unit, parent=None)),
    "joined": (
        lambda it: access.deny_place_rights(None, MANAGE, it.base, to=it.barred),
        lambda it: units.add_member(None, it.barred, user=it.first),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_whoever_was_handed_a_place_is_not_lost_to_it_by_a_change_that_began_before(
    actors: tuple[Actor, Actor], way: str
) -> None:
    handing = Handing()
    first, second = WAYS[way]
    with pytest.raises(InvalidInput, match="This would leave “Handbook” without a manager"):
        while_uncommitted(actors, lambda: first(handing), lambda: second(handing))
    assert find_people_with_right(Right.MANAGE, handing.base).exists()
