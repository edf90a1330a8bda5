"""Who governs what: managers the places they manage, superusers every place. It lets nobody read what documents say."""

from typing import Any, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import NotFound, PermissionDenied

M = TypeVar("M", bound=models.Model)


def governed(model: type[M], principal: Principal) -> QuerySet[M]:
    """The rows of a protected model whose rights this person may see and change."""
    doors: Any = model
    rows: QuerySet[M] = (
        doors.unscoped.all() if principal.is_superuser else doors.objects.reachable_by(principal, Right.MANAGE)
    )
    return rows


def get_governed(model: type[M], principal: Principal, **lookup: Any) -> M:
    """The one governed row that matches; raises NotFound, the same for missing and not governed."""
    try:
        row = governed(model, principal).filter(**lookup).first()
    except (ValueError, ValidationError):  # an id that is no UUID names nothing
        row = None
    if row is None:
        raise NotFound(_("There is no such %(what)s, or you do not manage it.") % {"what": model._meta.verbose_name})
    return row


def require_oversight(user: AbstractBaseUser | AnonymousUser) -> None:
    """Let pass who may look through another person's eyes and replay answers: superusers and holders of `authz.oversee`.

    Raises PermissionDenied.
    """
    if not (isinstance(user, User) and user.has_perm("authz.oversee")):
        raise PermissionDenied(_("Only administrators and auditors may look through another person's eyes."))
