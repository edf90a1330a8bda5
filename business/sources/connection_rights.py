"""The right to set a data source's address and account, and the audit of its changes.

The right is `business.change_connection`, a superuser's by default. Managers of a source change its layer, words
and who may ask it, but not its connection.
"""

from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows
from business.models import DataSource
from copilot_site.lib.errors import NotFound, PermissionDenied
from copilot_site.lib.outgoing.addresses import build_service_policy, require_plausible_host

LIMITS = ("max_seconds", "max_rows", "max_gathered_mb", "kept_minutes")
_WHERE = ("name", "engine", "host", "port", "database", "username", "tls", "schemas")
FIELDS = (*_WHERE, "is_dedicated", "is_active", *LIMITS)


def may_connect(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether a user may set connections: superusers and holders of `business.change_connection`."""
    return isinstance(user, User) and user.has_perm("business.change_connection")


def managed_source(principal: Principal, source_id: UUID) -> DataSource:
    """Return a source that this person manages. Raises NotFound, the same for missing and not managed."""
    source = filter_governed_rows(DataSource, principal).filter(pk=source_id).first()
    if source is None:
        raise NotFound(_("There is no data source that you manage."))
    return source


def list_seen_sources(principal: Principal, user: AbstractBaseUser | AnonymousUser) -> QuerySet[DataSource]:
    """Return the databases this person sees in the admin: those they manage, and all if they may set connections."""
    rows = DataSource.unscoped.all() if may_connect(user) else filter_governed_rows(DataSource, principal)
    return rows.filter(document=None)


@transaction.atomic
def change_connection(by: User | AnonymousUser, source: DataSource, *, password: str = "") -> bool:
    """Store a source with its current connection. password: a new one; "" keeps that of an unchanged address.

    Returns whether a stored password was cleared because the address changed: it must be entered again. The log names
    the changed settings and both addresses, never the password.
    Raises PermissionDenied, and InvalidInput for a malformed or forbidden host; names are resolved when connecting.
    """
    if not may_connect(by):
        raise PermissionDenied(_("Only administrators can change the connection of a data source."))
    if source.host:
        source.host = require_plausible_host(source.host, build_service_policy())
    before = DataSource.unscoped.select_for_update().filter(pk=source.pk).first()
    changed = {name for name in FIELDS if before is None or getattr(before, name) != getattr(source, name)}
    is_moved = before is not None and before.where != source.where
    is_emptied = is_moved and not password and bool(before and before.encrypted_password)
    if password:
        source.set_password(password)
        changed.add("password")
    elif is_moved:
        source.encrypted_password = b""
    if changed:
        source.save()
        detail: dict[str, object] = {"connection": sorted(changed)}
        if before is None or is_moved:
            detail |= {"address_before": before.where if before else "", "address": source.where}
        if password or is_emptied:
            detail["password"] = "entered" if password else "emptied"
        record_action(Principal.of(by), Action.SETTING_CHANGED, source, detail=detail)
    return is_emptied


@transaction.atomic
def delete_source(by: User | AnonymousUser, source: DataSource) -> None:
    """Delete a source with its address, its layer, its verified answers and the rights on it. Raises PermissionDenied."""
    if not may_connect(by):
        raise PermissionDenied(_("Only administrators can change the connection of a data source."))
    detail = {"deleted": True, "address_before": source.where}
    record_action(Principal.of(by), Action.SETTING_CHANGED, source, detail=detail)
    source.delete()
