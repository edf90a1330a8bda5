"""Folders by path, and uploads with the folders that they come in."""

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.core.files import File
from django.db import transaction
from django.utils.translation import gettext as _

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.checks import get_visible, require
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from knowledge.models import Folder, FolderKind, KnowledgeBase
from knowledge.services.folders import clean_name, ensure_path
from knowledge.services.uploads import Upload, folder_to_fill, upload_document

DEEPEST = 20  # folders in one path; what is deeper is a mistake
SEPARATOR = re.compile(r"(?<!\\)/")


def names_in(path: str) -> tuple[str, ...]:
    """Return the folder names of a path below a base, like `A/B`; a `/` in a name is written `\\/`."""
    return tuple(part.replace("\\/", "/") for part in SEPARATOR.split(path) if part.strip())


@transaction.atomic
def folder_at(principal: Principal, base: KnowledgeBase, path: str) -> Folder:
    """Return the folder at `path` below a base, for this person to fill; missing ones are created, but none if it fails.

    It begins at the deepest folder of the path that they see: who may add to one folder need not see those above it.
    Raises NotFound, PermissionDenied (no `add`), InvalidInput (no path).
    """
    names = names_in(path)
    _refuse_too_deep(names)
    for name in names:
        if name.strip() in {".", ".."}:
            raise InvalidInput(_("“%(path)s” is not a folder path. Start from the top, like A/B.") % {"path": path})
    for depth in range(len(names), -1, -1):
        folder = _seen_at(principal, base, names[:depth])
        if folder is not None:
            require(principal, Right.ADD, folder)
            return folder_to_fill(principal, ensure_path(principal, folder, names[depth:]).pk)
    raise NotFound(
        _("There is no folder “%(path)s” in “%(base)s” that you can see. Name one you can add to.")
        % {"path": path or "/", "base": base}
    )


def _seen_at(principal: Principal, base: KnowledgeBase, names: tuple[str, ...]) -> Folder | None:
    lookup: dict[str, Any] = {"knowledge_base": base, "kind": FolderKind.FOLDER}
    above = ""
    for name in reversed(names):
        lookup[f"{above}name"] = clean_name(name)
        lookup[f"{above}parent__isnull"] = False
        above += "parent__"
    lookup[f"{above}parent__isnull"] = True
    return Folder.objects.visible_to(principal).filter(**lookup).first()


@transaction.atomic
def upload_at(principal: Principal, *, folder_id: UUID, path: str, filename: str, file: "File[bytes]") -> Upload:
    """Store a file in the folder `path` (names with `/` between, "" for none) below a folder; missing folders are made.

    A refused file leaves no folders behind. Raises as `upload_document` does, and InvalidInput for a path that is too deep.
    """
    folder = get_visible(Folder, principal, pk=folder_id)
    require(principal, Right.ADD, folder)
    names = [name for name in path.replace("\\", "/").split("/") if name.strip() not in {"", ".", ".."}]
    _refuse_too_deep(names)
    for name in names:
        folder = _child(principal, folder, name)
    return upload_document(principal, folder_id=folder.pk, filename=filename, file=file)


def _refuse_too_deep(names: Sequence[str]) -> None:
    if len(names) > DEEPEST:
        raise InvalidInput(
            _("A path has at most %(most)s folders; this one has %(count)s.") % {"most": DEEPEST, "count": len(names)}
        )


def _child(principal: Principal, folder: Folder, name: str) -> Folder:
    try:
        return ensure_path(principal, folder, (name,))
    except Conflict:  # a file of the same drag made it a moment ago
        return ensure_path(principal, folder, (name,))
