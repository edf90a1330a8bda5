"""Org units, and memberships in them and in roles (`authz.people.roles`). Each is carried by a Django group of the same name,
so grants to groups reach them.

`by` is None for commands and sign-in; else a superuser, because a membership gives every right of its group.
"""

from django.contrib.auth.models import Group, User
from django.db import connection, transaction
from django.db.models import Model, ProtectedError
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.models import OrgUnit, OrgUnitLink, Role, UnitKind
from authz.principal import Principal
from authz.rights.holders import keep_managers, list_places_denied_to_group, list_places_managed_by_group
from copilot_site.lib.errors import Conflict, InvalidInput, PermissionDenied

NAME_LENGTH = 150  # of a Django group
_CHANGED = {OrgUnit: Action.ORG_UNIT_CHANGED, Role: Action.ROLE_CHANGED, Group: Action.GROUP_CHANGED}


def require_administrator(by: Principal | None) -> None:
    """Raise PermissionDenied unless `by` may change units, roles and memberships; None sets a system up."""
    if by is not None and not by.is_superuser:
        raise PermissionDenied(_("Only system administrators change units, roles and their members."))


@transaction.atomic
def create_unit(
    by: Principal | None, *, name: str, kind: UnitKind = UnitKind.DEPARTMENT, parent: OrgUnit | None = None
) -> OrgUnit:
    """Create a unit below `parent`, or at the top. Raises PermissionDenied, InvalidInput (no name), Conflict (taken)."""
    require_administrator(by)
    group = create_carrier_group(name)
    unit = OrgUnit.objects.create(name=group.name, kind=kind, parent=parent, group=group)
    OrgUnitLink.objects.create(ancestor=unit, descendant=unit, depth=0)
    if parent is not None:
        _add_unit_links(unit, parent)
    record_action(by, Action.ORG_UNIT_CREATED, unit)
    return unit


@transaction.atomic
def move_unit(by: Principal | None, unit: OrgUnit, *, parent: OrgUnit | None) -> None:
    """Move a unit, with the units below it, under another one or to the top.

    Raises PermissionDenied, InvalidInput (below itself, or a place would lose its last manager).
    """
    require_administrator(by)
    _lock_units()
    unit.refresh_from_db()
    if parent is not None and OrgUnitLink.objects.filter(ancestor=unit, descendant=parent).exists():
        raise InvalidInput(
            _("“%(unit)s” cannot belong to “%(parent)s”: that would create a loop.") % {"unit": unit, "parent": parent}
        )

    def concerned() -> list[Model]:
        return [
            *list_places_managed_by_group(unit.group),
            *(list_places_denied_to_group(parent.group) if parent else ()),
        ]

    with keep_managers(concerned):
        inside = OrgUnitLink.objects.filter(ancestor=unit).values_list("descendant_id", flat=True)
        below = list(inside)
        OrgUnitLink.objects.filter(descendant_id__in=below).exclude(ancestor_id__in=below).delete()
        if parent is not None:
            _add_unit_links(unit, parent)
        unit.parent = parent
        unit.save(update_fields=["parent"])
        record_action(by, Action.ORG_UNIT_MOVED, unit, detail={"parent": parent.pk if parent else None})


@transaction.atomic
def delete_unit(by: Principal | None, unit: OrgUnit) -> None:
    """Delete a unit with its group and the group's grants.

    Raises PermissionDenied, InvalidInput (units below it, knowledge bases that belong to it, the last manager of a place).
    """
    require_administrator(by)
    if unit.children.exists():
        raise InvalidInput(_("“%(unit)s” has units below it. Move or delete them first.") % {"unit": unit})
    record_action(by, Action.ORG_UNIT_DELETED, unit)
    try:
        remove_group(unit.group)
    except ProtectedError as error:
        raise InvalidInput(_("Knowledge bases belong to “%(unit)s”. Transfer them first.") % {"unit": unit}) from error


@transaction.atomic
def rename_unit_or_role(by: Principal | None, place: OrgUnit | Role | Group, *, name: str) -> None:
    """Rename a unit or role and its group, or a plain one.

    Raises PermissionDenied, InvalidInput (no name), Conflict (it is taken).
    """
    require_administrator(by)
    set_name(by, place, name=name)


def set_name(by: Principal | None, place: OrgUnit | Role | Group, *, name: str) -> None:
    """Rename without checking rights. Raises InvalidInput, Conflict."""
    group = _group_of(place)
    before, place.name = place.name, _require_free_name(name, besides=group)
    place.save(update_fields=["name"])
    group.name = place.name
    group.save(update_fields=["name"])
    record_action(by, _CHANGED[type(place)], place, detail={"before": before})


@transaction.atomic
def add_member(by: Principal | None, place: OrgUnit | Role | Group, *, user: User) -> None:
    """Make a person a member; an existing member is not recorded again.

    Raises PermissionDenied, InvalidInput (the group is denied to manage a place whose last manager this person is).
    """
    require_administrator(by)
    group = _group_of(place)
    if not group.user_set.filter(pk=user.pk).exists():
        with keep_managers(lambda: list_places_denied_to_group(group)):
            group.user_set.add(user)
            record_action(by, Action.MEMBER_ADDED, place, detail={"user": user.pk})


@transaction.atomic
def remove_member(by: Principal | None, place: OrgUnit | Role | Group, *, user: User) -> None:
    """End a membership. Raises PermissionDenied, InvalidInput (a place would lose its last manager)."""
    require_administrator(by)
    group = _group_of(place)
    if group.user_set.filter(pk=user.pk).exists():
        with keep_managers(lambda: list_places_managed_by_group(group)):
            group.user_set.remove(user)
            record_action(by, Action.MEMBER_REMOVED, place, detail={"user": user.pk})


def _group_of(place: OrgUnit | Role | Group) -> Group:
    return place if isinstance(place, Group) else place.group


def create_carrier_group(name: str) -> Group:
    """Create the group that carries a unit or a role. Raises InvalidInput (no name), Conflict (it is taken)."""
    return Group.objects.create(name=_require_free_name(name))


def _require_free_name(name: str, *, besides: Group | None = None) -> str:
    """Return the name as stored, checked for a group. Raises InvalidInput, Conflict."""
    name = " ".join(name.split())
    if not name or len(name) > NAME_LENGTH:
        raise InvalidInput(_("A name has 1 to %(most)s characters.") % {"most": NAME_LENGTH})
    if Group.objects.filter(name=name).exclude(pk=besides.pk if besides else 0).exists():
        raise Conflict(_("There is already a group called “%(name)s”.") % {"name": name})
    return name


def remove_group(group: Group) -> None:
    """Delete a group with its grants. Raises InvalidInput (a place would lose its last manager)."""
    with keep_managers(lambda: list_places_managed_by_group(group)):
        group.delete()


def _add_unit_links(unit: OrgUnit, parent: OrgUnit) -> None:
    """Add the links from `parent` and the units above it to `unit` and those below it."""
    _lock_units()
    above = list(OrgUnitLink.objects.filter(descendant=parent).values_list("ancestor_id", "depth"))
    below = list(OrgUnitLink.objects.filter(ancestor=unit).values_list("descendant_id", "depth"))
    OrgUnitLink.objects.bulk_create(
        OrgUnitLink(ancestor_id=top, descendant_id=bottom, depth=up + 1 + down)
        for top, up in above
        for bottom, down in below
    )


def _lock_units() -> None:
    """Serialise moves: two concurrent ones could form a cycle that neither sees."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('org units', 0))")
