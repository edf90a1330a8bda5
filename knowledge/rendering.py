"""Blocks of a document as safe HTML, with a span of its text highlighted."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext

from knowledge.parsers.blocks import TABULAR, Block, ParsedDocument, is_absolute_address
from knowledge.parsers.hidden import REASONS
from knowledge.text.pipe_table import find_cell_spans

PART_LENGTH = 40_000  # characters of text on one page of a long document
_OUTSIDE = 'rel="noopener noreferrer nofollow" target="_blank"'
_ESCAPED_BAR = re.compile(r"\\(</?mark>)?\|")


@dataclass(frozen=True)
class Span:
    """Half-open range of characters; the caller knows of which text."""

    start: int
    end: int

    def within(self, start: int, end: int) -> "Span | None":
        """Return the overlap with start to end, counted from start; None without any."""
        first, last = max(self.start, start), min(self.end, end)
        return Span(first - start, last - start) if first < last else None


@dataclass(frozen=True)
class PlacedBlock:
    """A block with the offset of its first character in the document's text."""

    block: Block
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.block.text)


def place_blocks(parsed: ParsedDocument) -> list[PlacedBlock]:
    """Return the blocks in order, each with its place in the document's text."""
    return [PlacedBlock(block, start) for block, start in zip(parsed.blocks, parsed.starts, strict=True)]


def split_into_parts(parsed: ParsedDocument) -> list[list[PlacedBlock]]:
    """Return a document in parts that are shown at once: the pages of a PDF (also empty ones), else about PART_LENGTH characters."""
    blocks = place_blocks(parsed)
    if has_page_positions(parsed):
        pages: list[list[PlacedBlock]] = [[] for _ in range(parsed.page_count or 1)]
        for block in blocks:
            pages[min(max(block.block.page or 1, 1), len(pages)) - 1].append(block)
        return pages
    found: list[list[PlacedBlock]] = [[]]
    for block in blocks:
        if found[-1] and block.end - found[-1][0].start > PART_LENGTH:
            found.append([])
        found[-1].append(block)
    return found


def find_hidden_blocks(parsed: ParsedDocument, found: Sequence[Sequence[PlacedBlock]], index: int) -> list[Block]:
    """Return the original's hidden blocks for the part at `index`: each goes with the block that it follows."""
    if has_page_positions(parsed):
        return [item.block for item in parsed.apart if (item.block.page or 1) == index + 1]
    first = sum(len(part) for part in found[:index])
    last = first + len(found[index])
    return [item.block for item in parsed.apart if first < item.at <= last or (index == 0 and item.at == 0)]


def has_page_positions(parsed: ParsedDocument) -> bool:
    """Tell whether the blocks know their places on pages that can be shown as images."""
    return bool(parsed.page_count) and any(block.boxes for block in parsed.blocks)


def find_part_index(found: Sequence[Sequence[PlacedBlock]], offset: int) -> int:
    """Return the index of the part that holds a character of the document."""
    return next((i for i, part in enumerate(found) if part and offset < part[-1].end), len(found) - 1)


def extract_excerpt(parsed: ParsedDocument, span: Span) -> list[PlacedBlock]:
    """Return the document's text within the span; a cut table keeps its column names.

    Its headings are all of the first level: those above them are not there.
    """
    found = [
        _cut_block(block, inner) for block in place_blocks(parsed) if (inner := span.within(block.start, block.end))
    ]
    return [
        replace(piece, block=replace(piece.block, level=1)) if piece.block.kind == "heading" else piece
        for piece in found
    ]


def _cut_block(whole: PlacedBlock, inner: Span) -> PlacedBlock:
    block = whole.block
    if (inner.start, inner.end) == (0, len(block.text)):
        return whole
    head = "".join(f"{line}\n" for line in block.text.split("\n")[:2]) if block.is_headed and inner.start else ""
    moved = len(head) - inner.start
    links = tuple(
        (a + moved, b + moved, to) for a, b, to in block.links if a >= max(inner.start, len(head)) and b <= inner.end
    )
    text = head + block.text[inner.start : inner.end]
    cut = replace(block, text=text, links=links, lead=0 if inner.start else block.lead)
    return PlacedBlock(cut, whole.start - moved)


def render_blocks(
    blocks: Sequence[PlacedBlock], cited: Span | None = None, *, heading_from: int = 2, anchor: str = "cited"
) -> SafeString:
    """Return the blocks as HTML; `cited`, a span of the document's text, stands in <mark>.

    heading_from: the level that a document's own first level becomes. anchor: id of the first mark, "" for none.
    """
    rendered: list[str] = []
    for is_list, group in groupby(blocks, key=lambda item: item.block.kind == "item" and item.block.hidden is None):
        marked = [(item.block, cited.within(item.start, item.end) if cited else None) for item in group]
        rendered += [_render_list(marked)] if is_list else [_render_block(*item, heading_from) for item in marked]
    text = "\n".join(rendered)
    if anchor:
        text = text.replace("<mark>", f'<mark id="{anchor}">', 1)
    return mark_safe(text)  # noqa: S308 - built from escaped text


def _render_block(block: Block, cited: Span | None, heading_from: int) -> str:
    body = _render_body(block, cited, heading_from)
    if block.hidden is None:
        return body
    why = html.escape(f"{gettext('Not visible in the original.')} {gettext(REASONS[block.hidden])}")
    return f'<div class="not-visible"><p class="not-visible-why" lang="{get_language()}">{why}</p>\n{body}</div>'


def _render_body(block: Block, cited: Span | None, heading_from: int) -> str:
    source = _Source(block, cited)
    if block.kind in TABULAR:
        return _render_table(source)
    lines = source.lines(0, len(block.text))
    match block.kind:
        case "heading":
            level = min((block.level or 1) + heading_from - 1, 6)
            return f"<h{level}>{lines}</h{level}>"
        case "code":
            return f'<pre tabindex="0"><code>{source.lines(0, len(block.text), separator=chr(10))}</code></pre>'
        case "quotation":
            return f"<blockquote><p>{lines}</p></blockquote>"
        case "footnote" | "caption" | "running":
            return f'<p class="{block.kind}">{lines}</p>'
        case _:
            return f"<p>{lines}</p>"


def _render_list(items: Sequence[tuple[Block, Span | None]]) -> str:
    """Return items as nested lists; numbers are as the document writes them."""
    parts: list[str] = []
    opened: list[tuple[int, str]] = []  # depth and tag
    for block, cited in items:
        while opened and opened[-1][0] > block.depth:
            parts.append(f"</li></{opened.pop()[1]}>")
        if opened and opened[-1][0] == block.depth:
            parts.append("</li>")
        else:
            opened.append((block.depth, "ol" if block.number else "ul"))
            parts.append(f"<{opened[-1][1]}>")
        lines = _Source(block, cited).lines(min(block.lead, len(block.text) - 1), len(block.text))
        parts.append(f'<li class="numbered">{lines}' if block.number else f"<li>{lines}")
    return "".join(parts) + "".join(f"</li></{tag}>" for _depth, tag in reversed(opened))


def _render_table(source: "_Source") -> str:
    """Return a table as HTML: the tags are ours, each cell is a piece of the text, so that offsets hold."""
    rows: list[str] = []
    start = 0
    for place, line in enumerate(source.block.text.split("\n")):
        is_names = source.block.is_headed and place == 0
        if not (source.block.is_headed and place == 1):
            tag = "th" if is_names else "td"
            cells = (source.piece(start + a, start + b) for a, b in find_cell_spans(line))
            row = "".join(f"<{tag}>{_unescape_bars(cell)}</{tag}>" for cell in cells)
            rows.append(f"<thead><tr>{row}</tr></thead><tbody>" if is_names else f"<tr>{row}</tr>")
        start += len(line) + 1
    body = "".join(rows)
    return f'<div class="table-scroll" tabindex="0"><table>{body if source.block.is_headed else f"<tbody>{body}"}</tbody></table></div>'


def _unescape_bars(cell: str) -> str:
    return _ESCAPED_BAR.sub(r"\1|", cell)


@dataclass(frozen=True)
class _Source:
    """The text of a block, given out as escaped HTML piece by piece: cited characters in <mark>, links in <a>."""

    block: Block
    cited: Span | None

    def piece(self, start: int, end: int) -> str:
        """Return characters with their links; a link that reaches beyond them is cut."""
        parts: list[str] = []
        for first, last, address in self.block.links:
            if first < end and last > start and is_absolute_address(address):
                parts.append(self._mark_cited_text(start, max(first, start)))
                start, text = min(last, end), self._mark_cited_text(max(first, start), min(last, end))
                parts.append(f'<a href="{html.escape(address)}" {_OUTSIDE}>{text}</a>')
        return "".join([*parts, self._mark_cited_text(start, end)])

    def _mark_cited_text(self, start: int, end: int) -> str:
        text = self.block.text[start:end]
        inner = self.cited.within(start, end) if self.cited else None
        if inner is None or not text[inner.start : inner.end].strip():
            return html.escape(text)
        before, middle, after = text[: inner.start], text[inner.start : inner.end], text[inner.end :]
        return f"{html.escape(before)}<mark>{html.escape(middle)}</mark>{html.escape(after)}"

    def lines(self, start: int, end: int, *, separator: str = "<br>") -> str:
        """Return a piece with its line ends as <br>, each line marked by itself."""
        return separator.join(self.piece(a, b) for a, b in self._iterate_lines(start, end))

    def _iterate_lines(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        for line in self.block.text[start:end].split("\n"):
            yield start, start + len(line)
            start += len(line) + 1
