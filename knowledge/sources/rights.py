"""Rights come along: who may see something out there is granted to view it here, by grants of the source that end there and here.

The folder of the source takes over no right to view from above, and no folder with a rule of its own does: what was narrow out there
does not become wide here. Whatever else is granted above (to manage, to change) is granted on them, too, once.
"""

from collections.abc import Iterable

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils.translation import gettext as _

from authz.grant_origins import Origin, settle
from authz.grants import give
from authz.holders import Holder, granted_above
from authz.permissions import Right
from knowledge.models import Folder, Source, SourceRun
from knowledge.parsers.base import accepted_extensions, load
from knowledge.services.access import break_inheritance, restore_inheritance
from knowledge.services.folders import ensure_path
from knowledge.sources.base import Access, Connector, Unreadable
from knowledge.sources.runs import note, require_held

CLOSED = "closed_folders"  # in the state of a source: what `take_rights` gives
_NOT_TAKEN_OVER = {Right.VIEW, Right.DOWNLOAD}


def take_rights(run: SourceRun, source: Source, connector: Connector) -> dict[str, list[str]]:
    """Before anything is brought: who may see what is where it will lie. {path: ids of the folders that this source closed for it}.

    Raises Unreadable where the source is not sure: nothing is brought then that somebody might see, and what is granted stays.
    """
    said = connector.rights() if source.takes_rights else []
    if said is None:
        raise Unreadable(_("This source does not say who may see what: let rights not come along, and give them here."))
    _refuse_files(said)
    with transaction.atomic():
        require_held(run)
        return _settled(run, source, said)


def end_rights(source: Source) -> None:
    """When a source is deleted: its grants end; folders that it closed stay closed."""
    settle(_origin(source), Right.VIEW, [], on=Folder)


def _settled(run: SourceRun, source: Source, said: list[Access]) -> dict[str, list[str]]:
    before: dict[str, list[str]] = source.state.get(CLOSED, {})
    ours, ruled = {pk for ids in before.values() for pk in ids}, set[str]()
    wanted: list[tuple[Folder, Holder]] = []
    closed: dict[str, list[str]] = {}
    for access in said:
        folders = [ensure_path(None, source.folder, tuple(access.prefix.split("/")) if access.prefix else ())]
        folders += _others(
            source, before.get(access.prefix, []), folders[0]
        )  # renamed here, and still holding what it held
        newly = {str(folder.pk) for folder in folders if _close(folder)}
        ids = [str(folder.pk) for folder in folders]
        ruled.update(ids)
        closed[access.prefix] = [pk for pk in ids if pk in newly | ours]  # what a person closed is theirs to open
        wanted += [(folder, holder) for holder in _holders(run, access) for folder in folders]
    settle(_origin(source), Right.VIEW, wanted, on=Folder)
    for folder in _others(source, ours - ruled) if said else ():
        restore_inheritance(None, folder)  # out there it is as open as what it lies in
    return closed if said else before


def _others(source: Source, ids: Iterable[str], but: Folder | None = None) -> list[Folder]:
    """Those of the folders that are still there."""
    rows = Folder.unscoped.filter(pk__in=list(ids), knowledge_base_id=source.folder.knowledge_base_id)
    return list(rows.exclude(pk=but.pk) if but else rows)


def _close(folder: Folder) -> bool:
    """Let a folder take over nothing; who manages it, and whoever may add and change, keeps that. Whether it was open."""
    current = Folder.unscoped.get(pk=folder.pk)
    if not current.inherits:
        return False
    for (holder, right), ends in granted_above(current).items():
        if right not in _NOT_TAKEN_OVER:
            give(None, [right], current, to=holder, expires_at=ends)
    break_inheritance(None, current)
    return True


def _holders(run: SourceRun, access: Access) -> Iterable[Holder]:
    """The people and groups that are known here by name; nobody is let in by a name that is not."""
    users = {user.username: user for user in User.objects.filter(username__in=access.users)}
    groups = {group.name: group for group in Group.objects.filter(name__in=access.groups)}
    for name in sorted(access.users - users.keys()):
        note(run, access.prefix or "/", _("There is nobody called “%(name)s” here.") % {"name": name})
    for name in sorted(access.groups - groups.keys()):
        note(run, access.prefix or "/", _("There is no group called “%(name)s” here.") % {"name": name})
    return [*users.values(), *groups.values()]


def _refuse_files(said: Iterable[Access]) -> None:
    """A rule is for a folder. Raises Unreadable for one that names a file, which it would leave open."""
    load()
    for access in said:
        if access.prefix.lower().endswith(tuple(accepted_extensions())):
            raise Unreadable(
                _("“%(name)s” is a file; rights are said of folders. Nothing is brought until they are.")
                % {"name": access.prefix}
            )


def _origin(source: Source) -> Origin:
    return Origin(source.pk, source.name)
