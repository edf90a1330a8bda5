"""Fetch a web page by its address: checked at each redirect, reduced to its visible main text without navigation."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urljoin

from django.utils import timezone

from agent.connections.web_request import Code, RequestFailed, WebResponse, send_web_request
from agent.evidence.injection_filter import remove_injections
from agent.run_state.outside import TITLE_CHARACTERS, WebPassage, parse_url_host
from agent.text.overlap import compute_term_coverage
from agent.text.sentences import split_sentences
from agent.web.hosts import HostRules
from copilot_site.lib.outgoing.addresses import AddressRefused, normalise_host, parse_url
from knowledge.parsers.base import ParseLimits, UnreadableFile
from knowledge.parsers.sandbox import parse_in_child
from knowledge.text.normalise import clean_text

MAX_BYTES = 2_000_000  # of a page, unpacked
FILE_BYTES = 10_000_000  # of a PDF or Word file
FILE_LIMITS = replace(ParseLimits(), file_bytes=FILE_BYTES, pages=500, cpu_s=8, wall_s=12.0)
MAX_TAGS = 40_000  # of a page: extracting the main text takes processor minutes for ten times as many
MAX_CHARACTERS = 200_000  # of its main text
MAX_REDIRECTS = 5
SPAN_CHARACTERS, MAX_SPANS = 1_200, 4  # of a page passed on: its most relevant pieces
MIN_CHARACTERS = 25  # a page with less needs scripts to show its content
FILES = {  # what the reading process calls each type
    "application/pdf": "page.pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "page.docx",
}
PAGES, TEXTS = {"text/html", "application/xhtml+xml"}, {"text/plain", "text/markdown"}
_BLOCKS = (
    "p", "div", "section", "article", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "table", "ul", "ol",
    "dt", "dd", "br", "figure",
)  # fmt: skip


@dataclass(frozen=True)
class WebPage:
    """url: after redirects. text: without sentences that address the model."""

    url: str
    title: str
    text: str
    read_at: datetime


@dataclass(frozen=True)
class Fetched:
    """The outcome for one address. status: of HTTP, where there was a response. page: None where it was not read."""

    url: str
    code: Code
    status: int | None = None
    page: WebPage | None = None


def fetch_web_page(url: str, rules: HostRules) -> Fetched:
    """Fetch one page; a failure is in its code. Blocks: call it in a thread."""
    try:
        found, answer = _follow_redirects(url, rules)
        return Fetched(url, Code.OK, answer.status, _read_page(found, answer))
    except RequestFailed as problem:
        return Fetched(url, problem.code, problem.status)


def select_page_passages(page: WebPage, wanted: str) -> list[WebPassage]:
    """Return the most relevant pieces of a page, in their order; a short page as a whole."""
    pieces = _split_into_pieces(page.text)
    best = sorted(pieces, key=lambda piece: -compute_term_coverage(wanted, page.text[slice(*piece)]))[:MAX_SPANS]
    return [
        WebPassage(page.url, page.title, page.text[start:end], start, end, page.read_at) for start, end in sorted(best)
    ]


def clean_web_text(text: str) -> str:
    """Clean an untrusted text: normalised, nothing invisible, no sentence that addresses the model."""
    return remove_injections(clean_text(text)).strip()


def _follow_redirects(url: str, rules: HostRules) -> tuple[str, WebResponse]:
    """Follow redirects, and return the last address and its response. Raises NotRead."""
    for _hop in range(MAX_REDIRECTS + 1):
        try:
            host = normalise_host(parse_url(url)[0])
        except AddressRefused as error:
            raise RequestFailed(Code.INVALID_ADDRESS) from error
        if not rules.permits(host):
            raise RequestFailed(Code.REFUSED)
        answer = send_web_request(
            "GET",
            url,
            rules.policy(host),
            most_bytes=MAX_BYTES,
            of_types=dict.fromkeys(FILES, FILE_BYTES),
            headers={"Accept": ",".join(("text/html", "text/plain", *FILES))},
        )
        if not answer.location:
            if answer.status != 200:
                raise RequestFailed(Code.HTTP_STATUS, answer.status)
            return url, answer
        try:
            url = urljoin(url, answer.location)
        except ValueError as error:
            raise RequestFailed(Code.INVALID_ADDRESS, answer.status) from error
    raise RequestFailed(Code.REDIRECTS)


def _read_page(url: str, answer: WebResponse) -> WebPage:
    """Read a response as a page. Raises NotRead for another type, and for an empty page."""
    if answer.type in PAGES:
        title, text = _extract_main_text(url, answer)
    elif answer.type in FILES:
        title, text = _extract_file_text(answer)
    elif answer.type in TEXTS:
        title, text = "", answer.body.decode("utf-8", "replace")
    else:
        raise RequestFailed(Code.WRONG_TYPE, answer.status)
    text = clean_web_text(re.sub(r"[ \t]+", " ", text)[:MAX_CHARACTERS])
    if len(re.sub(r"\s", "", text)) < MIN_CHARACTERS:
        raise RequestFailed(Code.EMPTY, answer.status)
    return WebPage(url, clean_web_text(title)[:TITLE_CHARACTERS] or parse_url_host(url), text, timezone.now())


def _extract_main_text(url: str, answer: WebResponse) -> tuple[str, str]:
    """Return title and main text of an HTML page. Raises NotRead."""
    if answer.body.count(b"<") > MAX_TAGS:
        raise RequestFailed(Code.TOO_BIG, answer.status)
    from knowledge.sources.base import Unreadable
    from knowledge.sources.web_pages import parse_web_page  # imported on first use: trafilatura takes a second

    try:
        content = parse_web_page(answer.body, url, answer.headers.get("Content-Type", "")).content
    except Unreadable as error:
        raise RequestFailed(Code.EMPTY, answer.status) from error
    return content.title, _format_main_text(content.data)


def _extract_file_text(answer: WebResponse) -> tuple[str, str]:
    """Return title and visible text of a file, read like an upload; "" for a scan. Raises NotRead."""
    name = FILES[answer.type]
    with TemporaryDirectory(prefix="copilot-page-") as folder:
        path = Path(folder) / name
        path.write_bytes(answer.body)
        try:
            document = parse_in_child(path, filename=name, limits=FILE_LIMITS)
        except UnreadableFile as error:
            raise RequestFailed(Code.UNREADABLE, answer.status) from error
    return document.title or "", document.text


def _format_main_text(data: bytes) -> str:
    """Return the text of main content: a line for each block, cells of a row separated."""
    from lxml import html

    tree: Any = html.document_fromstring(data)
    body = tree.find("body")
    if body is None:
        return ""
    for cell in body.iter("td", "th"):
        cell.tail = f" | {cell.tail or ''}"
    for block in body.iter(*_BLOCKS):
        block.text = f"\n{block.text or ''}"
        block.tail = f"\n{block.tail or ''}"
    lines = (" ".join(line.split()).removesuffix(" |") for line in body.text_content().splitlines())
    return "\n".join(line for line in lines if line)


def _split_into_pieces(text: str) -> list[tuple[int, int]]:
    """Join whole sentences up to SPAN_CHARACTERS; a longer sentence is cut."""
    found: list[tuple[int, int]] = []
    for sentence in split_sentences(text):
        for start in range(sentence.start, sentence.end, SPAN_CHARACTERS):
            end = min(start + SPAN_CHARACTERS, sentence.end)
            if found and end - found[-1][0] <= SPAN_CHARACTERS:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
    return found
