"""People with the groups that give them rights, and the path to each group."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from django.contrib.auth.models import AbstractUser, Group, User
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Concat, Trim

from authz.models import OrgUnit

_HAN_NAME = re.compile(r"[\u3400-\u9fff\U00020000-\U0003ffff]+")


class GroupKind(StrEnum):
    GROUP = "group"
    ROLE = "role"
    UNIT = "unit"


@dataclass(frozen=True)
class Membership:
    """A group that counts for somebody. below: the units on the path to it, their own last; else empty."""

    group_id: int
    name: str
    kind: GroupKind
    below: tuple[str, ...] = ()


@dataclass(frozen=True)
class PersonHolders:
    """An account, active or not, with all holders of its rights; from `make_sample_members`, an invented member of one group."""

    id: int
    username: str
    name: str
    is_active: bool
    memberships: Mapping[int, Membership]
    group_id: int | None = None

    @cached_property
    def holders(self) -> frozenset[tuple[str, int]]:
        """Return the holders whose rows concern this person: ("user", id), and ("group", id) for each group."""
        return frozenset({("user", self.id), *(("group", pk) for pk in self.memberships)})


def list_people(users: QuerySet[User]) -> list[PersonHolders]:
    """Return these accounts by sign-in name, read with five statements for any number."""
    reach = _load_memberships_by_group()
    own: defaultdict[int, list[int]] = defaultdict(list)
    for user_id, group_id in User.groups.through.objects.filter(user__in=users).values_list("user_id", "group_id"):
        own[user_id].append(group_id)
    return [
        PersonHolders(
            user.pk, user.username, user.get_full_name(), user.is_active, _collect_memberships(own[user.pk], reach)
        )
        for user in users.order_by("username")
    ]


def make_sample_members(group_ids: Iterable[int]) -> list[PersonHolders]:
    """Return for each group, by name, an invented member of it alone, to show what the group itself gives."""
    reach = _load_memberships_by_group()
    members = [
        PersonHolders(0, reach[pk][0].name, "", True, _collect_memberships([pk], reach), pk)
        for pk in group_ids
        if pk in reach
    ]
    return sorted(members, key=lambda member: member.username)


def _collect_memberships(group_ids: Iterable[int], reach: Mapping[int, list[Membership]]) -> dict[int, Membership]:
    """Return their own groups and those above them, each by its shortest path."""
    found: dict[int, Membership] = {}
    for membership in sorted((one for pk in group_ids for one in reach[pk]), key=lambda one: len(one.below)):
        found.setdefault(membership.group_id, membership)
    return found


def _load_memberships_by_group() -> dict[int, list[Membership]]:
    """Return the memberships that each group gives: itself, and for a unit all units above."""
    units = {unit.pk: unit for unit in OrgUnit.objects.all()}
    unit_of_group = {unit.group_id: unit for unit in units.values()}
    reach: dict[int, list[Membership]] = {}
    for pk, name, role in Group.objects.values_list("pk", "name", "role__name"):
        unit = unit_of_group.get(pk)
        if unit is None:
            kind = GroupKind.ROLE if role else GroupKind.GROUP
            reach[pk] = [Membership(pk, role or name, kind)]
        else:
            reach[pk] = _list_units_upwards(unit, units)
    return reach


def _list_units_upwards(unit: OrgUnit, units: Mapping[int, OrgUnit]) -> list[Membership]:
    """Return this unit and those above it, with the names on the path."""
    way: list[Membership] = []
    below: tuple[str, ...] = ()
    step: OrgUnit | None = unit
    while step is not None:
        way.append(Membership(step.group_id, step.name, GroupKind.UNIT, below))
        below = (step.name, *below)
        step = units.get(step.parent_id) if step.parent_id else None
    return way


def full_name(user: AbstractUser) -> str:
    """Return given and family name; in Chinese characters the family name first, without a space."""
    if _HAN_NAME.fullmatch(user.first_name) and _HAN_NAME.fullmatch(user.last_name):
        return user.last_name + user.first_name
    return f"{user.first_name} {user.last_name}".strip()


def format_person_name(user: User) -> str:
    """Return the full name followed by the sign-in name, which alone is unique."""
    full = user.get_full_name()
    return f"{full} ({user.username})" if full else user.username


def find_accounts_by_name(name: str) -> QuerySet[User]:
    """Return accounts, disabled ones included, by sign-in name, else by full name, in either order of its parts."""
    name = name.strip()
    if not name or User.objects.filter(username=name).exists():
        return User.objects.filter(username=name)
    first, last, between = F("first_name"), F("last_name"), Value(" ")
    return User.objects.alias(
        given_first=Trim(Concat(first, between, last)),
        family_first=Trim(Concat(last, between, first)),
        unspaced=Concat(last, first),
    ).filter(Q(given_first=name) | Q(family_first=name) | Q(unspaced=name))


def list_full_names() -> list[str]:
    """Return the full names of active accounts, as shown and with the family name first."""
    people = User.objects.filter(is_active=True)
    return sorted({one for user in people for one in (full_name(user), f"{user.last_name} {user.first_name}".strip())})


def list_unit_names() -> list[str]:
    """Return the names of all org units."""
    return sorted(OrgUnit.objects.values_list("name", flat=True))
