"""A folder of this machine, or a share that is mounted on it."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from django.conf import settings as site
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.storage.regular_files import SILENCE_S, read_regular_file, run_with_timeout
from knowledge.sources import base
from knowledge.sources.base import (
    ConnectorContext,
    ItemContent,
    ListedItem,
    Missed,
    PathReaders,
    Unreadable,
    build_settings_field,
)
from knowledge.sources.files import LEAVE_OUT, PathChoice, resolve_local_folder
from knowledge.sources.rules import FILE, MAX_BYTES, parse_access_rules

LOT = 200  # entries that are listed before the deadline begins anew


class FolderSettings(base.Settings):
    path: str = build_settings_field(
        _("folder"), _("From the root of the server, like /srv/handbook; COPILOT_SOURCE_FOLDERS must open it.")
    )
    leave_out: list[str] = build_settings_field(*LEAVE_OUT, default=[])


class FolderConnector(base.Connector):
    """Files are known by their paths and change with size or time; links that lead out of the folder are not followed."""

    label = _("Folder or mounted share")
    about = _("A folder that this server can read.")
    noun = _("file")
    ids_are_paths = True
    takes_rights = True
    wants = FolderSettings

    def __init__(self, settings: FolderSettings, reading: ConnectorContext) -> None:
        self._top = resolve_local_folder(settings.path)
        self._choice = PathChoice(settings.leave_out)
        self._pace = reading.pace

    def listing(self) -> Iterator[ListedItem | Missed]:
        """Yield files in batches with a deadline each: the share may become unavailable."""
        found = self._iterate_entries()
        try:
            while lot := run_with_timeout(SILENCE_S, lambda: list(islice(found, LOT))):
                yield from lot
        except OSError as error:
            raise Unreadable(gettext("The folder cannot be read: %(why)s.") % {"why": error.strerror}) from error

    def fetch(self, item: ListedItem) -> ItemContent:
        self._pace()
        return ItemContent(self._read_file(item.id, most_bytes=site.UPLOAD_MAX_BYTES))

    def rights(self) -> list[PathReaders]:
        is_there = run_with_timeout(SILENCE_S, lambda: os.path.lexists(self._top / FILE))
        return parse_access_rules(self._read_file(FILE, most_bytes=MAX_BYTES) if is_there else None)

    def _read_file(self, path: str, *, most_bytes: int) -> bytes:
        """Read a file. Raises Unreadable."""
        try:
            return read_regular_file(self._top / path, top=self._top, most_bytes=most_bytes)
        except OSError as error:
            why = {"path": path, "why": error.strerror}
            raise Unreadable(gettext("%(path)s cannot be read: %(why)s.") % why) from error

    def _iterate_entries(self) -> Iterator[ListedItem | Missed]:
        closed: list[OSError] = []
        for folder, names, files in os.walk(self._top, onerror=closed.append):
            below = Path(folder).relative_to(self._top)
            names[:] = sorted(name for name in names if not self._choice.leaves((below / name).as_posix()))
            for name in sorted(files):
                path = (below / name).as_posix()
                if self._choice.takes(path):
                    yield self._build_item(path)
            yield from self._iterate_missed_folders(closed)
        yield from self._iterate_missed_folders(closed)

    def _build_item(self, path: str) -> ListedItem | Missed:
        """Return an item; of a link its target, which is checked to be in the folder when it is opened."""
        try:
            found = (self._top / path).stat()
        except OSError as error:
            return Missed(path, gettext("%(path)s cannot be read: %(why)s.") % {"path": path, "why": error.strerror})
        at = datetime.fromtimestamp(found.st_mtime, UTC)
        return ListedItem(path, path, f"{found.st_size}-{found.st_mtime_ns}", modified_at=at)

    def _iterate_missed_folders(self, closed: list[OSError]) -> Iterator[Missed]:
        while closed:
            error = closed.pop()
            folder = Path(os.fsdecode(error.filename)).relative_to(self._top).as_posix()
            if folder == ".":
                raise Unreadable(gettext("The folder cannot be read: %(why)s.") % {"why": error.strerror}) from error
            why = gettext("%(path)s cannot be entered: %(why)s.") % {"path": folder, "why": error.strerror}
            yield Missed(f"{folder}/", why, is_branch=True)


base.connectors.add("folder", FolderConnector)
