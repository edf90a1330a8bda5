"""A set of changes of rights, memberships and units, made one after the other to see what they do to whom; nothing of it stays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from authz.explanations.impact import Effects
from authz.people.units import add_member, move_unit, remove_member, require_administrator
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.holders import find_bases_about_group
from copilot_site.lib.errors import CopilotError, InvalidInput
from knowledge.governance import dry_run
from knowledge.governance.changes import ABOUT_A_HOLDER, MembershipChange, RightsChange, What
from knowledge.governance.effective_rights import base_id_of
from knowledge.governance.parameters import (
    find_governed_place,
    find_group_by_name,
    find_group_carrier,
    find_unit_by_name,
    find_user_by_name,
)

T = TypeVar("T")


class OfUnits(models.TextChoices):
    MOVE_UNIT = "move_unit", gettext_lazy("Move a unit below another")


@dataclass(frozen=True)
class WrittenChange:
    """One change as somebody wrote it. what: of What, Membership or OfUnits. user, group, unit, below: names, "" for none."""

    what: str
    kind: str = ""
    id: UUID | None = None
    user: str = ""
    group: str = ""
    rights: tuple[Right, ...] = ()
    ends_at: datetime | None = None
    reason: str = ""
    copy: bool = False
    parent: UUID | None = None
    unit: str = ""
    below: str = ""


@dataclass(frozen=True)
class PlannedChange:
    """A change that can be made. target: what it changes. base_ids: the knowledge bases in which it can change anything."""

    target: models.Model
    base_ids: frozenset[UUID]
    apply: Callable[[], None]


def preview_changes(by: Principal, asked: Sequence[WrittenChange]) -> Effects:
    """Return the effects of these changes together, made one after the other as by their pages.

    Raises NotFound, PermissionDenied, InvalidInput and Conflict of the first change that cannot be made, with its place in the
    set as `changes.0`.
    """
    steps = [_run_numbered_change(number, partial(_plan_change, by, item)) for number, item in enumerate(asked)]

    def make() -> None:
        for number, step in enumerate(steps):
            _run_numbered_change(number, step.apply)

    targets = {(type(step.target), step.target.pk): step.target for step in steps}
    detail: Mapping[str, Any] = {"what": " ".join(dict.fromkeys(item.what for item in asked)), "changes": len(asked)}
    return dry_run.preview_change_effects(
        by,
        make,
        target=next(iter(targets.values())) if len(targets) == 1 else None,
        base_ids=frozenset().union(*(step.base_ids for step in steps)),
        detail=detail if len(targets) == 1 else {**detail, "targets": [str(pk) for _kind, pk in targets]},
    )


def _run_numbered_change(number: int, work: Callable[[], T]) -> T:
    try:
        return work()
    except CopilotError as problem:
        raise type(problem)(f"changes.{number}: {problem}") from problem


def _plan_change(by: Principal, asked: WrittenChange) -> PlannedChange:
    """Check rights, then look up names: a person without rights must not learn which names exist."""
    if asked.what in MembershipChange.values:
        require_administrator(by)
        return _plan_membership_change(by, asked)
    if asked.what in OfUnits.values:
        require_administrator(by)
        return _plan_unit_move(by, asked)
    if asked.id is None:
        raise InvalidInput(_("Give the kind and id of the place to change."))
    kind, place_id = asked.kind, asked.id
    place = find_governed_place(by, kind, place_id)
    change = _build_change(asked)
    # read again when its turn comes: a document's node may be made by the change before
    return PlannedChange(
        place, frozenset({base_id_of(place)}), lambda: change.apply(by, find_governed_place(by, kind, place_id))
    )


def _build_change(asked: WrittenChange) -> RightsChange:
    what = What(asked.what)
    if what not in ABOUT_A_HOLDER:
        return RightsChange(what, copy=asked.copy, parent_id=asked.parent)
    if not asked.rights:
        raise InvalidInput(_("Choose at least one right."))
    return RightsChange(what, _find_holder(asked), asked.rights, asked.ends_at, asked.reason)


def _find_holder(asked: WrittenChange) -> User | Group:
    if bool(asked.user) == bool(asked.group):
        raise InvalidInput(_("Name either a user or a group."))
    return find_user_by_name(asked.user) if asked.user else find_group_by_name(asked.group)


def _plan_membership_change(by: Principal, asked: WrittenChange) -> PlannedChange:
    if not (asked.user and asked.group):
        raise InvalidInput(_("Enter the person and the group, unit or role."))
    user, group = find_user_by_name(asked.user), find_group_by_name(asked.group)
    place, change = find_group_carrier(group), add_member if asked.what == MembershipChange.JOIN else remove_member
    return PlannedChange(user, frozenset(find_bases_about_group(group)), lambda: change(by, place, user=user))


def _plan_unit_move(by: Principal, asked: WrittenChange) -> PlannedChange:
    unit = find_unit_by_name(asked.unit)
    parent = find_unit_by_name(asked.below) if asked.below else None
    bases = find_bases_about_group(unit.group) | (find_bases_about_group(parent.group) if parent else set())
    return PlannedChange(unit, frozenset(bases), lambda: move_unit(by, unit, parent=parent))
