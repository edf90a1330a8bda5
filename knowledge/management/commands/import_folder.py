"""`manage.py import_folder PATH --kb NAME [--folder F] --as USER`: bring a folder of files in, keeping its tree."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.files import File
from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from authz.principal import Principal
from copilot_site.lib.commands import report_command_errors
from copilot_site.lib.errors import CopilotError, InvalidInput, NotFound, PermissionDenied
from copilot_site.lib.progress import show_progress_bar
from copilot_site.lib.storage.regular_files import open_regular_file
from knowledge.ingestion.completion import wait_for_versions
from knowledge.models import Document, DocumentVersion, Folder, KnowledgeBase, ParseStatus
from knowledge.selectors import find_base_by_name
from knowledge.services.folders import create_knowledge_base, ensure_folder_at_path, ensure_path
from knowledge.services.uploads import (
    IncomingFile,
    add_document,
    clean_filename,
    find_folder_to_fill,
    map_documents_by_name,
)


class Command(BaseCommand):
    help = "Import a folder of files into a knowledge base. Safe to repeat: unchanged files are skipped, changed ones become a new version."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--kb", required=True, help="name of the knowledge base")
        parser.add_argument(
            "--create", action="store_true", help="make the knowledge base if it is missing; for superusers"
        )
        parser.add_argument("--folder", default="", help="folder in it, like A/B; made when missing")
        parser.add_argument("--as", dest="username", required=True, help="who imports; needs the right to add there")
        parser.add_argument("--no-wait", action="store_true", help="return when all is queued")

    def handle(
        self, *, path: Path, kb: str, create: bool, folder: str, username: str, no_wait: bool, **options: Any
    ) -> None:
        with report_command_errors():
            principal = Principal.named(username)
            files, closed = _list_files(path)
            base = _find_or_create_base(principal, kb, create=create)
            names = self._upload_files(principal, path, files, ensure_folder_at_path(principal, base, folder))
            for below, why in closed:
                self.stdout.write(f"  not entered {below}: {why}")
            if not no_wait:
                self._wait(names)

    def _upload_files(self, principal: Principal, path: Path, files: list[Path], top: Folder) -> dict[UUID, str]:
        """Upload the files; return the path below `path` of each stored version."""
        outcomes: Counter[str] = Counter()
        refused: list[tuple[str, str]] = []
        names: dict[UUID, str] = {}
        # rights are read for each folder: for each file they would cost more than it
        folders: dict[tuple[str, ...], tuple[Folder, dict[str, Document]]] = {}
        taken: dict[tuple[UUID, str], str] = {}
        for file in show_progress_bar(files, desc="upload", unit="file"):
            name = format_printable_path(file.relative_to(path))
            try:
                *parts, filename = (decode_filename(part) for part in file.relative_to(path).parts)
                way = tuple(parts)
                with (
                    _open_file(file, path) as content,
                    transaction.atomic(),
                ):  # no folder is made for a file that is refused
                    folder, known = folders.get(way) or _check_target_folder(
                        principal, ensure_path(principal, top, way)
                    )
                    _refuse_same_name(taken.get((folder.pk, clean_filename(filename))))
                    upload = add_document(principal, folder, IncomingFile(filename, content, queue="bulk"), known=known)
            except CopilotError as problem:
                refused.append((name, str(problem)))
            else:
                folders[way] = folder, known
                taken[folder.pk, clean_filename(filename)] = name
                outcomes[upload.outcome] += 1
                names[upload.version.pk] = name
        self.stdout.write(
            f"{len(files)} files: {outcomes['created']} new, {outcomes['new_version']} changed, "
            f"{outcomes['unchanged']} unchanged, {len(refused)} refused."
        )
        for refused_name, why in refused:
            self.stdout.write(f"  refused {refused_name}: {why}")
        return names

    def _wait(self, names: dict[UUID, str]) -> None:
        """Wait until every version is completed or failed."""
        bar = show_progress_bar(list(names), desc="read and index", unit="document")
        with bar:
            counts = wait_for_versions(list(names), queue="bulk", done=lambda count: bar.update(count - int(bar.n)))
        self.stdout.write(f"{counts[ParseStatus.COMPLETED]} completed, {counts[ParseStatus.FAILED]} failed.")
        for version in DocumentVersion.unscoped.filter(pk__in=names, parse_status=ParseStatus.FAILED):
            self.stdout.write(f"  failed {names[version.pk]}: {version.failure_reason}")
        read = DocumentVersion.unscoped.filter(pk__in=names, parse_status=ParseStatus.COMPLETED)
        for version in read.select_related("document__knowledge_base"):
            if parts := version.not_read:
                self.stdout.write(f"  not read in {names[version.pk]}: {', '.join(part.text for part in parts)}")


def _find_or_create_base(principal: Principal, name: str, *, create: bool) -> KnowledgeBase:
    """Return the knowledge base of this name, made if that is wanted. Raises NotFound, PermissionDenied (no superuser)."""
    try:
        return find_base_by_name(principal, name)
    except NotFound as missing:
        if not create:
            raise NotFound(f"{missing} --create makes it, as a superuser.") from None
    if not principal.is_superuser:
        raise PermissionDenied(f"Only a superuser makes knowledge bases; {principal.username} is none.")
    return create_knowledge_base(principal, name=name)


def _check_target_folder(principal: Principal, folder: Folder) -> tuple[Folder, dict[str, Document]]:
    """Return the folder, checked that this person may add to it, and what they see in it."""
    folder = find_folder_to_fill(principal, folder.pk)
    return folder, map_documents_by_name(principal, folder)


def _list_files(path: Path) -> tuple[list[Path], list[tuple[str, str]]]:
    """Return regular files below `path`, sorted, and the folders that could not be entered, with the reason.

    Hidden ones and links are left out. Raises InvalidInput where there is nothing to import.
    """
    if not path.is_dir():
        raise InvalidInput(f"{path} is not a folder; name the folder whose files shall be imported.")
    closed: list[OSError] = []
    files = sorted(_iterate_files(path, closed))
    if not files:
        why = f" that can be read ({closed[0].strerror})" if closed else ""
        raise InvalidInput(f"There are no files in {path}{why}.")
    return files, [
        (format_printable_path(Path(error.filename).relative_to(path)), error.strerror or "") for error in closed
    ]


def _iterate_files(path: Path, closed: list[OSError]) -> Iterator[Path]:
    for above, folders, names in os.walk(path, onerror=closed.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files = (Path(above, name) for name in names if not name.startswith("."))
        yield from (file for file in files if file.is_file() and not file.is_symlink())


def decode_filename(name: str) -> str:
    """Return a name on disk as text: UTF-8, or GB 2312, as in Chinese archives from Windows. Raises InvalidInput."""
    try:
        return os.fsencode(name).decode()
    except UnicodeDecodeError:
        pass
    try:
        return os.fsencode(name).decode("gb2312")  # the strict one: GBK would make Chinese of nearly any bytes
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "Its name, or that of its folder, is not UTF-8. Rename it; `convmv -f GBK -t UTF-8 -r --notest FOLDER` does it for a tree."
        ) from error


def format_printable_path(path: Path) -> str:
    """Return a path that every terminal can print: invalid bytes become a mark, line ends a space."""
    name = os.fsencode(path).decode(errors="replace")
    return "".join(c if c.isprintable() else " " for c in name)


def _refuse_same_name(other: str | None) -> None:
    if other is not None:
        raise InvalidInput(
            f"It would be stored under the same name as {other}, as its new version. Rename one of them."
        )


def _open_file(path: Path, top: Path) -> "File[bytes]":
    """Open a file. Raises InvalidInput if it is unreadable, gone, or became a link out of the folder or a pipe."""
    try:
        return File(os.fdopen(open_regular_file(path, top=top.resolve()), "rb"))
    except OSError as error:
        raise InvalidInput(f"The file cannot be read ({error.strerror}).") from error
