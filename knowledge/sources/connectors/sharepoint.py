"""A document library of SharePoint, or somebody's OneDrive for work, by Microsoft Graph."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import PurePosixPath
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import model_validator

from knowledge.sources import base
from knowledge.sources.answers import find_nested_value, list_nested_objects
from knowledge.sources.base import (
    ConnectorContext,
    ItemContent,
    ListedItem,
    Missed,
    Passing,
    PathReaders,
    Unreadable,
    build_settings_field,
)
from knowledge.sources.files import LEAVE_OUT, PathChoice, build_file_gone_error, check_listed_size
from knowledge.sources.http import Root, RootOrNone, check_safe_address, format_site
from knowledge.sources.microsoft_graph import (
    Drive,
    DriveItem,
    GraphRoots,
    NotThere,
    SharePointPage,
    format_editing_notice,
    list_site_pages,
    normalise_page_path,
    read_drive,
    read_site_page,
)
from knowledge.sources.rules import (
    Pairs,
    Readers,
    find_local_group,
    find_username_by_email,
    find_usernames_by_email,
    normalise_folder_path,
)

DEEPEST = 200  # folders below one another: a path has 400 characters
_READING = {"read", "write", "owner"}  # documented roles of Graph; others are ambiguous


class SharePointSettings(base.Settings):
    tenant: str = build_settings_field(
        _("tenant"), _("Its ID, or a name like company.onmicrosoft.com."), pattern=r"^[A-Za-z0-9.-]{1,255}$"
    )
    client_id: str = build_settings_field(
        _("application"), _("The client ID of an app registration."), pattern=r"^[A-Za-z0-9-]{1,100}$"
    )
    site: RootOrNone = build_settings_field(
        _("site"), _("Its address, like https://company.sharepoint.com/sites/Handbook. Empty: a OneDrive."), default=""
    )
    reads: Literal["files", "pages"] = build_settings_field(
        _("what is read"),
        _("The files of one library, or the pages of the site."),
        default="files",
        choices={"files": _("files"), "pages": _("pages of the site")},
    )
    library: str = build_settings_field(_("library"), _("Its name. Empty: the default one of the site."), default="")
    user: str = build_settings_field(
        _("OneDrive of"), _("Whose, by sign-in name, like lin@company.com, where there is no site."), default=""
    )
    folder: str = build_settings_field(_("folder in it"), _("Only what lies there, like Rules/2026."), default="")
    leave_out: list[str] = build_settings_field(*LEAVE_OUT, default=[])
    groups: Pairs = build_settings_field(
        _("groups"),
        _(
            "One per line, like Handbook Members = Engineering: a group there, by its name in SharePoint or its "
            "e-mail address, and here. Nothing after the sign: nobody."
        ),
        default=[],
    )
    url: Root = build_settings_field(
        _("address of Graph"),
        _("In China (21Vianet) https://microsoftgraph.chinacloudapi.cn."),
        default="https://graph.microsoft.com",
    )
    login: Root = build_settings_field(
        _("address of the sign-in"),
        _("In China (21Vianet) https://login.chinacloudapi.cn."),
        default="https://login.microsoftonline.com",
    )

    @model_validator(mode="after")
    def _is_one_place(self) -> "SharePointSettings":
        if bool(self.site) == bool(self.user):
            raise ValueError(gettext("Give either the address of a site or whose OneDrive it is."))
        if self.reads == "pages" and (self.user or self.library):
            raise ValueError(gettext("Pages are those of a site: leave the library and the OneDrive empty."))
        return self

    @property
    def address(self) -> str:
        return f"{format_site(self.login)} {self.tenant} {self.client_id} {format_site(self.url)}"


class SharePointConnector(base.Connector):
    """Files are known by their ids, which a move within the drive keeps, and change with their cTag or eTag.

    A file with permissions of its own lies in a folder of its own: who may see it is said of that. Pages of a site are files of a
    library, too, which says who may read them; what they say is asked for as a page, once it is published.
    """

    label = _("SharePoint or OneDrive")
    about = _(
        "The files of a document library or the pages of a SharePoint site, or a OneDrive for work, with who can see them."
    )
    noun = _("file")
    secret_label = _("Client secret")
    takes_rights = True
    wants = SharePointSettings

    def __init__(self, settings: SharePointSettings, reading: ConnectorContext) -> None:
        for url in (settings.login, settings.url):
            check_safe_address(url, has_secret=bool(reading.secret))
        self._settings, self._choice, self._cache = settings, PathChoice(settings.leave_out), reading.cache
        self._graph = GraphRoots(
            url=settings.url,
            login=settings.login,
            tenant=settings.tenant,
            client_id=settings.client_id,
            secret=reading.secret,
            pace=reading.pace,
        )
        self._drive: Drive | None = None
        self._drive_id, self._top, self._site_id = "", "", ""
        self._pages: dict[str, SharePointPage] = {}  # the site's, if pages are read
        self._apart: dict[str, str] = {}  # a file's own folder, by the file's id
        self._problems: dict[str, Missed] = {}
        self._members: dict[str, frozenset[str]] = {}
        self._names: dict[str, str] = {}

    def rights(self) -> list[PathReaders]:
        """Return readers of the folder, and of each item below with others. Asked anew by each run: Graph reports changes
        of permissions only to those who may change them.
        """
        drive = self._read_drive(is_whole=True)
        beside = {(entry.parent, entry.name.casefold()) for entry in drive.items.values() if entry.is_folder}
        found = {"": self._load_readers(self._top)}
        seen = {self._top}
        for way in self._iterate_document_paths(drive):
            prefixes = [""]
            for item in way:
                name = item.name if item.is_folder else _build_own_folder_name(item, beside)
                prefix = normalise_folder_path(f"{prefixes[-1]}/{name}")
                if item.id not in seen and (item.is_shared or not drive.is_hierarchical):
                    readers = self._load_item_readers(item)
                    if readers != next(found[entry] for entry in reversed(prefixes) if entry in found):
                        found[prefix] = readers
                        if not item.is_folder:
                            self._apart[item.id] = name
                seen.add(item.id)
                prefixes.append(prefix)
        return [PathReaders(prefix, readers.users, readers.groups) for prefix, readers in found.items()]

    def listing(self) -> Iterator[ListedItem | Missed]:
        drive = self._drive or self._read_drive(is_whole=False)
        yield from self._problems.values()
        for *above, file in self._iterate_document_paths(drive):
            own = self._apart.get(file.id, "")
            yield self._build_item(file, [*(entry.name for entry in above), *filter(None, [own]), file.name])
        yield from self._iterate_missed_pages(drive)

    def fetch(self, item: ListedItem) -> ItemContent:
        check_listed_size(item.path, int(item.memory.get("size", 0)))
        self._find_drive()
        if self._settings.reads == "pages":
            return read_site_page(self._graph, self._site_id, str(item.memory.get("page", "")))
        try:
            reply = self._graph.ask(f"drives/{self._drive_id}/items/{quote(item.id, safe='')}")
        except NotThere as error:
            raise build_file_gone_error(item.path) from error
        address = reply.get("@microsoft.graph.downloadUrl")
        if not address:
            raise Unreadable(gettext("Microsoft Graph gives no address to download %(path)s.") % {"path": item.path})
        answer = self._graph.download(str(address))
        if answer.status != 200:
            raise build_file_gone_error(item.path)
        return ItemContent(answer.body)

    def close(self) -> None:
        self._graph.close()

    def _read_drive(self, *, is_whole: bool) -> Drive:
        self._find_drive()
        self._drive = read_drive(self._graph, self._drive_id, cache=self._cache, is_whole=is_whole)
        return self._drive

    def _find_drive(self) -> None:
        """Return the drive and the folder in it. Raises Unreadable where there is none that it may read."""
        if self._drive_id:
            return
        wanted = self._settings
        try:
            drive_id = (
                self._find_library() if wanted.site else self._graph.ask(f"users/{quote(wanted.user)}/drive")["id"]
            )
            below = f":/{quote(wanted.folder.strip('/'))}" if wanted.folder.strip("/") else ""
            self._top = str(self._graph.ask(f"drives/{drive_id}/root{below}")["id"])
        except (NotThere, LookupError) as error:
            why = gettext("There is no such site, library, OneDrive or folder that this application can read.")
            raise Unreadable(why) from error
        self._drive_id = str(drive_id)

    def _find_library(self) -> str:
        """Return the id of the library's drive. Raises NotThere, LookupError."""
        parts = urlsplit(self._settings.site)
        path = quote(unquote(parts.path).strip("/"))
        site = str(self._graph.ask(f"sites/{parts.netloc}:/{path}" if path else f"sites/{parts.netloc}")["id"])
        if self._settings.reads == "pages":
            return self._find_pages_library(site)
        if not self._settings.library:
            return str(self._graph.ask(f"sites/{site}/drive")["id"])
        drives = {str(entry.get("name")).casefold(): entry for entry in self._graph.pages(f"sites/{site}/drives")}
        return str(drives[self._settings.library.casefold()]["id"])

    def _find_pages_library(self, site: str) -> str:
        """Return the same for the library of the site's pages."""
        self._site_id, self._pages = site, list_site_pages(self._graph, site)
        for page in self._pages.values():
            return str(self._graph.ask(f"sites/{site}/lists/{quote(page.library, safe='')}/drive")["id"])
        raise Unreadable(gettext("The site has no pages that this application can read."))

    def _is_selected(self, way: list[DriveItem]) -> bool:
        path = "/".join(entry.name for entry in way)
        if self._settings.reads == "files":
            return self._choice.takes(path)
        page = self._pages.get(normalise_page_path(way[-1].url))
        return page is not None and page.is_published and not self._choice.leaves(path)

    def _iterate_missed_pages(self, drive: Drive) -> Iterator[Missed]:
        """Yield missed pages: published ones now in edit, whose last text stays; and pages of unknown readers."""
        files = {normalise_page_path(item.url): item for item in drive.items.values()}
        for place, page in self._pages.items():
            if place not in files:
                why = gettext("“%(name)s” is not in the library of the site's pages, which says who can read it.")
                yield Missed(f"page:{page.id}", why % {"name": page.title})
            elif page.was_published and not page.is_published:
                yield Missed(files[place].id, format_editing_notice(page))

    def _iterate_document_paths(self, drive: Drive) -> Iterator[list[DriveItem]]:
        """Yield for each document below the folder the path of items from there down to it."""
        for item in drive.items.values():
            if item.is_folder:
                continue
            way, above = [item], item.parent
            while above != self._top and above in drive.items and len(way) < DEEPEST:
                way.insert(0, drive.items[above])
                above = drive.items[above].parent
            if above == self._top and self._is_selected(way):
                yield way

    def _build_item(self, file: DriveItem, names: list[str]) -> ListedItem:
        item = ListedItem(
            id=file.id,
            path="/".join(names),
            version=file.version,
            url=file.url,
            author=file.author,
            modified_at=parse_datetime(file.modified_at),
            memory={"size": file.size},
        )
        page = self._pages.get(normalise_page_path(file.url))
        if page is None:
            return item
        path = f"{item.path.removesuffix('.aspx')}.html"
        return replace(item, path=path, version=page.version, title=page.title, memory={"page": page.id})

    def _load_item_readers(self, item: DriveItem) -> Readers:
        """Return an item's readers; nobody if it was deleted since the listing."""
        try:
            return self._load_readers(item.id)
        except NotThere:
            return Readers()

    def _load_readers(self, item_id: str) -> Readers:
        """Return the readers by its permissions, inherited ones included. A link for anyone grants nothing here."""
        users, groups = set[str](), set[str]()
        for permission in self._graph.pages(f"drives/{self._drive_id}/items/{quote(item_id, safe='')}/permissions"):
            for entry in _list_identities(permission):
                group = entry.get("siteGroup") or entry.get("group")
                if isinstance(group, dict):
                    names = [group.get("email"), *([group.get("displayName")] if entry.get("siteGroup") else [])]
                    here = find_local_group(self._settings.groups, *names)
                    groups |= {here} if here else set()
                    users |= self._list_group_people(entry) if here is None else set()
                else:
                    users |= {name} if (name := self._find_local_name(entry)) else set()
        return Readers(frozenset(users), frozenset(groups))

    def _list_group_people(self, identity: Mapping[str, Any]) -> frozenset[str]:
        """Return the people of a group, by their e-mail addresses. SharePoint does not reveal the members of its own groups."""
        name = str(
            find_nested_value(identity, "siteGroup", "displayName")
            or find_nested_value(identity, "group", "displayName")
            or ""
        )
        group_id = "" if identity.get("siteGroup") else str(find_nested_value(identity, "group", "id") or "")
        if not group_id:
            self._problems[name] = _build_unknown_group(name)
            return frozenset()
        if group_id not in self._members:
            path = f"groups/{quote(group_id, safe='')}/transitiveMembers/microsoft.graph.user?$select=id,mail"
            try:
                addresses = [str(entry.get("mail") or "") for entry in self._graph.pages(path)]
            except Passing:
                raise
            except Unreadable:
                self._problems[name] = _build_unknown_group(name)
                addresses = []
            self._members[group_id] = find_usernames_by_email(addresses)
        return self._members[group_id]

    def _find_local_name(self, identity: Mapping[str, Any]) -> str:
        """Return a person's name here, by e-mail address, which is looked up if missing; "" if not unique."""
        address = str(
            find_nested_value(identity, "user", "email") or find_nested_value(identity, "siteUser", "email") or ""
        )
        user_id = str(find_nested_value(identity, "user", "id") or "")
        key = address or user_id
        if key not in self._names:
            self._names[key] = find_username_by_email(address or self._find_email_address(user_id))
        return self._names[key]

    def _find_email_address(self, user_id: str) -> str:
        """Return an e-mail address; "" for somebody who left, and where the application may not look people up."""
        if not user_id:
            return ""
        try:
            return str(self._graph.ask(f"users/{quote(user_id, safe='')}?$select=mail").get("mail") or "")
        except Passing:
            raise
        except Unreadable:
            return ""


def _list_identities(permission: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the identities of a permission that grants reading today; none for a link for anyone who has it."""
    roles, ends = permission.get("roles"), parse_datetime(str(permission.get("expirationDateTime") or ""))
    has_ended = ends is not None and ends.year > 1 and ends.astimezone(UTC) <= datetime.now(UTC)
    if has_ended or not isinstance(roles, list) or not _READING.intersection(map(str, roles)):
        return []
    if "link" not in permission:
        found = permission.get("grantedToV2")
        return [found] if isinstance(found, dict) else []
    return (
        list_nested_objects(permission, "grantedToIdentitiesV2")
        if find_nested_value(permission, "link", "scope") == "users"
        else []
    )


def _build_own_folder_name(file: DriveItem, beside: set[tuple[str, str]]) -> str:
    """Return the folder of its own for a file with permissions of its own: salaries.xlsx → salaries (xlsx), since no rule names a file.

    beside: folders that are there, by parent and name in lower case.
    """
    path = PurePosixPath(file.name)
    name = f"{path.stem} ({path.suffix.removeprefix('.')})"
    names = chain([name], (f"{name} {number}" for number in count(2)))
    return next(entry for entry in names if (file.parent, entry.casefold()) not in beside)


def _build_unknown_group(name: str) -> Missed:
    why = gettext("It is not known who is in the group “%(name)s”: say in the settings what it is called here.")
    return Missed(f"group:{name}", why % {"name": name}, is_branch=True)


base.connectors.add("sharepoint", SharePointConnector)
