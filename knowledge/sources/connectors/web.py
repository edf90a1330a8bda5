"""Web pages: a list of addresses, those of a sitemap, or pages linked from a start page within a prefix."""

import gzip
import hashlib
import io
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Literal
from urllib.parse import unquote, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from lxml import etree
from pydantic import model_validator

from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.outgoing.addresses import AddressRefused
from copilot_site.lib.text.xml_input import read_xml
from copilot_site.lib.version import AGENT
from knowledge.sources import base
from knowledge.sources.base import (
    ConnectorContext,
    ItemContent,
    ListedItem,
    Missed,
    Passing,
    Unreadable,
    build_settings_field,
)
from knowledge.sources.files import list_readable_types
from knowledge.sources.http import (
    HttpConnector,
    SourceResponse,
    build_basic_auth,
    format_site,
    parse_http_date,
    parse_origin,
    validate_url,
)
from knowledge.sources.schedule import Pace
from knowledge.sources.web_pages import ParsedWebPage, parse_web_page

MAX_IN_SITEMAPS = 50_000
MAX_SITEMAP_BYTES = 50_000_000  # unpacked
SLOWEST_S = 60  # between two pages that a robots.txt may ask for
HTML = {"text/html", "application/xhtml+xml"}
PAGES = {"", ".html", ".htm", ".xhtml", ".php", ".asp", ".aspx", ".jsp", ".do"}


class WebSettings(base.Settings):
    way: Literal["pages", "sitemap", "start"] = build_settings_field(
        _("which pages"),
        _("The addresses themselves, those that a sitemap lists, or all that is linked from a start page."),
        default="start",
        choices={"pages": _("these addresses"), "sitemap": _("of a sitemap"), "start": _("from a start page on")},
    )
    addresses: list[str] = build_settings_field(
        _("addresses"), _("One per line: pages, sitemaps, or start pages."), min_length=1
    )
    prefix: str = build_settings_field(
        _("only below"), _("Only addresses that start like this. Empty: the folder of the first address."), default=""
    )
    depth: int = build_settings_field(
        _("depth"), _("Links from a start page that are followed."), default=3, ge=0, le=20
    )
    most: int = build_settings_field(_("most pages"), _("More are not read."), default=1_000, ge=1, le=MAX_IN_SITEMAPS)
    takes_files: bool = build_settings_field(
        _("linked documents, too"),
        _("PDF, DOCX and others that the pages link to, below the same address."),
        default=True,
    )
    username: str = build_settings_field(
        _("account"), _("For a site that asks for name and password (Basic)."), default=""
    )
    header: str = build_settings_field(
        _("or header"), _("Such as Authorization or X-Api-Key: the secret is sent in it."), default=""
    )

    @model_validator(mode="after")
    def _lead_somewhere(self) -> "WebSettings":
        for url in (*self.addresses, *([self.prefix] if self.prefix else [])):
            validate_url(url)
        return self

    @property
    def below(self) -> str:
        first = self.addresses[0]
        if self.prefix:
            return self.prefix
        return urljoin(first, "/") if self.way == "sitemap" else urljoin(first, ".")

    @property
    def address(self) -> str:
        return f"{format_site(self.addresses[0])} {self.header}"


class WebConnector(HttpConnector):
    """Pages are known by their addresses, canonical ones where they name them, and change with what they say.

    memory of an item: etag, last_modified and its links, so that what did not change is not sent again.
    """

    label = _("Web pages")
    about = _("Pages of a site, by their addresses, a sitemap, or from a start page on; robots.txt is kept to.")
    noun = _("web page")
    secret_label = _("Password or key")
    wants = WebSettings

    def __init__(self, settings: WebSettings, reading: ConnectorContext) -> None:
        self._settings, self._known, self._pace = settings, reading.known, reading.pace
        headers = _build_auth_headers(settings, reading.secret)
        self.connect(settings.addresses[0], replace(reading, pace=self._wait_for_pace), headers=headers)
        self._types = list_readable_types(takes_pictures=False)
        self._robots: dict[tuple[str, str, int], RobotFileParser] = {}
        self._closed: dict[tuple[str, str, int], Passing] = {}
        self._delay = Pace(0)
        self._content: dict[str, ItemContent] = {}
        self._seen: set[str] = set()

    def listing(self) -> Iterator[ListedItem | Missed]:
        found = 0
        for url, depth in self._iterate_addresses():
            for entry in self._visit_address(url, depth):
                yield entry
                found += isinstance(entry, ListedItem)
            if found >= self._settings.most:
                message = gettext("There are more than %(most)s pages; the rest is not read.")
                yield Missed(self._settings.below, message % {"most": found}, is_branch=True)
                return

    def fetch(self, item: ListedItem) -> ItemContent:
        try:
            return self._content[item.id]
        except KeyError:
            raise Unreadable(gettext("%(path)s changed while it was read.") % {"path": item.path}) from None

    def _iterate_addresses(self) -> Iterator[tuple[str, int]]:
        """Yield addresses with the remaining link depth; addresses found on pages are added meanwhile."""
        way, depth = self._settings.way, self._settings.depth if self._settings.way == "start" else 0
        first = self._iterate_sitemap_pages() if way == "sitemap" else iter(self._settings.addresses)
        self._queue = deque((url, depth) for url in first)
        while self._queue:
            url, left = self._queue.popleft()
            if url not in self._seen:
                self._seen.add(url)
                yield url, left

    def _visit_address(self, url: str, depth: int) -> Iterator[ListedItem | Missed]:
        known = self._known.get(url)
        memory = dict(known.memory) if known else {}
        try:
            if not self._may_read(url):
                return
            answer = self._fetch_address(url, memory)
            if answer.status in {404, 410}:
                if url in self._settings.addresses and self._settings.way == "start":
                    raise Unreadable(gettext("%(url)s does not exist.") % {"url": url})
                return
            if not self._is_below(answer.url):  # a redirect that leads away
                return
            if answer.status == 304 and known is not None:
                self._queue_links(memory.get("links", []), depth)
                yield self._build_item(url, known.version, memory=memory)
            elif answer.type in HTML or (not answer.type and PurePosixPath(urlsplit(url).path).suffix in PAGES):
                yield from self._iterate_page_items(url, answer, depth)
            elif _parse_suffix(answer.url) in self._types:
                yield self._build_file_item(url, answer)
        except InvalidInput as error:
            yield Missed(url, str(error))
            if "links" in memory:
                self._queue_links(memory["links"], depth)
            elif depth > 0:  # its links are unknown
                message = gettext("What %(url)s leads to is not known now: what was read from there before stays.")
                yield Missed(self._settings.below, message % {"url": url}, is_branch=True)

    def _iterate_page_items(self, url: str, answer: SourceResponse, depth: int) -> Iterator[ListedItem | Missed]:
        page = parse_web_page(answer.body, answer.url, answer.headers.get("Content-Type", ""))
        here = self._find_canonical_url(page, answer.url)
        if page.may_follow:
            self._queue_links(page.links, depth)
        if here != url and here in self._seen:
            return  # another address of a page that was read
        self._seen.add(here)
        if not page.may_keep:
            return
        if page.is_for_browsers:
            message = gettext("%(url)s shows nothing without JavaScript, so it is not read.")
            yield Missed(here, message % {"url": here})
            return
        self._content = {here: page.content}
        version = hashlib.sha256(page.content.data).hexdigest()
        was = url if here != url and url in self._known else ""
        memory = {**_collect_cache_headers(answer), "links": list(page.links)} if here == url else {}
        yield replace(self._build_item(here, version, title=page.content.title, memory=memory), was=was)

    def _build_file_item(self, url: str, answer: SourceResponse) -> ListedItem:
        modified = parse_http_date(answer.headers.get("Last-Modified"))
        self._content = {url: ItemContent(answer.body, modified_at=modified)}
        version = hashlib.sha256(answer.body).hexdigest()
        return self._build_item(url, version, memory=_collect_cache_headers(answer))

    def _build_item(self, url: str, version: str, *, title: str = "", memory: dict[str, Any]) -> ListedItem:
        return ListedItem(
            url, _build_item_path(url, self._settings.below, self._types), version, title=title, url=url, memory=memory
        )

    def _queue_links(self, links: Any, depth: int) -> None:
        """Queue what a page links to: pages while there is depth left, documents always."""
        for link in links:
            is_page = _parse_suffix(link) in PAGES
            if (
                link not in self._seen
                and self._is_below(link)
                and (depth > 0 if is_page else self._is_wanted_file(link))
            ):
                self._queue.append((link, depth - 1))

    def _is_wanted_file(self, link: str) -> bool:
        return self._settings.takes_files and _parse_suffix(link) in self._types

    def _find_canonical_url(self, page: ParsedWebPage, url: str) -> str:
        """Return the canonical address if it is on the same site."""
        if page.canonical and self._is_below(page.canonical) and parse_origin(page.canonical) == parse_origin(url):
            return page.canonical
        return url

    def _is_below(self, url: str) -> bool:
        below = self._settings.below
        return parse_origin(url) == parse_origin(below) and url.startswith(below)

    def _fetch_address(self, url: str, memory: dict[str, Any]) -> SourceResponse:
        conditions = {"If-None-Match": memory.get("etag"), "If-Modified-Since": memory.get("last_modified")}
        headers = {name: str(value) for name, value in conditions.items() if value}
        try:
            return self._client.get(url, headers=headers)
        except Passing:
            return self._client.get(url, headers=headers)

    def _may_read(self, url: str) -> bool:
        """Tell whether the site's robots.txt allows it; an unreadable one closes the site (RFC 9309)."""
        origin = parse_origin(url)
        if origin in self._closed:
            raise self._closed[origin]
        if origin not in self._robots:
            try:
                answer = self._client.get(urljoin(url, "/robots.txt"))
            except Passing as error:
                self._closed[origin] = error
                raise
            rules = RobotFileParser()
            rules.parse(answer.body.decode("utf-8", "replace").splitlines() if answer.status == 200 else [])
            self._robots[origin] = rules
            delay = rules.crawl_delay(AGENT)
            if delay:
                self._delay = Pace(int(60 / min(float(delay), SLOWEST_S)) or 1)
        return self._robots[origin].can_fetch(AGENT, url)

    def _wait_for_pace(self) -> None:
        self._pace()
        self._delay()

    def _iterate_sitemap_pages(self) -> Iterator[str]:
        """Yield the pages of the sitemaps and of nested ones. Raises Unreadable."""
        maps, read, count = deque(self._settings.addresses), set[str](), 0
        while maps:
            url = maps.popleft()
            if url in read:
                continue
            read.add(url)
            is_index, found = _read_sitemap(self._client.get(url))
            if is_index:
                maps.extend(entry for entry in found if parse_origin(entry) == parse_origin(url))
                continue
            for entry in found:
                count += 1
                if count > MAX_IN_SITEMAPS:
                    return
                if self._is_below(entry):
                    yield entry


def _read_sitemap(answer: SourceResponse) -> tuple[bool, list[str]]:
    """Return whether it lists sitemaps, and the addresses. Raises Unreadable for another document."""
    try:
        body = answer.body
        if body[:2] == b"\x1f\x8b":
            body = gzip.GzipFile(fileobj=io.BytesIO(body)).read(MAX_SITEMAP_BYTES)
        tree = read_xml(body)
    except (OSError, EOFError, ValueError) as error:
        raise Unreadable(gettext("%(url)s is not a sitemap.") % {"url": answer.url}) from error
    found = [str(text).strip() for text in tree.xpath("//*[local-name() = 'loc']/text()")]
    return etree.QName(tree).localname == "sitemapindex", [entry for entry in found if _is_address(entry)]


def _is_address(text: str) -> bool:
    try:
        parse_origin(text)
    except AddressRefused:
        return False
    return True


def _build_auth_headers(settings: WebSettings, secret: str) -> dict[str, str]:
    if not secret:
        return {}
    if settings.header:
        return {settings.header: secret}
    return build_basic_auth(settings.username, secret)


def _collect_cache_headers(answer: SourceResponse) -> dict[str, Any]:
    return {"etag": answer.headers.get("ETag", ""), "last_modified": answer.headers.get("Last-Modified", "")}


def _parse_suffix(url: str) -> str:
    return PurePosixPath(urlsplit(url).path).suffix.lower()


def _build_item_path(url: str, below: str, types: frozenset[str]) -> str:
    """Return the path of an item: `https://host/docs/a/page?x=1` below `https://host/docs/` → `a/page-1b2c3d.html`."""
    parts = urlsplit(url)
    path = unquote(url.split("?", maxsplit=1)[0].removeprefix(below.split("?", maxsplit=1)[0])).strip("/") or "index"
    names = [name for name in path.split("/") if name not in {"", ".", ".."}] or ["index"]
    suffix = PurePosixPath(names[-1]).suffix.lower()
    stem = names[-1].removesuffix(PurePosixPath(names[-1]).suffix) if suffix in types | PAGES - {""} else names[-1]
    mark = f"-{hashlib.sha256(parts.query.encode()).hexdigest()[:8]}" if parts.query else ""
    return "/".join([*names[:-1], f"{stem[:120]}{mark}{suffix if suffix in types else '.html'}"])


base.connectors.add("web", WebConnector)
