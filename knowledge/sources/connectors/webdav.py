"""A WebDAV folder: Nextcloud, ownCloud, SharePoint on premises, a NAS."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from django.utils.translation import gettext_lazy as _

from copilot_site.lib.text.xml_input import read_xml
from knowledge.sources import base
from knowledge.sources.answers import build_answer_error
from knowledge.sources.base import ConnectorContext, ListedItem, Missed, Unreadable, build_settings_field
from knowledge.sources.files import LEAVE_OUT, HttpFiles, PathChoice
from knowledge.sources.http import FolderAddress, build_basic_auth, format_site, parse_http_date

DEEPEST = 40  # folders below one another
_ASKED = (
    b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getetag/><getlastmodified/>'
    b"<getcontentlength/></prop></propfind>"
)
_DAV = "{DAV:}"


class WebDavSettings(base.Settings):
    url: FolderAddress = build_settings_field(
        _("address"), _("Of the folder, like https://cloud.example.com/remote.php/dav/files/robot/Handbook/.")
    )
    username: str = build_settings_field(_("account"), _("The account used to read there."), default="")
    leave_out: list[str] = build_settings_field(*LEAVE_OUT, default=[])

    @property
    def address(self) -> str:
        return format_site(self.url)


@dataclass(frozen=True)
class _Entry:
    """path: below the source's folder, "" for itself."""

    path: str
    is_folder: bool
    version: str
    size: int
    modified_at: datetime | None


class WebDavConnector(HttpFiles):
    """Files are known by their paths and change with their ETag, or with time and size where the server gives none."""

    label = _("WebDAV")
    about = _("A shared folder by WebDAV: Nextcloud, ownCloud, a NAS.")
    secret_label = _("Password or token")
    wants = WebDavSettings

    def __init__(self, settings: WebDavSettings, reading: ConnectorContext) -> None:
        self._settings, self._choice = settings, PathChoice(settings.leave_out)
        headers = build_basic_auth(settings.username, reading.secret)
        self.connect(settings.url, reading, headers=headers, follows_elsewhere=False)

    def listing(self) -> Iterator[ListedItem | Missed]:
        folders, entered = deque([""]), set[str]()
        while folders:
            folder = folders.popleft()
            if folder in entered or folder.count("/") > DEEPEST:
                continue
            entered.add(folder)
            try:
                entries = self._list_entries(folder)
            except Unreadable as error:
                if not folder:
                    raise
                yield Missed(f"{folder}/", str(error), is_branch=True)
                continue
            for entry in entries:
                if entry.is_folder and not self._choice.leaves(entry.path):
                    folders.append(entry.path)
                elif not entry.is_folder and self._choice.takes(entry.path):
                    yield self._build_item(entry)

    def _build_item(self, entry: _Entry) -> ListedItem:
        url = self._address(entry.path)
        return ListedItem(
            entry.path, entry.path, entry.version, url=url, modified_at=entry.modified_at, memory={"size": entry.size}
        )

    def _address(self, path: str) -> str:
        return urljoin(self._settings.url, quote(path))

    def _list_entries(self, folder: str) -> list[_Entry]:
        """Return the entries directly in a folder. Raises Unreadable."""
        url = self._address(f"{folder}/" if folder else "")
        headers = {"Depth": "1", "Content-Type": "application/xml; charset=utf-8"}
        answer = self._client.request("PROPFIND", url, headers=headers, body=_ASKED)
        if answer.status != 207:
            raise build_answer_error(url, "WebDAV")
        try:
            tree = read_xml(answer.body)
        except ValueError as error:
            raise build_answer_error(url, "WebDAV") from error
        found = [self._parse_entry(response) for response in tree.iter(f"{_DAV}response")]
        return [entry for entry in found if entry is not None and entry.path != folder]

    def _parse_entry(self, response: Any) -> _Entry | None:
        """Return an entry; None for one outside the folder, which a server may name, too."""
        try:
            href = unquote(urlsplit(urljoin(self._settings.url, response.findtext(f"{_DAV}href", "").strip())).path)
        except ValueError:
            return None
        top = unquote(urlsplit(self._settings.url).path)
        path = href.removeprefix(top).strip("/")
        if not href.startswith(top.rstrip("/")) or ".." in path.split("/"):
            return None
        length = (response.findtext(f".//{_DAV}getcontentlength") or "").strip()
        size = int(length) if re.fullmatch("[0-9]{1,18}", length) else 0  # what it really is shows when it is read
        modified = response.findtext(f".//{_DAV}getlastmodified") or ""
        version = response.findtext(f".//{_DAV}getetag") or f"{modified} {size}"
        is_folder = response.find(f".//{_DAV}collection") is not None
        return _Entry(path, is_folder, version[:200], size, parse_http_date(modified))


base.connectors.add("webdav", WebDavConnector)
