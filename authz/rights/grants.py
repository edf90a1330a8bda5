"""Rights on folders and knowledge bases: given and taken back, denied and no longer denied. Documents: `knowledge.services.access`."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group, Permission
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from guardian.utils import get_group_obj_perms_model, get_user_obj_perms_model

from audit.actions import Action
from audit.record import record_action
from authz.models import Denial
from authz.permissions import Right, build_codename
from authz.principal import Principal
from authz.rights.holders import Holder, find_inherited_grants, keep_managers
from copilot_site.lib.errors import InvalidInput


@dataclass(frozen=True)
class Grant:
    """One right of one person or group on one row, for lists and pages. expires_at: None for no end."""

    holder: str
    is_group: bool
    right: Right
    expires_at: datetime | None = None


@dataclass(frozen=True)
class Denied:
    """One right denied to one person or group on one row, whatever is granted."""

    holder: str
    is_group: bool
    right: Right
    reason: str = ""


@transaction.atomic
def grant_rights(
    by: Principal | None,
    rights: Iterable[Right],
    row: models.Model,
    *,
    to: Holder,
    expires_at: datetime | None = None,
    about: models.Model | None = None,
) -> None:
    """Give rights on a folder or knowledge base until `expires_at`; an unchanged grant is not audited again.

    by: who gives; None for commands that set a system up. The caller has checked `manage`.
    about: the row that the audit log names instead of `row`: the document of an exception.
    Raises InvalidInput (an end that has passed, or one that would leave nobody to manage the row).
    """
    if expires_at is not None and expires_at <= timezone.now():
        raise InvalidInput(
            _("A right cannot end in the past (%(end)s). Give a later end, or none.") % {"end": expires_at.isoformat()}
        )
    wanted = list(rights)
    held = {grant.permission.codename: grant for grant in _select_holder_grants(row, to).select_related("permission")}
    takes_away = expires_at is not None  # a grant without an end only adds a manager
    with _keep_managers_if_needed(wanted, row) if takes_away else nullcontext():
        for right in wanted:
            name = build_codename(right, type(row))
            if name in held and held[name].expires_at == expires_at and held[name].origin is None:
                continue
            _select_holder_grants(row, to).update_or_create(
                permission=_find_permission(name, row),
                defaults={
                    "expires_at": expires_at,
                    "granted_by_id": _user_id_of(by),
                    "granted_at": timezone.now(),
                    "origin": None,
                    "origin_name": "",
                },
                create_defaults={
                    "content_object": row,
                    _holder_kind_of(to): to,
                    "expires_at": expires_at,
                    "granted_by_id": _user_id_of(by),
                },
            )
            record_action(
                by, Action.GRANT_GIVEN, about or row, detail=_build_audit_detail(right, to, expires_at=expires_at)
            )


@transaction.atomic
def revoke_rights(
    by: Principal | None, rights: Iterable[Right], row: models.Model, *, of: Holder, about: models.Model | None = None
) -> None:
    """Revoke rights granted on this row itself; inherited ones are revoked where they were granted.

    Raises InvalidInput when nobody could manage the row afterwards.
    """
    wanted = list(rights)
    with _keep_managers_if_needed(wanted, row):
        for right in wanted:
            gone, _by_model = (
                _select_holder_grants(row, of).filter(permission__codename=build_codename(right, type(row))).delete()
            )
            if gone:
                record_action(by, Action.GRANT_REVOKED, about or row, detail=_build_audit_detail(right, of))


@transaction.atomic
def deny_rights(
    by: Principal | None,
    rights: Iterable[Right],
    row: models.Model,
    *,
    to: Holder,
    reason: str = "",
    about: models.Model | None = None,
) -> None:
    """Deny rights on a folder or knowledge base and below, whatever is granted; an existing denial gets the new reason.

    The caller has checked `manage`. Raises InvalidInput when nobody could manage the row afterwards.
    """
    wanted = list(rights)
    with _keep_managers_if_needed(wanted, row):
        for right in wanted:
            key = {_place_kind_of(row): row, _holder_kind_of(to): to, "right": right.value}
            _denial, is_new = Denial.objects.update_or_create(
                **key,
                defaults={"reason": reason[:500]},
                create_defaults=key | {"reason": reason[:500], "denied_by_id": _user_id_of(by)},
            )
            if is_new:
                record_action(
                    by, Action.DENIAL_GIVEN, about or row, reason=reason, detail=_build_audit_detail(right, to)
                )


@transaction.atomic
def remove_denials(
    by: Principal | None, rights: Iterable[Right], row: models.Model, *, of: Holder, about: models.Model | None = None
) -> None:
    """Remove denials on this row itself; those above stay. The caller has checked `manage`."""
    for right in rights:
        gone, _by_model = Denial.objects.filter(
            **{_place_kind_of(row): row, _holder_kind_of(of): of}, right=right.value
        ).delete()
        if gone:
            record_action(by, Action.DENIAL_REMOVED, about or row, detail=_build_audit_detail(right, of))


@transaction.atomic
def copy_inherited_grants(by: Principal | None, folder: models.Model, *, about: models.Model | None = None) -> None:
    """Copy the grants that this folder inherits now onto it, each with its end."""
    for (holder, right), expires_at in find_inherited_grants(folder).items():
        grant_rights(by, [right], folder, to=holder, expires_at=expires_at, about=about)


def has_no_own_rights(row: models.Model) -> bool:
    """Tell whether this row itself has no grants and no denials."""
    granted = any(model.objects.filter(content_object=row).exists() for model in _find_grant_models(row).values())
    return not granted and not Denial.objects.filter(**{_place_kind_of(row): row}).exists()


def list_grants(row: models.Model) -> list[Grant]:
    """Return the grants on this row itself, groups first, by name, expired ones included."""
    rows = [
        Grant(name, kind == "group", _parse_right(code), expires_at)
        for kind, model in _find_grant_models(row).items()
        for name, code, expires_at in model.objects.filter(content_object=row).values_list(
            F("group__name") if kind == "group" else F("user__username"),
            F("permission__codename"),
            "expires_at",
        )
    ]
    return sorted(rows, key=_sort_key_of)


def list_denials(row: models.Model) -> list[Denied]:
    """Return the denials on this row itself, groups first, by name."""
    rows = Denial.objects.filter(**{_place_kind_of(row): row}).select_related("user", "group")
    shown = [
        Denied(
            row.group.name if row.group else row.user.username if row.user else "",
            row.group is not None,
            Right(row.right),
            row.reason,
        )
        for row in rows
    ]
    return sorted(shown, key=_sort_key_of)


def _select_holder_grants(row: models.Model, holder: Holder) -> Any:
    """Return this holder's grants on this row itself."""
    return _find_grant_models(row)[_holder_kind_of(holder)].objects.filter(
        **{"content_object": row, _holder_kind_of(holder): holder}
    )


def _find_grant_models(row: Any) -> dict[str, Any]:
    """Return {kind of holder: model of the grants on rows such as this one}."""
    return {"group": get_group_obj_perms_model(row), "user": get_user_obj_perms_model(row)}


def _keep_managers_if_needed(rights: list[Right], row: models.Model) -> AbstractContextManager[None]:
    return keep_managers(lambda: [row]) if Right.MANAGE in rights else nullcontext()


def _find_permission(name: str, row: Any) -> Permission:
    return Permission.objects.get(content_type__app_label=row._meta.app_label, codename=name)


def _place_kind_of(row: models.Model) -> str:
    return "folder" if row._meta.model_name == "folder" else "knowledge_base"


def _user_id_of(by: Principal | None) -> int | None:
    return by.user_id if by else None


def _parse_right(code: str) -> Right:
    return Right(code.partition("_")[0])


def _sort_key_of(line: Grant | Denied) -> tuple[bool, str, int]:
    return not line.is_group, line.holder, list(Right).index(line.right)


def _build_audit_detail(right: Right, holder: Holder, *, expires_at: datetime | None = None) -> dict[str, object]:
    detail: dict[str, object] = {"right": right.value, _holder_kind_of(holder): holder.pk}
    return detail | {"expires_at": expires_at.isoformat()} if expires_at else detail


@dataclass(frozen=True)
class GrantOrigin:
    """A source of grants. name: as shown when a right is explained."""

    id: UUID
    name: str


@transaction.atomic
def sync_origin_grants(
    origin: GrantOrigin, right: Right, wanted: Iterable[tuple[models.Model, Holder]], *, on: Any
) -> None:
    """Make an origin's grants of one right on a model's rows exactly these: add missing ones, end the others.

    on: the model. Grants given by a person stay and are not duplicated.
    """
    wanted = list(wanted)
    permission = _find_permission(build_codename(right, on), on)
    for kind, grants in _find_grant_models(on).items():
        there = grants.objects.filter(origin=origin.id, permission=permission)
        there.exclude(origin_name=origin.name).update(origin_name=origin.name)
        keys = {(row.pk, holder.pk) for row, holder in wanted if _holder_kind_of(holder) == kind}
        for grant in there.select_related("content_object", kind):
            holder = getattr(grant, kind)
            if (grant.content_object_id, holder.pk) not in keys:
                grant.delete()
                record_action(
                    None,
                    Action.GRANT_REVOKED,
                    grant.content_object,
                    detail=_build_audit_detail(right, holder) | {"origin": str(origin.id)},
                )
        for row, holder in wanted:
            if _holder_kind_of(holder) == kind:
                _add_grant(origin, right, row, holder, grants.objects.filter(permission=permission), permission)


def _add_grant(  # noqa: PLR0917  # the parts of one grant
    origin: GrantOrigin, right: Right, row: models.Model, holder: Holder, grants: Any, permission: Permission
) -> None:
    kind = _holder_kind_of(holder)
    held = grants.filter(**{"content_object": row, kind: holder})
    if held.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now())).exists():
        return
    held.delete()  # it has ended
    given = {"content_object": row, kind: holder, "permission": permission}
    grants.create(**given, origin=origin.id, origin_name=origin.name)
    record_action(None, Action.GRANT_GIVEN, row, detail=_build_audit_detail(right, holder) | {"origin": str(origin.id)})


def _holder_kind_of(holder: Holder) -> str:
    return "group" if isinstance(holder, Group) else "user"
