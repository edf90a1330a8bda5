"""Blocks of a document as safe HTML, with a span of its text highlighted."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext
from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.parsers.blocks import SEPARATOR, Block, ParsedDocument
from knowledge.parsers.hidden import REASONS

PART_LENGTH = 40_000  # characters of text on one page of a long document
# Only the shapes that parsers write (lists, fences, tables) are read: words of a document are plain text without marks.
_STRUCTURE = MarkdownIt("zero").enable(["list", "fence", "table"])
_LEAD = re.compile(r"(?:[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)*[ \t]*")  # indent and markers of list items
_ESCAPED_PIPE = re.compile(r"\\(</?mark>)?\|")


@dataclass(frozen=True)
class Span:
    """Half-open range of characters; into what, the caller says."""

    start: int
    end: int

    def within(self, start: int, end: int) -> "Span | None":
        """The piece of it between start and end, counted from start; None when they do not meet."""
        first, last = max(self.start, start), min(self.end, end)
        return Span(first - start, last - start) if first < last else None


@dataclass(frozen=True)
class Placed:
    """A block with the offset of its first character in the document's text."""

    block: Block
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.block.text)


def placed(parsed: ParsedDocument) -> list[Placed]:
    """The blocks in order, each with its place in the document's text."""
    found, start = [], 0
    for block in parsed.blocks:
        found.append(Placed(block, start))
        start += len(block.text) + len(SEPARATOR)
    return found


def parts(parsed: ParsedDocument) -> list[list[Placed]]:
    """A document as what is shown at a time: the pages of a PDF (also empty ones), else about PART_LENGTH characters."""
    blocks = placed(parsed)
    if is_paged(parsed):
        pages: list[list[Placed]] = [[] for _ in range(parsed.page_count or 1)]
        for block in blocks:
            pages[min(max(block.block.page or 1, 1), len(pages)) - 1].append(block)
        return pages
    found: list[list[Placed]] = [[]]
    for block in blocks:
        if found[-1] and block.end - found[-1][0].start > PART_LENGTH:
            found.append([])
        found[-1].append(block)
    return found


def apart_in(parsed: ParsedDocument, found: Sequence[Sequence[Placed]], index: int) -> list[Block]:
    """What people do not see in the original, of the part at `index`: each block goes with the one that it stands after."""
    if is_paged(parsed):
        return [each.block for each in parsed.apart if (each.block.page or 1) == index + 1]
    first = sum(len(part) for part in found[:index])
    last = first + len(found[index])
    return [each.block for each in parsed.apart if first < each.at <= last or (index == 0 and each.at == 0)]


def is_paged(parsed: ParsedDocument) -> bool:
    """Whether the blocks know their places on pages that can be shown as images."""
    return bool(parsed.page_count) and any(block.boxes for block in parsed.blocks)


def part_at(found: Sequence[Sequence[Placed]], offset: int) -> int:
    """Index of the part that holds a character of the document."""
    return next((i for i, part in enumerate(found) if part and offset < part[-1].end), len(found) - 1)


def excerpt(parsed: ParsedDocument, span: Span) -> list[Placed]:
    """What of the document lies within the span; a table or code that is cut keeps its header row or fences.

    Its headings are all of the first level: those above them are not there.
    """
    found = [_cut(block, inner) for block in placed(parsed) if (inner := span.within(block.start, block.end))]
    return [
        replace(piece, block=replace(piece.block, level=1)) if piece.block.kind == "heading" else piece
        for piece in found
    ]


def _cut(whole: Placed, inner: Span) -> Placed:
    block = whole.block
    if (inner.start, inner.end) == (0, len(block.text)):
        return whole
    prefix = suffix = ""
    lines = block.text.split("\n", 2)
    if block.kind == "table" and inner.start and len(lines) == 3:
        prefix = f"{lines[0]}\n{lines[1]}\n"
    if block.kind == "code":
        prefix = f"{lines[0]}\n" if inner.start else ""
        suffix = f"\n{lines[0][:3]}" if inner.end < len(block.text) else ""
    text = prefix + block.text[inner.start : inner.end] + suffix
    return Placed(replace(block, text=text), whole.start + inner.start - len(prefix))


def as_html(
    blocks: Sequence[Placed], cited: Span | None = None, *, heading_from: int = 2, anchor: str = "cited"
) -> SafeString:
    """The blocks as HTML; `cited`, a span of the document's text, stands in <mark>.

    heading_from: the level that a document's own first level becomes. anchor: id of the first mark, "" for none.
    """
    rendered = (
        _block(block.block, cited.within(block.start, block.end) if cited else None, heading_from) for block in blocks
    )
    text = "\n".join(rendered)
    if anchor:
        text = text.replace("<mark>", f'<mark id="{anchor}">', 1)
    return mark_safe(text)  # noqa: S308 - built from escaped text


def _block(block: Block, cited: Span | None, heading_from: int) -> str:
    body = _body(block, cited, heading_from)
    if block.hidden is None:
        return body
    why = html.escape(f"{gettext('Not visible in the original.')} {gettext(REASONS[block.hidden])}")
    return f'<div class="not-visible"><p class="not-visible-why" lang="{get_language()}">{why}</p>\n{body}</div>'


def _body(block: Block, cited: Span | None, heading_from: int) -> str:
    source = _Source(block.text, cited)
    match block.kind:
        case "heading":
            level = min((block.level or 1) + heading_from - 1, 6)
            return f"<h{level}>{source.lines(0, len(block.text))}</h{level}>"
        case "list" | "table" | "code":
            return "".join(_structured(source))
        case _:
            return f"<p>{source.lines(0, len(block.text))}</p>"


@dataclass(frozen=True)
class _Source:
    """The text of a block, given out as escaped HTML piece by piece, with the cited characters in <mark>."""

    text: str
    cited: Span | None

    def piece(self, start: int, end: int) -> str:
        inner = self.cited.within(start, end) if self.cited else None
        text = self.text[start:end]
        if inner is None:
            return html.escape(text)
        before, middle, after = text[: inner.start], text[inner.start : inner.end], text[inner.end :]
        if not middle.strip():
            return html.escape(text)
        return f"{html.escape(before)}<mark>{html.escape(middle)}</mark>{html.escape(after)}"

    def lines(self, start: int, end: int) -> str:
        """A piece with its line ends as <br>, each line marked by itself."""
        return "<br>".join(self.piece(a, b) for a, b in self._lines(start, end))

    def _lines(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        for line in self.text[start:end].split("\n"):
            yield start, start + len(line)
            start += len(line) + 1


def _structured(source: _Source) -> Iterator[str]:
    """A list, table or fence as HTML: the tags are ours, the words are found again in the text, so that offsets hold."""
    cursor = 0
    starts = [0, *(match.end() for match in re.finditer("\n", source.text))]
    for token in _STRUCTURE.parse(source.text):
        first = starts[min(token.map[0], len(starts) - 1)] if token.map else 0
        if token.type == "inline":
            found = []
            for line in token.content.split("\n"):
                piece, cursor = _found(source, line.strip(), max(cursor, first))
                found.append(piece)
            yield "<br>".join(found)
        elif token.type == "fence":
            cursor = source.text.find("\n", max(cursor, first)) + 1
            found = []
            for line in token.content.removesuffix("\n").split("\n"):
                piece, cursor = _found(source, line, cursor)
                found.append(piece)
            yield f'<pre tabindex="0"><code>{chr(10).join(found)}</code></pre>'
        elif not token.hidden:
            yield _tag(token)


def _found(source: _Source, words: str, cursor: int) -> tuple[str, int]:
    """Words of a line as HTML, and where the next ones may begin. Words that cannot be found stand there unmarked."""
    line_start = cursor == 0 or source.text[cursor - 1] == "\n"
    lead = _LEAD.match(source.text, cursor) if line_start else None
    written = words
    start = source.text.find(written, lead.end() if lead else cursor)
    if start < 0:
        written = words.replace("|", "\\|")  # as a pipe in a cell is written
        start = source.text.find(written, cursor)
    if start < 0:
        return html.escape(words), cursor
    end = start + len(written)
    piece = source.piece(start, end)
    shown = piece if written == words else _ESCAPED_PIPE.sub(r"\1|", piece)
    return shown, end + (source.text[end : end + 1] == "\n")


def _tag(token: Token) -> str:
    if token.nesting < 0:
        return f"</{token.tag}></div>" if token.tag == "table" else f"</{token.tag}>"
    if token.tag == "table":
        return '<div class="table-scroll" tabindex="0"><table>'
    start = token.attrs.get("start")
    return f'<{token.tag} start="{int(start)}">' if start is not None else f"<{token.tag}>"
