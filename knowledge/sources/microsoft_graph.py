"""Microsoft Graph v1.0 as an application reads it: signed in by client credentials, page by page, and a drive by its changes.

learn.microsoft.com/graph: auth-v2-service, driveitem-delta, throttling.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from django.utils.translation import gettext as _

from knowledge.sources.answers import (
    ExpiringToken,
    find_nested_value,
    iterate_pages,
    list_nested_objects,
    read_json_object,
)
from knowledge.sources.base import ItemContent, Passing, Unreadable
from knowledge.sources.files import build_cache_path
from knowledge.sources.http import SourceClient, SourceResponse, parse_origin, strip_url_query
from knowledge.sources.wiki_pages import build_html_document, list_html_sections

HIERARCHICAL = "hierarchicalsharing"
KEPT_FORMAT = 1  # of the file beside the source; another one is read anew


class NotThere(Unreadable):
    """Graph has nothing at this address, or no longer has it."""


class GraphRoots:
    """url, login: the roots of Graph and of its sign-in, without a slash at the end."""

    def __init__(
        self, *, url: str, login: str, tenant: str, client_id: str, secret: str, pace: Callable[[], None]
    ) -> None:
        self._url, self._secret = url, secret
        self._token_url = f"{login}/{tenant}/oauth2/v2.0/token"
        self._client_id = client_id
        self._client = SourceClient(
            url, sign=ExpiringToken(self._fetch_token).signed, pace=pace, follows_elsewhere=False
        )
        self._sign_in = SourceClient(login, pace=pace, follows_elsewhere=False)

    def ask(self, path: str) -> dict[str, Any]:
        """Get an answer. path: below the version, or an answer's whole address. Raises NotThere, Unreadable."""
        return self.answered(path)[0]

    def answered(self, path: str, *, prefer: str = "") -> tuple[dict[str, Any], str]:
        """Return the answer, and which preferences were applied to it. Raises as `ask`."""
        url = path if "://" in path else f"{self._url}/v1.0/{path}"
        if parse_origin(url) != parse_origin(self._url):
            raise Unreadable(_("%(url)s names another server.") % {"url": strip_url_query(self._url)})
        answer = self._client.get(url, headers={"Prefer": prefer} if prefer else {})
        if answer.status in {404, 410}:
            raise NotThere(_("%(url)s does not exist.") % {"url": strip_url_query(url)})
        return read_json_object(answer, "Microsoft Graph"), answer.headers.get("Preference-Applied", "")

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the objects of a list, page by page."""
        for page in iterate_pages(self.ask, path, lambda page: str(page.get("@odata.nextLink") or "")):
            yield from list_nested_objects(page, "value")

    def download(self, url: str) -> SourceResponse:
        """Return the content at a `@microsoft.graph.downloadUrl`, which needs no sign-in and gets none."""
        return self._client.get(url)

    def close(self) -> None:
        self._client.close()
        self._sign_in.close()

    def _fetch_token(self) -> tuple[str, Any]:
        given = {
            "client_id": self._client_id,
            "client_secret": self._secret,
            "scope": f"{self._url}/.default",
            "grant_type": "client_credentials",
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        try:
            answer = self._sign_in.request("POST", self._token_url, headers=headers, body=urlencode(given).encode())
            reply = read_json_object(answer, "Microsoft Graph")
        except Passing:
            raise
        except Unreadable:
            reply = {}
        if not reply.get("access_token"):
            why = _("%(url)s does not know this tenant, application and secret.")
            raise Unreadable(why % {"url": strip_url_query(self._token_url)})
        return str(reply["access_token"]), reply.get("expires_in")


@dataclass(frozen=True)
class DriveItem:
    """parent: id of what it lies in. version: changes with its content. modified_at: as Graph writes times. is_shared: whether it was
    told with a `shared` facet, be it an empty one.
    """

    id: str
    parent: str
    name: str
    is_folder: bool
    version: str
    size: int
    url: str
    author: str
    modified_at: str
    is_shared: bool


@dataclass(frozen=True)
class Drive:
    """All items of a drive, by id. link: the next request for changes. is_hierarchical: whether only items with permissions of
    their own have a `shared` facet.
    """

    items: Mapping[str, DriveItem]
    link: str
    is_hierarchical: bool


def read_drive(graph: GraphRoots, drive_id: str, *, cache: str, is_whole: bool) -> Drive:
    """Return a drive as it is now. cache: as Reading has it. is_whole: from the start; else by the changes since it was read last.

    Raises Unreadable.
    """
    kept = build_cache_path(cache) / "drive.json"
    before = None if is_whole else _load_cached_drive(kept, drive_id)
    try:
        drive = _read_changes(graph, drive_id, before)
    except NotThere:
        if before is None:
            raise
        drive = _read_changes(graph, drive_id, None)  # it does not remember so long ago
    _store_cached_drive(kept, drive_id, drive)
    return drive


def _read_changes(graph: GraphRoots, drive_id: str, before: Drive | None) -> Drive:
    items = dict(before.items) if before else {}
    path, is_hierarchical = before.link if before else f"drives/{drive_id}/root/delta", True
    while True:
        changes, applied = graph.answered(path, prefer=HIERARCHICAL)
        is_hierarchical = is_hierarchical and HIERARCHICAL in applied
        for item in list_nested_objects(changes, "value"):
            _apply_change(items, item)
        following = str(changes.get("@odata.nextLink") or "")
        if not following:
            return Drive(items, str(changes.get("@odata.deltaLink") or ""), is_hierarchical)
        if following == path:
            raise Unreadable(_("Microsoft Graph names the same page of changes again."))
        path = following


def _apply_change(items: dict[str, DriveItem], change: dict[str, Any]) -> None:
    """Apply one change; the last of several for an item counts."""
    name = str(change.get("id") or "")
    if "deleted" in change:
        items.pop(name, None)
    elif name and change.get("name"):
        items[name] = DriveItem(
            id=name,
            parent="" if "root" in change else str(find_nested_value(change, "parentReference", "id") or ""),
            name=str(change["name"]),
            is_folder="file" not in change,
            version=str(change.get("cTag") or change.get("eTag") or change.get("lastModifiedDateTime") or "")[:200],
            size=int(change["size"]) if isinstance(change.get("size"), int) else 0,
            url=str(change.get("webUrl") or ""),
            author=str(find_nested_value(change, "lastModifiedBy", "user", "displayName") or ""),
            modified_at=str(change.get("lastModifiedDateTime") or ""),
            is_shared="shared" in change,
        )


def _load_cached_drive(file: Path, drive_id: str) -> Drive | None:
    """Return the cached state of this drive; None for anything else."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(file.read_text())
        if (kept["format"], kept["drive"]) == (KEPT_FORMAT, drive_id) and kept["link"]:
            items = (DriveItem(**item) for item in kept["items"])
            return Drive({item.id: item for item in items}, kept["link"], is_hierarchical=False)
    return None


def _store_cached_drive(file: Path, drive_id: str, drive: Drive) -> None:
    """Store the cache atomically: another run may read it."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    state = {"format": KEPT_FORMAT, "drive": drive_id, "link": drive.link}
    new = file.with_suffix(".new")
    new.write_text(json.dumps({**state, "items": [asdict(item) for item in drive.items.values()]}))
    new.replace(file)


KIND = "microsoft.graph.sitePage"
SELECT = "id,title,webUrl,eTag,publishingState,parentReference"


@dataclass(frozen=True)
class SharePointPage:
    """library: id of the list that it lies in. is_published: as it is now; was_published: once, and is edited since."""

    id: str
    title: str
    version: str
    library: str
    is_published: bool
    was_published: bool


def list_site_pages(graph: GraphRoots, site: str) -> dict[str, SharePointPage]:
    """Return the pages of a site, by their `normalise_page_path` keys."""
    found = graph.pages(f"sites/{site}/pages/{KIND}?$select={SELECT}")
    return {normalise_page_path(str(item.get("webUrl") or "")): _build_page(item) for item in found}


def normalise_page_path(url: str) -> str:
    """Return the normalised path of an address, the same for a page and for its file."""
    return unquote(urlsplit(url).path).casefold()


def read_site_page(graph: GraphRoots, site: str, page_id: str) -> ItemContent:
    """Return the content of a published page. Raises NotThere, Unreadable."""
    reply = graph.ask(f"sites/{site}/pages/{quote(page_id, safe='')}/{KIND}?$expand=canvasLayout")
    page = _build_page(reply)
    if not page.is_published:
        raise Unreadable(format_editing_notice(page))
    body = f"<h1>{escape(page.title)}</h1>{''.join(_iterate_web_parts(reply.get('canvasLayout')))}"
    return ItemContent(build_html_document(page.title, body), title=page.title, sections=list_html_sections(body))


def format_editing_notice(page: SharePointPage) -> str:
    return _("“%(name)s” is being edited there: it is read again when it is published.") % {"name": page.title}


def _build_page(data: Mapping[str, Any]) -> SharePointPage:
    state = data.get("publishingState")
    return SharePointPage(
        id=str(data.get("id") or ""),
        title=str(data.get("title") or ""),
        version=str(data.get("eTag") or "")[:200],
        library=str(find_nested_value(data, "parentReference", "listId") or ""),
        is_published=find_nested_value(state, "level") == "published",
        was_published=str(find_nested_value(state, "versionId") or "0").partition(".")[0] != "0",
    )


def _iterate_web_parts(canvas: Any) -> Iterator[str]:
    """Yield the web parts from top to bottom, those of the vertical section last."""
    for section in list_nested_objects(canvas, "horizontalSections"):
        for column in list_nested_objects(section, "columns"):
            yield from map(_extract_part_text, list_nested_objects(column, "webparts"))
    yield from map(_extract_part_text, list_nested_objects(canvas, "verticalSection", "webparts"))


def _extract_part_text(part: Mapping[str, Any]) -> str:
    """Return a web part's text; of parts other than text, what SharePoint's own search reads."""
    if isinstance(part.get("innerHtml"), str):
        return f"<div>{part['innerHtml']}</div>"
    made = find_nested_value(part, "data", "serverProcessedContent")
    plain = [
        f"<p>{escape(str(item.get('value') or ''))}</p>" for item in list_nested_objects(made, "searchablePlainTexts")
    ]
    return "".join(
        [*plain, *(f"<div>{item.get('value') or ''}</div>" for item in list_nested_objects(made, "htmlStrings"))]
    )
