"""A space of a Confluence, by its REST API: Cloud, and Data Center (whose space permissions can be read from 9.1 on)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from knowledge.sources import base
from knowledge.sources.answers import find_nested_value, iterate_pages, list_nested_objects, read_json
from knowledge.sources.base import (
    ConnectorContext,
    ItemContent,
    ListedItem,
    Missed,
    PathReaders,
    Unreadable,
    build_settings_field,
)
from knowledge.sources.http import FolderAddress, HttpConnector, build_basic_auth, format_site
from knowledge.sources.rules import Readers, find_username_by_email, list_path_prefixes
from knowledge.sources.wiki_pages import build_html_document, build_unknown_page, format_path_name, list_html_sections

PAGES_A_REQUEST = 50
_RESTRICTED = "restrictions.read.restrictions"
_EXPANDED = f"version,ancestors,{_RESTRICTED}.user,{_RESTRICTED}.group"


class ConfluenceSettings(base.Settings):
    url: FolderAddress = build_settings_field(
        _("address"), _("Of the wiki, like https://company.atlassian.net/wiki/ or https://wiki.example.com/.")
    )
    space: str = build_settings_field(_("space"), _("Its key, like ENG."), pattern=r"^~?[A-Za-z0-9._-]{1,255}$")
    username: str = build_settings_field(
        _("account"), _("Whose API token it is (Cloud: an e-mail address). Empty: a personal access token."), default=""
    )

    @property
    def address(self) -> str:
        return format_site(self.url)


@dataclass(frozen=True)
class _Page:
    """above: ids of the pages that it lies below. folders: those that it lies in, from the space's top; its own where it is
    restricted, which holds what is below it, too. readers: who alone may read it; None where it has no restriction of its own.
    """

    item: ListedItem
    above: tuple[str, ...]
    folders: tuple[str, ...]
    readers: Readers | None


class ConfluenceConnector(HttpConnector):
    """Pages are known by their ids and change with their version number. A page with a restriction of its own lies in a folder of its
    own, so that who may see it and what is below it is said of a folder. Attachments are not read.
    """

    label = _("Confluence")
    about = _("The pages of a space of Confluence, Cloud or Data Center, with who can see them.")
    noun = _("wiki page")
    secret_label = _("API token")
    takes_rights = True
    wants = ConfluenceSettings

    def __init__(self, settings: ConfluenceSettings, reading: ConnectorContext) -> None:
        self._settings = settings
        headers = build_basic_auth(settings.username, reading.secret)
        if reading.secret and not settings.username:
            headers = {"Authorization": f"Bearer {reading.secret}"}
        self.connect(settings.url, reading, headers={**headers, "Accept": "application/json"}, follows_elsewhere=False)
        self._pages: list[_Page] | None = None
        self._iterate_missed_folders: list[Missed] = []
        self._home = ""

    def rights(self) -> list[PathReaders]:
        """Return the readers of the space, and below each restricted page those allowed by both."""
        pages = self._read_pages()
        found = {"": self._find_space_readers()}
        for page in sorted(pages, key=lambda page: len(page.folders)):
            if page.readers is not None:
                above = [found[entry] for entry in list_path_prefixes(page.folders) if entry in found]
                found[list_path_prefixes(page.folders)[-1]] = reduce(Readers.within, above, page.readers)
        return [PathReaders(prefix, readers.users, readers.groups) for prefix, readers in found.items()]

    def listing(self) -> Iterator[ListedItem | Missed]:
        """Yield all pages; restricted ones are skipped where rights are not synchronised."""
        takes_rights = self._pages is not None
        pages = self._read_pages()
        yield from self._iterate_missed_folders
        closed = {page.item.id for page in pages if page.readers is not None and not takes_rights}
        for page in pages:
            if closed.isdisjoint({page.item.id, *page.above}):
                yield page.item
            else:
                why = gettext("“%(title)s” is restricted there: copy rights from the source.")
                yield Missed(page.item.id, why % {"title": page.item.title})

    def fetch(self, item: ListedItem) -> ItemContent:
        reply = self._query_api(f"content/{quote(item.id, safe='')}", expand="body.export_view,version")
        body = str(find_nested_value(reply, "body", "export_view", "value") or "")
        if not body.strip():
            raise Unreadable(gettext("%(path)s is empty.") % {"path": item.path})
        return ItemContent(build_html_document(item.title, body), sections=list_html_sections(body))

    def _read_pages(self) -> list[_Page]:
        """Return all pages whose ancestors are all known: restrictions are inherited from them."""
        if self._pages is None:
            walked = list(self._iterate_pages())
            ids = {page.item.id for page in walked}
            self._pages = [page for page in walked if ids.issuperset(page.above)]
            why = gettext("It is below something the wiki does not list: move it below a page.")
            self._iterate_missed_folders += [
                Missed(page.item.id, why) for page in walked if not ids.issuperset(page.above)
            ]
        return self._pages

    def _iterate_pages(self) -> Iterator[_Page]:
        space = self._query_api(f"space/{quote(self._settings.space, safe='')}", expand="homepage")
        self._home = str(find_nested_value(space, "homepage", "id") or "")
        query = {"spaceKey": self._settings.space, "type": "page", "status": "current", "limit": str(PAGES_A_REQUEST)}
        first = urlencode({**query, "expand": _EXPANDED})
        for answer in iterate_pages(lambda more: self._call_api(f"content?{more}"), first, _find_next_query):
            for page in list_nested_objects(answer, "results"):
                try:
                    yield self._build_page(page)
                except (LookupError, TypeError, ValueError):
                    self._iterate_missed_folders.append(build_unknown_page(find_nested_value(page, "id")))

    def _build_page(self, page: Mapping[str, Any]) -> _Page:
        name, readers = format_path_name(page["title"]), self._find_restriction(page)
        folders = tuple(
            format_path_name(entry["title"]) for entry in page["ancestors"] if str(entry["id"]) != self._home
        )
        if readers is not None and str(page["id"]) != self._home:
            folders = (*folders, name)
        link = str(find_nested_value(page, "_links", "webui") or "").lstrip("/")
        version = page["version"]
        item = ListedItem(
            id=str(page["id"]),
            path="/".join([*folders, f"{name}.html"]),
            version=str(version["number"]),
            title=str(page["title"]),
            url=urljoin(self._settings.url, link),
            author=str(find_nested_value(version, "by", "displayName") or ""),
            modified_at=datetime.fromisoformat(version["when"]),
        )
        return _Page(item, tuple(str(entry["id"]) for entry in page["ancestors"]), folders, readers)

    def _find_restriction(self, page: Mapping[str, Any]) -> Readers | None:
        """Return the only readers of a page; None without a restriction. Raises Unreadable if the list is incomplete."""
        restrictions = {
            kind: find_nested_value(page, "restrictions", "read", "restrictions", kind) for kind in ("user", "group")
        }
        if any(not isinstance(entry, dict) for entry in restrictions.values()):
            raise ValueError("no restrictions were told")
        found = {kind: entry["results"] for kind, entry in restrictions.items()}
        if any(
            entry.get("size", 0) != len(found[kind]) or len(found[kind]) >= entry.get("limit", 200)
            for kind, entry in restrictions.items()
        ):
            why = gettext(
                "“%(title)s” is restricted to more people than the wiki tells at once: restrict it to a group."
            )
            raise Unreadable(why % {"title": page["title"]})
        return self._build_readers(found["user"], found["group"]) if found["user"] or found["group"] else None

    def _find_space_readers(self) -> Readers:
        """Return the space's readers; access for everybody in Confluence is granted to nobody here."""
        path = f"space/{quote(self._settings.space, safe='')}"
        permissions = self._query_api(path, expand="permissions").get("permissions")  # Cloud
        if not isinstance(permissions, list):
            found = self._query_api(f"{path}/permissions")
            permissions = found.get("results") if isinstance(found, dict) else found
        if not isinstance(permissions, list):
            raise Unreadable(gettext("The wiki does not say who can view this space."))
        viewing = [entry for entry in permissions if _is_view_permission(entry.get("operation") or {})]
        users = [user for entry in viewing for user in _list_subjects(entry, "user")]
        return self._build_readers(users, [group for entry in viewing for group in _list_subjects(entry, "group")])

    def _build_readers(self, users: Iterable[Mapping[str, Any]], groups: Iterable[Mapping[str, Any]]) -> Readers:
        names = frozenset(name for user in users if (name := self._find_local_name(user)))
        return Readers(names, frozenset(str(group["name"]) for group in groups if group.get("name")))

    def _find_local_name(self, user: Mapping[str, Any]) -> str:
        """Return a person's name here: by sign-in name (Data Center) or e-mail address (Cloud); "" if not unique."""
        if "userKey" in user and not user.get("username"):
            user = self._query_api("user", key=str(user["userKey"]))
        if user.get("username"):
            return str(user["username"])
        return find_username_by_email(str(user.get("email") or ""))

    def _query_api(self, path: str, **given: str) -> Any:
        return self._call_api(f"{path}?{urlencode(given)}" if given else path)

    def _call_api(self, path: str) -> Any:
        """Make one call of the API. Raises Unreadable."""
        url = f"{self._settings.url}rest/api/{path}"
        answer = self._client.get(url)
        if answer.status == 404:
            raise Unreadable(
                gettext("There is no space “%(key)s” that this account can read.") % {"key": self._settings.space}
            )
        return read_json(answer, "Confluence")


def _find_next_query(answer: Any) -> str:
    return urlsplit(str(find_nested_value(answer, "_links", "next") or "")).query


def _is_view_permission(operation: Mapping[str, Any]) -> bool:
    name = operation.get("operation") or operation.get("operationKey") or operation.get("key")
    return name == "read" and (operation.get("targetType") or operation.get("target")) == "space"


def _list_subjects(permission: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    """Yield people or groups of one permission, which Cloud lists and Data Center gives singly."""
    subject = permission.get("subject")
    if isinstance(subject, dict):
        return [subject] if subject.get("type") == kind else []
    return list(find_nested_value(permission, "subjects", kind, "results") or [])


base.connectors.add("confluence", ConfluenceConnector)
