"""A folder of this machine, or a share that is mounted on it."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.sources import base
from knowledge.sources.base import Access, Content, Item, Missed, Reading, Unreadable, asked
from knowledge.sources.files import Choice, local_folder, require_not_too_large
from knowledge.sources.rules import FILE, read_rules

LEAVE_OUT = _("leave out"), _("One pattern a line, like drafts or *.tmp.md.")


class FolderSettings(base.Settings):
    path: str = asked(
        _("folder"), _("From the root of the server, like /srv/handbook; COPILOT_SOURCE_FOLDERS must open it.")
    )
    leave_out: list[str] = asked(*LEAVE_OUT, default=[])


class FolderConnector(base.Connector):
    """Files are known by their paths and change with size or time; links that lead out of the folder are not followed."""

    label = _("Folder or mounted share")
    about = _("A folder that this server can read.")
    noun = _("file")
    ids_are_paths = True
    takes_rights = True
    wants = FolderSettings

    def __init__(self, settings: FolderSettings, reading: Reading) -> None:
        self._top = local_folder(settings.path)
        self._choice = Choice(settings.leave_out)
        self._pace = reading.pace

    def listing(self) -> Iterator[Item | Missed]:
        closed: list[OSError] = []
        for folder, names, files in os.walk(self._top, onerror=closed.append):
            below = Path(folder).relative_to(self._top)
            names[:] = sorted(name for name in names if not self._choice.leaves((below / name).as_posix()))
            for name in sorted(files):
                path = (below / name).as_posix()
                if self._choice.takes(path):
                    yield self._item(path)
            yield from self._missed(closed)
        yield from self._missed(closed)

    def fetch(self, item: Item) -> Content:
        self._pace()
        file = self._top / item.id
        if not self._is_inside(file):
            raise Unreadable(gettext("%(path)s leads out of the folder.") % {"path": item.path})
        try:
            require_not_too_large(item.path, file.stat().st_size)
            return Content(file.read_bytes())
        except OSError as error:
            raise Unreadable(
                gettext("%(path)s cannot be read: %(why)s.") % {"path": item.path, "why": error.strerror}
            ) from error

    def rights(self) -> list[Access]:
        file = self._top / FILE
        try:
            return read_rules(file.read_bytes() if self._is_inside(file) and file.is_file() else None)
        except OSError as error:
            raise Unreadable(
                gettext("%(path)s cannot be read: %(why)s.") % {"path": FILE, "why": error.strerror}
            ) from error

    def _item(self, path: str) -> Item | Missed:
        try:
            found = (self._top / path).stat()
        except OSError as error:
            return Missed(path, gettext("%(path)s cannot be read: %(why)s.") % {"path": path, "why": error.strerror})
        at = datetime.fromtimestamp(found.st_mtime, UTC)
        return Item(path, path, f"{found.st_size}-{found.st_mtime_ns}", modified_at=at)

    def _missed(self, closed: list[OSError]) -> Iterator[Missed]:
        while closed:
            error = closed.pop()
            folder = Path(os.fsdecode(error.filename)).relative_to(self._top).as_posix()
            if folder == ".":
                raise Unreadable(gettext("The folder cannot be read: %(why)s.") % {"why": error.strerror}) from error
            why = gettext("%(path)s cannot be entered: %(why)s.") % {"path": folder, "why": error.strerror}
            yield Missed(f"{folder}/", why, is_branch=True)

    def _is_inside(self, file: Path) -> bool:
        return self._top in file.resolve().parents


base.connectors.add("folder", FolderConnector)
