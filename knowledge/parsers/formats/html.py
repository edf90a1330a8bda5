"""HTML by lxml and a walk of our own, hidden text kept apart."""

import re
from dataclasses import replace
from pathlib import Path

from knowledge.parsers import detect
from knowledge.parsers.base import ParseLimits, parsers
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.encoding import decode_text
from knowledge.parsers.html.reader import HtmlReader
from knowledge.parsers.losses import filter_losses
from knowledge.parsers.precheck import check_file_size, parse_page_tree

_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_HEAD_BYTES = 4096
_LOOKS_LIKE_HTML = re.compile(
    rb"<(?:!doctype html|html|head|body|title|meta|h[1-6]|p|div|table|ul|ol|br|a|span)\b", re.IGNORECASE
)


class HtmlParser:
    name = "html"
    mime_types = ("text/html", "application/xhtml+xml")
    extensions = (".html", ".htm", ".xhtml")
    preload = ("lxml.html",)

    def recognises(self, path: Path) -> bool:
        start = detect.read_head(path).replace(b"\0", b"")  # UTF-16
        return detect.is_text(path) and _LOOKS_LIKE_HTML.search(start) is not None

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_file_size(path, limits.text_bytes)
        tree = parse_page_tree(decode_page(path.read_bytes()), limits)
        title = " ".join(tree.xpath("string(//title[not(ancestor::svg)][1])").split())
        reader = HtmlReader(tree)
        found = ParsedDocument.of(reader.blocks, language=tree.get("lang"), losses=filter_losses(reader.losses))
        if not title:
            title = next((block.text for block in found.blocks if block.kind == "heading" and block.level == 1), "")
        return replace(found, title=title or None)


def decode_page(data: bytes, sent_as: str = "") -> str:
    """Decode a page by the charset it was sent with or its own declaration when that holds, else by guessing from the bytes."""
    declared = _CHARSET.search(data[:_HEAD_BYTES])
    is_marked = data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"))
    for name in (sent_as, declared[1].decode("ascii") if declared and not is_marked else ""):
        try:
            return data.decode("gb18030" if name.lower() in ("gb2312", "gbk") else name)
        except (UnicodeDecodeError, LookupError):  # also of no name
            continue
    return decode_text(data)


parsers.add(HtmlParser.name, HtmlParser())
