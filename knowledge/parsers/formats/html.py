"""HTML by unstructured, from a cleaned tree: spans of tables expanded, definition lists kept, what nobody sees kept apart."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from knowledge.parsers import detect
from knowledge.parsers.base import parsers
from knowledge.parsers.blocks import ParsedDocument, with_pieces
from knowledge.parsers.elements import blocks_from
from knowledge.parsers.encoding import decode
from knowledge.parsers.html_hidden import take_unseen
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.precheck import check_text_file_size, page_tree
from knowledge.parsers.raised import write_out
from knowledge.parsers.tables import html_rows, join_inline

_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_HEAD_BYTES = 4096
_DROPPED = ("script", "style", "svg", "iframe", "object", "nav", "select", "textarea", "input", "button")
_PASSED_OVER = {
    "dt": "p",
    "dd": "p",
    "summary": "p",
    "details": "div",
    "form": "div",
    "label": "span",
}  # by unstructured, and seen
_LOOKS_LIKE_HTML = re.compile(
    rb"<(?:!doctype html|html|head|body|title|meta|h[1-6]|p|div|table|ul|ol|br|a|span)\b", re.IGNORECASE
)


class HtmlParser:
    name = "html"
    mime_types = ("text/html", "application/xhtml+xml")
    extensions = (".html", ".htm", ".xhtml")
    preload = ("knowledge.parsers.unstructured_warmup",)
    is_heavy = True

    def recognises(self, path: Path) -> bool:
        start = detect.head(path).replace(b"\0", b"")  # UTF-16
        return detect.is_text(path) and _LOOKS_LIKE_HTML.search(start) is not None

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_text_file_size(path, limits)
        from lxml import html

        from knowledge.parsers.unstructured_warmup import partition_html

        tree = page_tree(decoded_page(path.read_bytes()), limits)
        title = " ".join(tree.xpath("string(//title[not(ancestor::svg)][1])").split())
        hidden = take_unseen(tree)
        _clean(tree)
        elements = partition_html(text=html.tostring(tree, encoding="unicode"))
        found = ParsedDocument.of(
            with_pieces(blocks_from(elements, is_heading=lambda _: True), hidden), language=tree.get("lang")
        )
        if not title:
            title = next((block.text for block in found.blocks if block.kind == "heading" and block.level == 1), "")
        return replace(found, title=title or None)


def decoded_page(data: bytes) -> str:
    """By the page's own declaration when that holds, else by what the bytes look like."""
    declared = _CHARSET.search(data[:_HEAD_BYTES])
    if declared and not data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        name = declared[1].decode("ascii").lower()
        try:
            return data.decode("gb18030" if name in ("gb2312", "gbk") else name)
        except (UnicodeDecodeError, LookupError):
            pass
    return decode(data)


def _clean(tree: Any) -> None:
    for element in list(tree.iter(*_DROPPED)):
        element.drop_tree()
    for element in list(tree.iter(*_PASSED_OVER)):
        element.tag = _PASSED_OVER[element.tag]
    write_out(tree)
    for table in tree.iter("table"):
        join_inline(table)
    for table in tree.xpath("//table[.//@rowspan or .//@colspan][not(.//table)]"):
        _expand_spans(table)


def _expand_spans(table: Any) -> None:
    """Rewrite a table with one cell for each place: unstructured reads cells without their spans."""
    rows = html_rows(table)
    for child in list(table):
        if child.tag != "caption":
            table.remove(child)
    for row in rows:
        tr = table.makeelement("tr")
        for text in row:
            td = tr.makeelement("td")
            td.text = text
            tr.append(td)
        table.append(tr)


parsers.add(HtmlParser.name, HtmlParser())
