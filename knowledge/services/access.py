"""Rights on knowledge bases, folders and documents, as those who manage them change them.

A document that needs rights of its own gets an access node: a hidden folder below its folder. The node is made with the first
exception and goes with the last one. `by` is None for commands that set a system up; superusers govern every place.
"""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from audit.actions import Action
from audit.record import record_action
from authz.models import OrgUnit
from authz.permissions import Right
from authz.principal import Principal
from authz.rights import grants
from authz.rights.checks import require_manage
from authz.rights.holders import Holder, keep_managers
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.services.access_nodes import drop_node_if_empty, ensure_access_node, find_access_node
from knowledge.services.tree import lock_tree, mark_cuts

Place = KnowledgeBase | Folder | Document


@transaction.atomic
def grant_place_rights(
    by: Principal | None, rights: Iterable[Right], place: Place, *, to: Holder, expires_at: datetime | None = None
) -> None:
    """Give rights on a place until `expires_at`.

    Raises NotFound (not visible), PermissionDenied (no `manage`), InvalidInput (an end that has passed, or one that would leave
    nobody to manage the place).
    """
    require_manage(by, place)
    grants.grant_rights(by, rights, _ensure_rights_carrier(place), to=to, expires_at=expires_at, about=place)


@transaction.atomic
def revoke_place_rights(by: Principal | None, rights: Iterable[Right], place: Place, *, of: Holder) -> None:
    """Take back rights given on this very place. Raises NotFound, PermissionDenied, InvalidInput (the last manager)."""
    require_manage(by, place)
    row = find_rights_carrier(place)
    if row is not None:
        grants.revoke_rights(by, rights, row, of=of, about=place)
        _drop_empty_node(place)


@transaction.atomic
def deny_place_rights(
    by: Principal | None, rights: Iterable[Right], place: Place, *, to: Holder, reason: str = ""
) -> None:
    """Deny rights on a place and below it, whatever is granted. Raises NotFound, PermissionDenied, InvalidInput (the last manager)."""
    require_manage(by, place)
    grants.deny_rights(by, rights, _ensure_rights_carrier(place), to=to, reason=reason, about=place)


@transaction.atomic
def revoke_place_denials(by: Principal | None, rights: Iterable[Right], place: Place, *, of: Holder) -> None:
    """Take back denials on this very place. Raises NotFound, PermissionDenied."""
    require_manage(by, place)
    row = find_rights_carrier(place)
    if row is not None:
        grants.remove_denials(by, rights, row, of=of, about=place)
        _drop_empty_node(place)


@transaction.atomic
def break_inheritance(by: Principal | None, place: Folder | Document, *, copy: bool = False) -> None:
    """Stop grants above from reaching this place and those below it; denials above still do.

    copy: what is granted from above until now is granted on the place itself.
    Raises NotFound, PermissionDenied, InvalidInput (nobody could manage the place any more).
    """
    require_manage(by, place)
    folder = ensure_access_node(place) if isinstance(place, Document) else place
    lock_tree(folder.knowledge_base_id)
    with keep_managers(lambda: [folder]):
        if copy:
            grants.copy_inherited_grants(by, folder, about=place)
        if _set_inheritance(folder, inherits=False):
            record_action(by, Action.INHERITANCE_BROKEN, place, detail={"copied": copy})


@transaction.atomic
def restore_inheritance(by: Principal | None, place: Folder | Document) -> None:
    """Let grants above reach this place again; those on it stay. Raises NotFound, PermissionDenied."""
    require_manage(by, place)
    folder = find_access_node(place) if isinstance(place, Document) else place
    if folder is not None:
        lock_tree(folder.knowledge_base_id)
        if _set_inheritance(folder, inherits=True):
            record_action(by, Action.INHERITANCE_RESTORED, place)
        _drop_empty_node(place)


@transaction.atomic
def set_discoverable(by: Principal | None, folder: Folder, *, is_discoverable: bool) -> None:
    """Set whether people without access to a folder may see its name. Raises NotFound, PermissionDenied."""
    require_manage(by, folder)
    changed = Folder.unscoped.filter(pk=folder.pk).exclude(is_discoverable=is_discoverable)
    if changed.update(is_discoverable=is_discoverable):
        folder.is_discoverable = is_discoverable
        record_action(by, Action.DISCOVERABLE_SET if is_discoverable else Action.DISCOVERABLE_CLEARED, folder)


@transaction.atomic
def transfer_base(by: Principal | None, base: KnowledgeBase, *, to: OrgUnit | None) -> None:
    """Set the org unit that a knowledge base belongs to; no right changes. Raises NotFound, PermissionDenied."""
    require_manage(by, base)
    base.org_unit = to
    KnowledgeBase.unscoped.filter(pk=base.pk).update(org_unit=to)
    record_action(by, Action.KNOWLEDGE_BASE_CHANGED, base, detail={"org_unit": to.pk if to else None})


def find_rights_carrier(place: Place) -> KnowledgeBase | Folder | None:
    """Return the row that carries the grants and denials made on this very place; None for a document without exceptions.

    `authz.rights.grants.list_grants` and `list_denials` list what is on it.
    """
    return find_access_node(place) if isinstance(place, Document) else place


def _ensure_rights_carrier(place: Place) -> KnowledgeBase | Folder:
    return ensure_access_node(place) if isinstance(place, Document) else place


def _set_inheritance(folder: Folder, *, inherits: bool) -> bool:
    """Set whether a place inherits; return whether that was a change. The caller holds `lock_tree`."""
    changed = Folder.unscoped.filter(pk=folder.pk).exclude(inherits=inherits).update(inherits=inherits)
    folder.inherits = inherits
    if changed:
        mark_cuts(folder)
    return bool(changed)


def _drop_empty_node(place: Place) -> None:
    if isinstance(place, Document):
        drop_node_if_empty(place)
