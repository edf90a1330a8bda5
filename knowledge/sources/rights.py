"""Synchronised rights: readers in the source are granted the right to view here, by grants that end when theirs do.

The folder of the source takes over no right to view from above, and no folder with a rule of its own does: what was restricted there
does not become wide here. Whatever else is granted above (to manage, to change) is granted on them, too, once.
"""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from unicodedata import normalize

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils.translation import gettext as _

from authz.permissions import Right
from authz.rights.grants import GrantOrigin, grant_rights, sync_origin_grants
from authz.rights.holders import Holder, find_inherited_grants
from knowledge.models import Folder, FolderLink, Source, SourceItem, SourceRun
from knowledge.parsers.base import list_accepted_extensions, load_parsers
from knowledge.services.access import break_inheritance, restore_inheritance
from knowledge.services.folders import ensure_path
from knowledge.services.tree import lock_tree
from knowledge.sources.base import Connector, ListedItem, Missed, PathReaders, Unreadable
from knowledge.sources.rules import normalise_folder_path
from knowledge.sources.runs import lock_held_run, record_run_failure

CLOSED = "closed_folders"  # in the state of a source: what `apply_source_rights` gives
_NOT_TAKEN_OVER = {Right.VIEW, Right.DOWNLOAD}


def read_stated_rights(source: Source, connector: Connector) -> list[PathReaders]:
    """Return the source's access rules, none where rights are not synchronised. Raises Unreadable if unclear."""
    accesses = connector.rights() if source.takes_rights else []
    if accesses is None:
        raise Unreadable(
            _("This source does not say who can see what: do not copy rights from the source, and give them here.")
        )
    _refuse_file_rules(accesses)
    return accesses


def require_matched_rules(accesses: Iterable[PathReaders], listed: Iterable[ListedItem | Missed]) -> None:
    """Raise Unreadable for a rule that matches nothing: it may be misspelt and leave the intended folder open."""
    folders, dark = set[str](), list[str]()
    for item in listed:
        path = normalise_folder_path(item.path if isinstance(item, ListedItem) else item.id)
        folders.update(_list_parent_paths(path))
        if isinstance(item, Missed) and item.is_branch:
            dark.append(path)
    for access in accesses:
        is_dark = any(f"{access.prefix}/".startswith(f"{path}/") for path in dark)
        if access.prefix and access.prefix not in folders and not is_dark:
            raise Unreadable(
                _(
                    "The rules name the folder “%(below)s”, which does not exist at the source. Nothing is imported until both agree."
                )
                % {"below": access.prefix}
            )


def apply_source_rights(run: SourceRun, source: Source, accesses: list[PathReaders]) -> dict[str, list[str]]:
    """Apply access rules before importing items. Return {path: ids of the folders that this source closed for it}.

    Raises Unreadable where a folder that a rule closes does not hold what it should: what is granted stays then.
    """
    with transaction.atomic():
        lock_held_run(run)
        lock_tree(source.folder.knowledge_base_id)  # before a folder is added, which shares it
        return _settle_rights(run, source, accesses)


def end_source_grants(source: Source) -> None:
    """End the grants of a deleted source; folders that it closed stay closed."""
    sync_origin_grants(_build_origin(source), Right.VIEW, [], on=Folder)


def _settle_rights(run: SourceRun, source: Source, accesses: list[PathReaders]) -> dict[str, list[str]]:
    before: dict[str, list[str]] = source.state.get(CLOSED, {})
    ours, ruled = {pk for ids in before.values() for pk in ids}, dict[str, list[Folder]]()
    wanted: list[tuple[Folder, Holder]] = []
    closed: dict[str, list[str]] = {}
    for access in accesses:
        folders = [ensure_path(None, source.folder, tuple(access.prefix.split("/")) if access.prefix else ())]
        folders += _list_existing_folders(
            source, before.get(access.prefix, []), folders[0]
        )  # renamed here, with the same content
        newly = {str(folder.pk) for folder in folders if _stop_inheritance(folder)}
        ruled[access.prefix] = folders
        ids = {str(folder.pk) for folder in folders}
        closed[access.prefix] = sorted(ids & (newly | ours))  # closed by a person, so only a person opens it
        wanted += [(folder, holder) for holder in _find_holders(run, access) for folder in folders]
    _require_documents_inside(source, ruled)
    held = {str(folder.pk) for folders in ruled.values() for folder in folders}
    sync_origin_grants(_build_origin(source), Right.VIEW, wanted, on=Folder)
    for folder in _list_existing_folders(source, ours - held) if accesses else ():
        restore_inheritance(None, folder)  # in the source it is as open as its parent
    return closed if accesses else before


def _require_documents_inside(source: Source, ruled: Mapping[str, list[Folder]]) -> None:
    """Raise Unreadable for a document of a rule's path that was moved elsewhere here, out of the rule's reach."""
    inside = {
        prefix: set(FolderLink.objects.filter(ancestor__in=folders).values_list("descendant_id", flat=True))
        for prefix, folders in ruled.items()
        if prefix
    }
    rows = SourceItem.unscoped.filter(source=source).exclude(document=None)
    for path, folder_id in rows.values_list("path", "document__folder_id"):
        prefix = next((item for item in _list_parent_paths(normalise_folder_path(path)) if item in inside), None)
        is_moving = path != normalize("NFC", path)  # this run moves it to its path
        if prefix is not None and folder_id not in inside[prefix] and not is_moving:
            message = _(
                "“%(path)s” is outside the folder here that the rule for “%(below)s” closes. Move it there; nothing "
                "is imported until then."
            )
            raise Unreadable(message % {"path": path, "below": prefix})


def _list_parent_paths(path: str) -> list[str]:
    """Return the folders that a path lies in, the innermost first."""
    return [str(parent) for parent in PurePosixPath(path).parents][:-1]


def _list_existing_folders(source: Source, ids: Iterable[str], but: Folder | None = None) -> list[Folder]:
    """Return the folders that still exist."""
    rows = Folder.unscoped.filter(pk__in=list(ids), knowledge_base_id=source.folder.knowledge_base_id)
    return list(rows.exclude(pk=but.pk) if but else rows)


def _stop_inheritance(folder: Folder) -> bool:
    """Stop a folder's inheritance; rights to manage, add and change are kept. Return whether it was open."""
    current = Folder.unscoped.get(pk=folder.pk)
    if not current.inherits:
        return False
    for (holder, right), ends in find_inherited_grants(current).items():
        if right not in _NOT_TAKEN_OVER:
            grant_rights(None, [right], current, to=holder, expires_at=ends)
    break_inheritance(None, current)
    return True


def _find_holders(run: SourceRun, access: PathReaders) -> Iterable[Holder]:
    """Return the people and groups with these names here; unknown names grant nothing."""
    users = {user.username: user for user in User.objects.filter(username__in=access.users)}
    groups = {group.name: group for group in Group.objects.filter(name__in=access.groups)}
    for name in sorted(access.users - users.keys()):
        record_run_failure(run, access.prefix or "/", _("There is nobody called “%(name)s” here.") % {"name": name})
    for name in sorted(access.groups - groups.keys()):
        record_run_failure(run, access.prefix or "/", _("There is no group called “%(name)s” here.") % {"name": name})
    return [*users.values(), *groups.values()]


def _refuse_file_rules(accesses: Iterable[PathReaders]) -> None:
    """Raise Unreadable for a rule that names a file: rules are for folders and would leave the file open."""
    load_parsers()
    for access in accesses:
        if access.prefix.lower().endswith(tuple(list_accepted_extensions())):
            raise Unreadable(
                _("“%(name)s” is a file, but rights are set for folders. Nothing is imported until that is fixed.")
                % {"name": access.prefix}
            )


def _build_origin(source: Source) -> GrantOrigin:
    return GrantOrigin(source.pk, source.name)
