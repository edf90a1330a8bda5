"""Changes to knowledge bases and their folder trees."""

import re
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.files import File
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, require_right
from authz.rights.grants import grant_rights
from authz.rights.holders import Holder
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound, PermissionDenied
from copilot_site.lib.text.one_line import tidy_line
from knowledge.models import Document, Folder, FolderKind, FolderLink, KnowledgeBase, Recognition, Source
from knowledge.services import access
from knowledge.services.passages import BY_THE_SYSTEM, Cutting, collect_cutting_settings, set_cutting, validate_cutting
from knowledge.services.tree import is_below, link_new_folder, lock_branch, lock_tree, move_subtree
from knowledge.services.uploads import Upload, find_folder_to_fill, upload_document
from knowledge.tasks import reread_base

NAME_LENGTH = 200
DEEPEST = 40  # folders below the top one; a page draws the whole way down, and people are lost long before


@transaction.atomic
def create_knowledge_base(
    by: Principal | None,
    *,
    name: str,
    description: str = "",
    is_approval_wanted: bool = False,
    is_hidden_text_indexed: bool = False,
    recognition: str = Recognition.BARE,
    cutting: Cutting = BY_THE_SYSTEM,
) -> KnowledgeBase:
    """Make a knowledge base with its root folder. The caller has checked that `by` may; None sets a system up.

    Its creator gets every right on it, since nobody else could manage it. Raises InvalidInput (no usable name, no usable sizes of
    passages), Conflict (the name is taken).
    """
    name, cutting = clean_name(name), validate_cutting(cutting)
    if KnowledgeBase.unscoped.filter(name=name).exists():
        raise Conflict(_("There is already a knowledge base called “%(name)s”.") % {"name": name})
    base = KnowledgeBase(
        name=name,
        description=description,
        is_approval_wanted=is_approval_wanted,
        is_hidden_text_indexed=is_hidden_text_indexed,
        recognition=recognition,
    )
    set_cutting(base, cutting)
    base.save()
    root = Folder.unscoped.create(knowledge_base=base, parent=None, name=name)
    link_new_folder(root, None)
    record_action(
        by,
        Action.KNOWLEDGE_BASE_CREATED,
        base,
        detail=_collect_base_settings(base) | (collect_cutting_settings(base) if base.cut_as else {}),
    )
    if by is not None:
        grant_rights(by, Right, base, to=User.objects.get(pk=by.user_id))
    return base


@transaction.atomic
def change_knowledge_base(by: Principal, base: KnowledgeBase) -> None:
    """Change a base's name, description or setting; the admin page has checked that `by` may. Raises InvalidInput (no usable name).

    Documents with hidden text are read again when hidden text begins to answer, and when it stops; those with pictures when other
    pictures are to be read.
    """
    base.name = clean_name(base.name)
    base.save(update_fields=["name", "description", "is_approval_wanted", "is_hidden_text_indexed", "recognition"])
    record_action(by, Action.KNOWLEDGE_BASE_CHANGED, base, detail=_collect_base_settings(base))
    transaction.on_commit(lambda: reread_base.delay(str(base.pk)), robust=True)


def _collect_base_settings(base: KnowledgeBase) -> dict[str, bool | str | int | None]:
    return {
        "is_approval_wanted": base.is_approval_wanted,
        "is_hidden_text_indexed": base.is_hidden_text_indexed,
        "recognition": base.recognition,
    }


def find_root_folder(base: KnowledgeBase) -> Folder:
    """Return the folder that carries the knowledge base's own documents."""
    return Folder.unscoped.get(knowledge_base=base, parent=None)


@transaction.atomic
def create_folder(principal: Principal, *, parent_id: UUID, name: str) -> Folder:
    """Make a folder below `parent_id`.

    Raises NotFound (parent not visible), PermissionDenied (no `add`), InvalidInput, Conflict (the name is taken there).
    """
    parent = get_visible(Folder, principal, pk=parent_id)
    require_right(principal, Right.ADD, parent)
    return add_folder(principal, parent, name)


@transaction.atomic
def add_folder(by: Principal | None, parent: Folder, name: str) -> Folder:
    """Make a folder after `create_folder`'s checks; `by` is None to set a system up."""
    name = clean_name(name)
    lock_branch(parent.knowledge_base_id)
    _check_tree_depth(parent, 1)
    try:
        with transaction.atomic():
            folder = Folder.unscoped.create(knowledge_base_id=parent.knowledge_base_id, parent=parent, name=name)
    except IntegrityError as error:
        raise Conflict(
            _("“%(parent)s” already contains a folder called “%(name)s”.") % {"name": name, "parent": parent}
        ) from error
    link_new_folder(folder, parent)
    record_action(by, Action.FOLDER_CREATED, folder)
    return folder


@transaction.atomic
def rename_folder(principal: Principal, *, folder_id: UUID, name: str) -> Folder:
    """Rename a folder. Raises NotFound, PermissionDenied (no `change`), InvalidInput, Conflict."""
    folder = get_visible(Folder, principal, pk=folder_id)
    require_right(principal, Right.CHANGE, folder)
    return _rename_folder(principal, folder, name)


@transaction.atomic
def move_folder(principal: Principal, *, folder_id: UUID, parent_id: UUID) -> Folder:
    """Move a folder, with everything below it, into another one of the same knowledge base.

    Raises NotFound, PermissionDenied (no `change` on the folder, no `add` on the new parent), InvalidInput (a root folder,
    another knowledge base, a folder below itself), Conflict.
    """
    folder = get_visible(Folder, principal, pk=folder_id)
    parent = get_visible(Folder, principal, pk=parent_id)
    require_right(principal, Right.CHANGE, folder)
    require_right(principal, Right.ADD, parent)
    return _move_folder(principal, folder, parent)


@transaction.atomic
def rename_and_move_folder(by: Principal, *, folder_id: UUID, name: str, parent_id: UUID | None) -> Folder:
    """Rename and move a folder for its manager, whom the admin page has checked. Raises InvalidInput, Conflict."""
    folder = Folder.unscoped.get(pk=folder_id)
    if folder.name != name:
        folder = _rename_folder(by, folder, name)
    if parent_id is not None and folder.parent_id != parent_id:
        folder = _move_folder(by, folder, Folder.unscoped.get(pk=parent_id))
    return folder


def _rename_folder(by: Principal, folder: Folder, name: str) -> Folder:
    folder.name = clean_name(name)
    _refuse_same_name(folder, folder.parent_id)
    folder.save(update_fields=["name"])
    record_action(by, Action.FOLDER_RENAMED, folder)
    return folder


def _move_folder(by: Principal, folder: Folder, parent: Folder) -> Folder:
    if folder.parent_id is None:
        raise InvalidInput(_("The root folder of a knowledge base cannot be moved."))
    if folder.knowledge_base_id != parent.knowledge_base_id:
        raise InvalidInput(
            _("Folders can only move within their knowledge base; “%(name)s” is in another one.") % {"name": parent}
        )
    lock_tree(folder.knowledge_base_id)
    if is_below(parent, folder):
        raise InvalidInput(_("“%(name)s” cannot be moved below itself.") % {"name": folder})
    _refuse_same_name(folder, parent.pk)
    inside = FolderLink.objects.filter(ancestor=folder, descendant__kind=FolderKind.FOLDER)
    _check_tree_depth(parent, 1 + inside.aggregate(most=Max("depth"))["most"])
    move_subtree(folder, parent)
    record_action(by, Action.FOLDER_MOVED, folder, detail={"parent": str(parent.pk)})
    return folder


@transaction.atomic
def ensure_path(by: Principal | None, folder: Folder, names: tuple[str, ...]) -> Folder:
    """Return the folder at the path `names` below `folder`, made if missing; the caller has checked `add`."""
    for name in names:
        child = Folder.unscoped.filter(parent=folder, name=clean_name(name), kind=FolderKind.FOLDER).first()
        folder = child or add_folder(by, folder, name)
    return folder


def clean_name(name: str) -> str:
    """Return a name as it is stored: one line, trimmed. Raises InvalidInput when nothing is left, or it is too long."""
    cleaned = tidy_line(name)
    if not cleaned:
        raise InvalidInput(_("A name needs at least one visible character."))
    if len(cleaned) > NAME_LENGTH:
        raise InvalidInput(
            _("A name has at most %(most)s characters; this one has %(count)s.")
            % {"most": NAME_LENGTH, "count": len(cleaned)}
        )
    return cleaned


def _check_tree_depth(parent: Folder, levels: int) -> None:
    """Raise InvalidInput for a tree that is too deep. levels: of folders to nest under `parent`."""
    deep = FolderLink.objects.filter(descendant=parent).aggregate(most=Max("depth"))["most"]
    if deep + levels > DEEPEST:
        raise InvalidInput(
            _("Folders can be %(most)s levels deep; this would be %(count)s. Choose a place further up.")
            % {"most": DEEPEST, "count": deep + levels}
        )


def _refuse_same_name(folder: Folder, parent_id: UUID | None) -> None:
    twins = Folder.unscoped.filter(parent_id=parent_id, name=folder.name, kind=FolderKind.FOLDER)
    if twins.exclude(pk=folder.pk).exists():
        raise Conflict(_("There is already a folder called “%(name)s” there.") % {"name": folder.name})


@transaction.atomic
def delete_folder(principal: Principal, *, folder_id: UUID) -> None:
    """Delete an empty folder; raises NotFound, PermissionDenied (no `change`), InvalidInput (a root, or not empty)."""
    folder = get_visible(Folder, principal, pk=folder_id)
    require_right(principal, Right.CHANGE, folder)
    if folder.parent_id is None:
        raise InvalidInput(_("The root folder of a knowledge base cannot be deleted."))
    if Document.unscoped.filter(folder=folder, trashed_at__isnull=False).exists():
        raise InvalidInput(
            _("Documents of “%(name)s” are in the trash. Restore them or delete them for good first.")
            % {"name": folder}
        )
    if Source.unscoped.filter(folder=folder).exists():
        raise InvalidInput(_("A source of documents fills “%(name)s”. Delete the source first.") % {"name": folder})
    if folder.children.exists() or Document.unscoped.filter(folder=folder).exists():
        raise InvalidInput(_("“%(name)s” is not empty. Move or delete what is in it first.") % {"name": folder})
    record_action(principal, Action.FOLDER_DELETED, folder)
    folder.delete()


def may_make_bases(principal: Principal) -> bool:
    return principal.is_superuser and not principal.is_nobody


@transaction.atomic
def set_up_knowledge_base(
    principal: Principal, *, name: str, description: str = "", readers: Iterable[Holder] = ()
) -> KnowledgeBase:
    """Make a knowledge base that its readers may view and download from; whoever makes it holds every right on it.

    Raises PermissionDenied (no administrator), InvalidInput (no usable name), Conflict (the name is taken).
    """
    if not may_make_bases(principal):
        raise PermissionDenied(_("Only system administrators create knowledge bases. Ask one of them."))
    base = create_knowledge_base(principal, name=name, description=description)
    for holder in readers:
        access.grant_place_rights(principal, (Right.VIEW, Right.DOWNLOAD), base, to=holder)
    return base


LONGEST_PATH = 20  # folders; what is deeper is a mistake
SEPARATOR = re.compile(r"(?<!\\)/")


def split_folder_path(path: str) -> tuple[str, ...]:
    """Return the folder names of a path below a base, like `A/B`; a `/` in a name is written `\\/`."""
    return tuple(part.replace("\\/", "/") for part in SEPARATOR.split(path) if part.strip())


@transaction.atomic
def ensure_folder_at_path(principal: Principal, base: KnowledgeBase, path: str) -> Folder:
    """Return the folder at `path` below a base, for this person to fill; missing ones are created, but none if it fails.

    It begins at the deepest folder of the path that they see: who may add to one folder need not see those above it.
    Raises NotFound, PermissionDenied (no `add`), InvalidInput (no path).
    """
    names = split_folder_path(path)
    _check_path_length(names)
    for name in names:
        if name.strip() in {".", ".."}:
            raise InvalidInput(_("“%(path)s” is not a folder path. Start from the top, like A/B.") % {"path": path})
    for depth in range(len(names), -1, -1):
        folder = _find_folder_at_path(principal, base, names[:depth])
        if folder is not None:
            require_right(principal, Right.ADD, folder)
            return find_folder_to_fill(principal, ensure_path(principal, folder, names[depth:]).pk)
    raise NotFound(
        _("There is no folder “%(path)s” in “%(base)s” that you can see. Name one you can add to.")
        % {"path": path or "/", "base": base}
    )


def _find_folder_at_path(principal: Principal, base: KnowledgeBase, names: tuple[str, ...]) -> Folder | None:
    lookup: dict[str, Any] = {"knowledge_base": base, "kind": FolderKind.FOLDER}
    above = ""
    for name in reversed(names):
        lookup[f"{above}name"] = clean_name(name)
        lookup[f"{above}parent__isnull"] = False
        above += "parent__"
    lookup[f"{above}parent__isnull"] = True
    return Folder.objects.visible_to(principal).filter(**lookup).first()


@transaction.atomic
def upload_to_path(principal: Principal, *, folder_id: UUID, path: str, filename: str, file: "File[bytes]") -> Upload:
    """Store a file in the folder `path` (names with `/` between, "" for none) below a folder; missing folders are made.

    A refused file leaves no folders behind. Raises as `upload_document` does, and InvalidInput for a path that is too deep.
    """
    folder = get_visible(Folder, principal, pk=folder_id)
    require_right(principal, Right.ADD, folder)
    names = [name for name in path.replace("\\", "/").split("/") if name.strip() not in {"", ".", ".."}]
    _check_path_length(names)
    for name in names:
        folder = _ensure_child_folder(principal, folder, name)
    return upload_document(principal, folder_id=folder.pk, filename=filename, file=file)


def _check_path_length(names: Sequence[str]) -> None:
    if len(names) > LONGEST_PATH:
        raise InvalidInput(
            _("A path has at most %(most)s folders; this one has %(count)s.")
            % {"most": LONGEST_PATH, "count": len(names)}
        )


def _ensure_child_folder(principal: Principal, folder: Folder, name: str) -> Folder:
    try:
        return ensure_path(principal, folder, (name,))
    except Conflict:  # a file of the same drag made it a moment ago
        return ensure_path(principal, folder, (name,))
