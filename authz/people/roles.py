"""Roles: functions of people, in any unit (ADR 0018).

A role is a Django group marked by a row. It has no list of rights: it is granted rights on folders and knowledge bases
like any group, and its members have them. People join and leave by `authz.people.units.add_member` and `leave`, or through claims of
the company's sign-in. `by` is None for commands; else a superuser.
"""

from django.contrib.auth.models import Group
from django.db import transaction
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.models import OrgUnit, Role
from authz.people.units import create_carrier_group, remove_group, require_administrator
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput


@transaction.atomic
def create_role(by: Principal | None, *, name: str) -> Role:
    """Create a role, empty and without rights. Raises PermissionDenied, InvalidInput (no name), Conflict (taken)."""
    require_administrator(by)
    group = create_carrier_group(name)
    role = Role.objects.create(name=group.name, group=group)
    record_action(by, Action.ROLE_CREATED, role)
    return role


@transaction.atomic
def delete_role(by: Principal | None, role: Role) -> None:
    """Delete a role with its group and grants. Raises PermissionDenied, InvalidInput (the last manager of a place)."""
    require_administrator(by)
    record_action(by, Action.ROLE_DELETED, role)
    remove_group(role.group)


@transaction.atomic
def create_group(by: Principal | None, *, name: str) -> Group:
    """Create a plain group. Raises PermissionDenied, InvalidInput (no name), Conflict (it is taken)."""
    require_administrator(by)
    group = create_carrier_group(name)
    record_action(by, Action.GROUP_CREATED, group)
    return group


@transaction.atomic
def delete_group(by: Principal | None, group: Group) -> None:
    """Delete a plain group with its grants.

    Raises PermissionDenied, InvalidInput (it carries a unit or a role, or is the last manager of a place).
    """
    require_administrator(by)
    if OrgUnit.objects.filter(group=group).exists() or Role.objects.filter(group=group).exists():
        raise InvalidInput(_("“%(name)s” belongs to a unit or a role. Delete that instead.") % {"name": group})
    record_action(by, Action.GROUP_DELETED, group)
    remove_group(group)
