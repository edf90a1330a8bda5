"""Grants to ask a data source or one of its tables, and to manage it: given, revoked and queried."""

from datetime import datetime

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows
from business.models import DataSource, SourceGrant
from copilot_site.lib.errors import InvalidInput, PermissionDenied


@transaction.atomic
def grant(
    by: Principal | None,
    source: DataSource,
    *,
    to: User | Group,
    table: str = "",
    right: Right = Right.VIEW,
    expires_at: datetime | None = None,
) -> None:
    """Give a right on a source or one of its tables. Raises InvalidInput for a table that the layer does not have."""
    require_manager(by, source)
    if source.document_id is not None:
        raise InvalidInput(_("Rights on a spreadsheet are those on its document: give them there."))
    if table and table not in {m.name for m in source.semantic_layer.semantic_models}:
        raise InvalidInput(_("The source has no table %(table)s.") % {"table": table})
    holder = {"user": to} if isinstance(to, User) else {"group": to}
    SourceGrant.objects.update_or_create(
        source=source, table=table, right=right.value, **holder, defaults={"expires_at": expires_at}
    )
    record_action(by, Action.GRANT_GIVEN, source, detail=_build_audit_detail(right, to, table))


@transaction.atomic
def revoke_right(
    by: Principal | None, source: DataSource, *, of: User | Group, table: str = "", right: Right = Right.VIEW
) -> None:
    """Revoke a right; one that is not held is not audited."""
    require_manager(by, source)
    holder = {"user": of} if isinstance(of, User) else {"group": of}
    if SourceGrant.objects.filter(source=source, table=table, right=right.value, **holder).delete()[0]:
        record_action(by, Action.GRANT_REVOKED, source, detail=_build_audit_detail(right, of, table))


def require_manager(by: Principal | None, source: DataSource) -> None:
    """Raise PermissionDenied unless `by` manages the source; None is a command of the operator, a superuser governs all."""
    if by is None or by.is_superuser:
        return
    if not list_wholly_managed_sources(by).filter(pk=source.pk).exists():
        raise PermissionDenied(_("You do not manage the data source %(name)s.") % {"name": source.name})


def managed_sources(principal: Principal) -> set[str]:
    """Return names of the sources that this person may ask and manages: whose answers they may correct."""
    kept = list_wholly_managed_sources(principal).values("pk")
    return set(DataSource.objects.visible_to(principal).filter(pk__in=kept).values_list("name", flat=True))


def list_wholly_managed_sources(principal: Principal) -> QuerySet[DataSource]:
    """Return the sources that a person manages as a whole, spreadsheets by their document; of a superuser all."""
    if principal.is_superuser:
        return filter_governed_rows(DataSource, principal)
    whole = SourceGrant.held_by(principal, Right.MANAGE).filter(table="").values("source_id")
    reached = DataSource.objects.reachable_by(principal, Right.MANAGE)
    return reached.filter(Q(pk__in=whole) | Q(document__isnull=False))


def list_wholly_askable_sources(principal: Principal) -> QuerySet[DataSource]:
    """Return the sources of which this person may ask every table, spreadsheets by their document."""
    whole = SourceGrant.held_by(principal, Right.VIEW).filter(table="").values("source_id")
    return DataSource.objects.visible_to(principal).filter(Q(pk__in=whole) | Q(document__isnull=False))


def _build_audit_detail(right: Right, holder: User | Group, table: str) -> dict[str, object]:
    kind = "group" if isinstance(holder, Group) else "user"
    return {"right": right.value, kind: holder.pk, "table": table}
