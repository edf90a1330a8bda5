"""Rights come down the folder tree: which folders and knowledge bases a person holds a right on.

Everything here builds one subquery. Group membership, the account's being active, the grants and the tree are read by the
statement that reads the rows, so a right taken back is gone for the next statement.
"""

from typing import Any

from django.db.models import Q, QuerySet

from authz.models import FolderGroupGrant, FolderUserGrant, KnowledgeBaseGroupGrant, KnowledgeBaseUserGrant
from authz.permissions import Right
from authz.principal import Principal

Ids = QuerySet[Any, Any]


def folder_ids_with(principal: Principal, right: Right) -> Ids:
    """Ids of the folders on which `principal` holds `right`: granted there, on a folder above, or on the knowledge base."""
    below = "content_object__descendant_links__descendant_id"
    inside = "content_object__folders__id"
    folder, base = f"{right.value}_folder", f"{right.value}_knowledgebase"
    person, member = _person(principal, "user"), _person(principal, "group__user")
    return (
        FolderGroupGrant.objects.filter(member, permission__codename=folder)
        .values_list(below)
        .union(
            FolderUserGrant.objects.filter(person, permission__codename=folder).values_list(below),
            KnowledgeBaseGroupGrant.objects.filter(member, permission__codename=base).values_list(inside),
            KnowledgeBaseUserGrant.objects.filter(person, permission__codename=base).values_list(inside),
        )
    )


def knowledge_base_ids_with(principal: Principal, right: Right) -> Ids:
    """Ids of the knowledge bases on which `principal` holds `right` as a whole."""
    base = f"{right.value}_knowledgebase"
    return (
        KnowledgeBaseGroupGrant.objects.filter(_person(principal, "group__user"), permission__codename=base)
        .values_list("content_object_id")
        .union(
            KnowledgeBaseUserGrant.objects.filter(_person(principal, "user"), permission__codename=base).values_list(
                "content_object_id"
            )
        )
    )


def _person(principal: Principal, path: str) -> Q:
    """Grants that reach this person along `path`; nobody's id matches no row."""
    return Q(**{f"{path}__pk": principal.user_id, f"{path}__is_active": True})
