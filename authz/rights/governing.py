"""Places that people govern (managers their own, superusers all) and review (auditors all).

Neither gives a right to read documents.
"""

from typing import Any, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import equalise_timing, guarded_manager_of
from copilot_site.lib.errors import NotFound, PermissionDenied

M = TypeVar("M", bound=models.Model)
NEEDS_OVERSIGHT = gettext_lazy(
    "This shows what other people see and ask, which needs the right to oversee. Ask an administrator for it."
)


def filter_governed_rows(model: type[M], principal: Principal) -> QuerySet[M]:
    """Return the rows of a protected model whose rights this person may see and change."""
    doors: Any = model
    return _exclude_system_rows(
        model, doors.unscoped.all() if principal.is_superuser else doors.objects.reachable_by(principal, Right.MANAGE)
    )


def _exclude_system_rows(model: type[M], rows: QuerySet[M]) -> QuerySet[M]:
    """Exclude a model's `OF_THE_SYSTEM` rows: nobody governs them, not even a superuser."""
    kept = getattr(model, "OF_THE_SYSTEM", None)
    return rows if kept is None else rows.exclude(kept)


def is_reviewer(principal: Principal) -> bool:
    """Tell whether this person may see all rights: readers of the audit log, but no token for one folder."""
    if principal.is_superuser or principal.is_nobody or principal.folder_id is not None:
        return principal.is_superuser
    user = User.objects.filter(pk=principal.user_id, is_active=True).first()
    return user is not None and user.has_perm("audit.view_entry")


def filter_reviewed_rows(model: type[M], principal: Principal) -> QuerySet[M]:
    """Return the rows of a protected model whose rights this person may see: governed ones, and all for reviewers."""
    doors: Any = model
    return (
        _exclude_system_rows(model, doors.unscoped.all())
        if is_reviewer(principal)
        else filter_governed_rows(model, principal)
    )


def get_reviewed(model: type[M], principal: Principal, **lookup: Any) -> M:
    """Return the one matching row they may review; raise NotFound, the same for missing and not reviewed."""
    return _find_row(model, principal, lookup, sees_all=is_reviewer(principal))


def get_governed(model: type[M], principal: Principal, **lookup: Any) -> M:
    """Return the one matching row they govern; raise NotFound, the same for missing and not governed."""
    return _find_row(model, principal, lookup, sees_all=principal.is_superuser)


def _find_row(model: type[M], principal: Principal, lookup: dict[str, Any], *, sees_all: bool) -> M:
    try:
        rows: QuerySet[M] = _exclude_system_rows(model, model.unscoped.filter(**lookup))  # type: ignore[attr-defined]
        row = (
            rows
            if sees_all
            else _exclude_system_rows(model, guarded_manager_of(model).permitted(principal, Right.MANAGE, **lookup))
        ).first()
        if row is None and not sees_all:
            equalise_timing(principal, Right.MANAGE, rows)
    except (ValueError, ValidationError):  # a malformed id matches nothing
        row = None
    if row is None:
        raise NotFound(_("There is no such %(what)s, or you do not manage it.") % {"what": model._meta.verbose_name})
    return row


def may_oversee(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Tell whether this user may impersonate and replay answers: superusers and holders of `authz.oversee`."""
    return isinstance(user, User) and user.has_perm("authz.oversee")


def require_oversight(user: AbstractBaseUser | AnonymousUser) -> None:
    """Raise PermissionDenied unless they may oversee."""
    if not may_oversee(user):
        raise PermissionDenied(str(NEEDS_OVERSIGHT))
