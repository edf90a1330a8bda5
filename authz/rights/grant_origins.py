"""Grants from an outside source: given and ended on its word."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group, Permission
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from guardian.utils import get_group_obj_perms_model, get_user_obj_perms_model

from audit.actions import Action
from audit.record import record
from authz.permissions import Right, codename
from authz.rights.holders import Holder


@dataclass(frozen=True)
class Origin:
    """A source of grants. name: as shown when a right is explained."""

    id: UUID
    name: str


@transaction.atomic
def settle(origin: Origin, right: Right, wanted: Iterable[tuple[models.Model, Holder]], *, on: Any) -> None:
    """Make an origin's grants of one right on a model's rows exactly these: add missing ones, end the others.

    on: the model. Grants given by a person stay and are not duplicated.
    """
    wanted = list(wanted)
    permission = Permission.objects.get(content_type__app_label=on._meta.app_label, codename=codename(right, on))
    models_of: dict[str, Any] = {"group": get_group_obj_perms_model(on), "user": get_user_obj_perms_model(on)}
    for kind, grants in models_of.items():
        there = grants.objects.filter(origin=origin.id, permission=permission)
        there.exclude(origin_name=origin.name).update(origin_name=origin.name)
        keys = {(row.pk, holder.pk) for row, holder in wanted if _kind(holder) == kind}
        for grant in there.select_related("content_object", kind):
            holder = getattr(grant, kind)
            if (grant.content_object_id, holder.pk) not in keys:
                grant.delete()
                record(None, Action.GRANT_REVOKED, grant.content_object, detail=_detail(origin, right, holder))
        for row, holder in wanted:
            if _kind(holder) == kind:
                _give(origin, right, row, holder, grants.objects.filter(permission=permission), permission)


def _give(  # noqa: PLR0917  # the parts of one grant
    origin: Origin, right: Right, row: models.Model, holder: Holder, grants: Any, permission: Permission
) -> None:
    kind = _kind(holder)
    held = grants.filter(**{"content_object": row, kind: holder})
    if held.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now())).exists():
        return
    held.delete()  # it has ended
    given = {"content_object": row, kind: holder, "permission": permission}
    grants.create(**given, origin=origin.id, origin_name=origin.name)
    record(None, Action.GRANT_GIVEN, row, detail=_detail(origin, right, holder))


def _kind(holder: Holder) -> str:
    return "group" if isinstance(holder, Group) else "user"


def _detail(origin: Origin, right: Right, holder: Holder) -> dict[str, object]:
    return {"right": right.value, _kind(holder): holder.pk, "origin": str(origin.id)}
