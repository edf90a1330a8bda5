"""Giving and taking back rights on folders and knowledge bases."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from django.db import models, transaction
from django.db.models import F
from guardian.shortcuts import assign_perm, get_group_perms, get_user_perms, remove_perm
from guardian.utils import get_group_obj_perms_model, get_user_obj_perms_model

from audit.actions import Action
from audit.record import record
from authz.permissions import Right, codename
from authz.principal import Principal


@dataclass(frozen=True)
class Grant:
    """One right of one person or group on one row, for lists and pages."""

    holder: str
    is_group: bool
    right: Right


@transaction.atomic
def give(by: Principal | None, rights: Iterable[Right], row: models.Model, *, to: User | Group) -> None:
    """Give rights on a folder or knowledge base; a right already held stays and is not recorded again.

    by: who gives; None for commands that set a system up. The caller has checked `manage`.
    """
    held = _direct(row, to)
    for right in rights:
        name = codename(right, type(row))
        if name not in held:
            assign_perm(name, to, row)
            record(by, Action.GRANT_GIVEN, row, detail=_detail(right, to))


@transaction.atomic
def take_back(by: Principal | None, rights: Iterable[Right], row: models.Model, *, of: User | Group) -> None:
    """Take back rights given on this very row; inherited ones end where they were given."""
    held = _direct(row, of)
    for right in rights:
        name = codename(right, type(row))
        if name in held:
            remove_perm(name, of, row)
            record(by, Action.GRANT_REVOKED, row, detail=_detail(right, of))


def grants_on(row: models.Model) -> list[Grant]:
    """The rights given on this very row, groups first, by name."""
    groups = get_group_obj_perms_model(row)._default_manager.filter(content_object=row)
    users = get_user_obj_perms_model(row)._default_manager.filter(content_object=row)
    rows = [
        *(
            Grant(name, True, _right(code))
            for name, code in groups.values_list(F("group__name"), F("permission__codename"))
        ),
        *(
            Grant(name, False, _right(code))
            for name, code in users.values_list(F("user__username"), F("permission__codename"))
        ),
    ]
    order = list(Right)
    return sorted(rows, key=lambda grant: (not grant.is_group, grant.holder, order.index(grant.right)))


def _direct(row: models.Model, holder: User | Group) -> set[str]:
    perms = get_group_perms(holder, row) if isinstance(holder, Group) else get_user_perms(holder, row)
    return set(perms)


def _right(code: str) -> Right:
    return Right(code.partition("_")[0])


def _detail(right: Right, holder: User | Group) -> dict[str, object]:
    kind = "group" if isinstance(holder, Group) else "user"
    return {"right": right.value, kind: holder.pk}
