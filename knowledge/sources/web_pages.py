"""Parsing of a web page: its content, without navigation and hidden text, and its links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from django.utils.translation import gettext as _
from lxml import etree, html

from copilot_site.lib.outgoing.addresses import AddressRefused, parse_url
from knowledge.parsers.formats.html import decode_page
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.html.hidden import InheritedLook, Looks
from knowledge.sources.base import ItemContent, Unreadable

MAX_BYTES = 5_000_000  # of HTML
MAX_LINKS = 5_000  # of one page
MIN_TEXT = 25  # characters; a page with less, and with scripts, needs a browser
_CHARSET = re.compile(r"charset=[\"']?([\w-]+)", re.IGNORECASE)
_HEADINGS = "//h1|//h2|//h3|//h4|//h5|//h6"


@dataclass(frozen=True)
class ParsedWebPage:
    """links: absolute addresses without fragments, in order. canonical: "" where the page names none. is_for_browsers: says nothing
    without its scripts. may_keep, may_follow: what it tells robots."""

    content: ItemContent
    links: tuple[str, ...]
    canonical: str
    is_for_browsers: bool
    may_keep: bool
    may_follow: bool


def parse_web_page(body: bytes, url: str, content_type: str = "") -> ParsedWebPage:
    """Parse a page. Raises Unreadable for other content."""
    if len(body) > MAX_BYTES:
        raise Unreadable(_("The page has more than %(most)s MB of HTML.") % {"most": MAX_BYTES // 1_000_000})
    try:
        tree = html.document_fromstring(_decode_page(body, content_type))
        base = urljoin(url, next(iter(tree.xpath("string(//base/@href)").split()), ""))
        robots = " ".join(tree.xpath("//meta[translate(@name, 'ROBTS', 'robts') = 'robots']/@content")).lower()
        canonical = next(iter(tree.xpath("//link[translate(@rel, 'CANOIL', 'canoil') = 'canonical']/@href")), "")
        links = tuple(dict.fromkeys(_iterate_links(tree, base)))
        sections = tuple(_iterate_sections(tree))
        has_scripts = bool(tree.xpath("//script"))
        _remove_hidden_content(tree)
        content = _extract_content(tree, sections)
    except (etree.LxmlError, ValueError, RecursionError) as error:
        raise Unreadable(_("%(url)s cannot be read as a page.") % {"url": url}) from error
    return ParsedWebPage(
        content,
        links,
        canonical=_build_absolute_url(base, canonical) if canonical else "",
        is_for_browsers=has_scripts and len(re.sub(r"<[^>]+>|\s+", "", content.data.decode())) < MIN_TEXT,
        may_keep="noindex" not in robots and "none" not in robots,
        may_follow="nofollow" not in robots and "none" not in robots,
    )


def _extract_content(tree: Any, sections: tuple[tuple[str, str], ...]) -> ItemContent:
    from trafilatura import extract
    from trafilatura.metadata import extract_metadata

    metadata = extract_metadata(tree, date_config={"original_date": False, "extensive_search": False})
    heading = " ".join(tree.xpath("string(//h1[1])").split())
    title = heading or (metadata.title if metadata else "") or " ".join(tree.xpath("string(//title)").split())
    language = tree.get("lang") or ""
    body = extract(
        tree,
        output_format="html",
        include_formatting=True,
        include_tables=True,
        include_comments=False,
        favor_recall=True,
    )
    inside = re.sub(r"</?(html|body)>", "", body or "")
    page = f'<html lang="{escape(language)}"><head><meta charset="utf-8"><title>{escape(title)}</title></head><body>{inside}</body></html>'
    return ItemContent(
        page.encode(),
        title=title[:300],
        author=(metadata.author or "" if metadata else "")[:200],
        modified_at=_parse_day(metadata.date if metadata else None),
        sections=sections,
    )


def _remove_hidden_content(tree: Any) -> None:
    """Remove hidden content from a page. Struck-out text stays; scripts and styles are left alone."""
    looks = Looks(tree)

    def look_at(element: Any, above: InheritedLook) -> None:
        look = looks.of(element, above)
        is_unseen = look.why_unseen not in (None, HiddenReason.STRUCK)
        if is_unseen and element.text:
            element.text = " "
        for child in list(element):
            if is_unseen and child.tail:
                child.tail = " "
            if isinstance(child.tag, str) and child.tag not in ("script", "style", "head"):
                look_at(child, look)
        if look.reason not in (None, HiddenReason.STRUCK) and not above.reason and element.getparent() is not None:
            element.drop_tree()

    look_at(tree, InheritedLook())


def _iterate_links(tree: Any, base: str) -> Iterator[str]:
    for href in tree.xpath("//a[not(contains(concat(' ', @rel, ' '), ' nofollow '))]/@href")[:MAX_LINKS]:
        url = _build_absolute_url(base, href)
        if url:
            yield url


def _build_absolute_url(base: str, href: str) -> str:
    """Return an http(s) address without its fragment; "" for anything else."""
    try:
        url = urldefrag(urljoin(base, href.strip())).url
        parse_url(url)
    except (ValueError, AddressRefused):
        return ""
    return url if urlsplit(url).path else f"{url}/"


def _iterate_sections(tree: Any) -> Iterator[tuple[str, str]]:
    """Return each heading with the anchor on it, in it, or on the section that it opens."""
    for heading in tree.xpath(_HEADINGS):
        inside = heading.xpath("string((.//@id | .//a/@name)[1])")
        around = heading.getparent().get("id", "") if heading.getparent() is not None else ""
        is_first = heading.getprevious() is None
        anchor = heading.get("id") or inside or (around if is_first else "")
        text = " ".join(heading.text_content().split())
        if anchor and text:
            yield text, str(anchor)


def _decode_page(body: bytes, content_type: str) -> str:
    declared = _CHARSET.search(content_type)
    text = decode_page(body, declared[1] if declared else "")
    if not text.strip():
        raise ValueError("nothing is there")
    return text


def _parse_day(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None
    except ValueError:
        return None
