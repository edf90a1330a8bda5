"""Find the holders of a right on a place, the inverse of `authz.rights.folders`, and keep each place's last manager."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.db import connection, models, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import ngettext

from authz.models import Denial, FolderGroupGrant, FolderUserGrant, KnowledgeBaseGroupGrant, KnowledgeBaseUserGrant
from authz.permissions import Right
from authz.rights.folders import BASE_GRANTS, FOLDER_GRANTS
from copilot_site.lib.errors import InvalidInput

Holder = User | Group
COUNTS = Q(expires_at=None) | Q(expires_at__gt=Now())  # grants that have not ended


def find_people_with_right(right: Right, place: models.Model, *, without_end: bool = False) -> QuerySet[User]:
    """Return the active people who hold `right` on a folder or knowledge base.

    without_end: count only grants without an end.
    """
    allowed = Q(pk=None)
    for model, reaches, kind in _list_reaching_models(place):
        given = model.objects.filter(
            reaches, Q(expires_at=None) if without_end else COUNTS, permission__codename=f"{right.value}_{kind}"
        )
        allowed |= _build_member_condition(given) if _is_group_grant_model(model) else Q(pk__in=given.values("user_id"))
    denied = Denial.objects.filter(_build_denial_condition(place), right=right.value)
    by_name = Q(pk__in=denied.filter(user__isnull=False).values("user_id"))
    return User.objects.filter(allowed, is_active=True).exclude(
        by_name | _build_member_condition(denied.filter(group__isnull=False))
    )


def find_inherited_grants(folder: models.Model) -> dict[tuple[Holder, Right], datetime | None]:
    """Return the holders and rights that grants above a folder give on it, with their last end; None for no end."""
    found: dict[tuple[Holder, Right], datetime | None] = {}
    for model, reaches, kind in _list_reaching_models(folder):
        right_of = {f"{right.value}_{kind}": right for right in Right}
        given = model.objects.filter(reaches, COUNTS, permission__codename__in=right_of).select_related("permission")
        for grant in given.exclude(content_object=folder.pk) if model in FOLDER_GRANTS else given:
            key = (grant.group if _is_group_grant_model(model) else grant.user, right_of[grant.permission.codename])
            ends = [grant.expires_at, *([found[key]] if key in found else [])]
            found[key] = None if None in ends else max(ends)
    return found


def list_places_managed_by_group(group: Group) -> list[models.Model]:
    """Return the folders and knowledge bases on which this group, or a unit above it, has been given `manage`."""
    return _list_managed_places(FolderGroupGrant, KnowledgeBaseGroupGrant, _build_holder_condition(group))


def list_places_managed_by_person(user: User) -> list[models.Model]:
    """Return the folders and knowledge bases on which this person, or one of their groups, has been given `manage`."""
    own = _list_managed_places(FolderUserGrant, KnowledgeBaseUserGrant, Q(user=user))
    return list(
        dict.fromkeys([*own, *(place for group in user.groups.all() for place in list_places_managed_by_group(group))])
    )


def _list_managed_places(on_folders: Any, on_bases: Any, holder: Q) -> list[models.Model]:
    """Return the folders and knowledge bases on which these kinds of grants give a holder `manage`."""
    manages = Q(permission__codename__startswith=f"{Right.MANAGE.value}_")
    return [
        grant.content_object
        for model in (on_folders, on_bases)
        for grant in model.objects.filter(holder, manages).distinct()
    ]


def list_places_denied_to_group(group: Group) -> list[models.Model]:
    """Return the folders and knowledge bases on which `manage` is denied to this group, or to a unit above it."""
    rows = Denial.objects.filter(_build_holder_condition(group), right=Right.MANAGE.value).distinct()
    places = ((row.folder or row.knowledge_base) for row in rows.select_related("folder", "knowledge_base"))
    return [place for place in places if place is not None]


def find_bases_about_group(group: Group) -> set[UUID]:
    """Return the knowledge bases in which something is granted or denied to this group, or to a unit above it."""
    return _find_bases(FolderGroupGrant, KnowledgeBaseGroupGrant, _build_holder_condition(group))


def find_bases_about_person(user: User) -> set[UUID]:
    """Return the knowledge bases in which something is granted or denied to this person, or to a group that counts for them."""
    by_name = _find_bases(FolderUserGrant, KnowledgeBaseUserGrant, Q(user=user))
    return by_name.union(*(find_bases_about_group(group) for group in user.groups.all()))


def _find_bases(on_folders: Any, on_bases: Any, holder: Q) -> set[UUID]:
    """Return the knowledge bases in which these kinds of grants, or denials, concern a holder."""
    denied = Denial.objects.filter(holder)
    return {
        *on_folders.objects.filter(holder).values_list("content_object__knowledge_base_id", flat=True),
        *on_bases.objects.filter(holder).values_list("content_object_id", flat=True),
        *denied.filter(knowledge_base=None).values_list("folder__knowledge_base_id", flat=True),
        *denied.filter(folder=None).values_list("knowledge_base_id", flat=True),
    }


def _build_holder_condition(group: Group) -> Q:
    """Return the condition for rows held by this group or a unit above it."""
    return Q(group=group) | Q(group__org_unit__descendant_links__descendant__group=group)


def _list_reaching_models(place: models.Model) -> list[tuple[Any, Q, str]]:
    """Return the grant models, each with the condition for reaching this place and the word in its codenames."""
    if place._meta.model_name != "folder":
        return [(model, Q(content_object=place.pk), "knowledgebase") for model in BASE_GRANTS]

    def down(path: str) -> Q:
        return Q(**{f"{path}__descendant": place.pk, f"{path}__is_cut": False})

    root = Q(content_object__folders__parent=None, content_object__folders__inherits=True)
    from_root = root & down("content_object__folders__descendant_links")
    return [
        *((model, down("content_object__descendant_links"), "folder") for model in FOLDER_GRANTS),
        *((model, from_root, "knowledgebase") for model in BASE_GRANTS),
    ]


def _build_denial_condition(place: models.Model) -> Q:
    if place._meta.model_name != "folder":
        return Q(knowledge_base=place.pk)
    return Q(folder__descendant_links__descendant=place.pk) | Q(knowledge_base__folders=place.pk)


def _is_group_grant_model(model: Any) -> bool:
    return model in (FolderGroupGrant, KnowledgeBaseGroupGrant)


def _build_member_condition(rows: QuerySet[Any]) -> Q:
    """Return the condition for people in the groups of these grants or denials, or in a unit below such a group's unit."""
    groups = rows.values("group_id")
    through = User.groups.through.objects
    inside = through.filter(group_id__in=groups)
    below = through.filter(group__org_unit__ancestor_links__ancestor__group_id__in=groups)
    return Q(pk__in=inside.values("user_id")) | Q(pk__in=below.values("user_id"))


@contextmanager
def keep_managers(places: Callable[[], Iterable[models.Model]]) -> Iterator[None]:
    """Run a change of rights in a transaction, one at a time in the system.

    places: returns the folders and knowledge bases concerned, called while no other such change runs. Raises
    InvalidInput and rolls back when some of them lose their last manager without an end; it names them all.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('managers', 0))")
        managed = [place for place in places() if _has_manager(place)]
        yield
        if left := [str(place) for place in managed if not _has_manager(place)]:
            sentence = ngettext(
                "This would leave “%(names)s” without a manager. Give someone else the right to manage it first.",
                "This would leave “%(names)s” without a manager. Give someone else the right to manage them first.",
                len(left),
            )
            raise InvalidInput(sentence % {"names": "”, “".join(sorted(set(left)))})


def _has_manager(place: models.Model) -> bool:
    return find_people_with_right(Right.MANAGE, place, without_end=True).exists()
