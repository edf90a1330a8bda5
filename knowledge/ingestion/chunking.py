"""Documents to chunks along their structure: sections first, then blocks, then rows, items, lines and sentences.

A chunk never mixes two long sections, a table that is cut repeats its header, and the spans of all chunks cover the
text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from math import ceil
from typing import Literal

from copilot_site.lib.text.one_line import fold_to_one_line
from knowledge.ingestion.cutting import CELL, SENTENCE, CountTokens, PieceSizes, TablePiece, split_table, split_text
from knowledge.parsers.blocks import Block, BlockKind, ParsedDocument
from knowledge.text.passage_blocks import PassageBlock

ChunkKind = Literal["paragraph", "list", "table", "code", "mixed"]
_CHUNK_KINDS: dict[BlockKind, ChunkKind] = {"item": "list", "table": "table", "chart": "table", "code": "code"}

# Where an oversized block may be cut, coarse to fine. A match ends a piece; what still does not fit is cut by the next.
_PROSE = (r"\n", SENTENCE, r"(?<=[，、,]) ?", r" ")
_CUTS: dict[BlockKind, tuple[str, ...]] = {
    "heading": (r"\n", SENTENCE, r" "),
    "table": (r"\n", CELL, SENTENCE, r" "),
    "chart": (r"\n", CELL, SENTENCE, r" "),
    "code": (r"\n(?=\S)", r"\n", r" "),
}
_LEAD_IN = re.compile(r"[:：]$")


@dataclass(frozen=True)
class ChunkDraft:
    """A chunk before it has a row.

    text: what is embedded and shown; the span's text, with the names of the columns repeated where a table was cut.
    blocks: what it is made of.
    start, end: half-open character span in the document's text.
    heading_path: outermost first, without the document's title. page_from, page_to: from 1, None without pages.
    page_starts: where in `text` each page after page_from begins.
    length_tokens: of the text, counted in parts: at most a few too many.
    """

    ordinal: int
    text: str
    heading_path: tuple[str, ...]
    page_from: int | None
    page_to: int | None
    page_starts: tuple[int, ...]
    start: int
    end: int
    length_tokens: int
    kind: ChunkKind
    blocks: tuple[PassageBlock, ...] = ()


@dataclass(frozen=True)
class _Part:
    """A block or a piece of one. start, end: in the document's text; offset: of the piece in its block.

    prefix: shown where a chunk begins in the middle of a table: the names of its columns.
    """

    block: Block
    start: int
    end: int
    tokens: int
    path: tuple[str, ...]
    offset: int = 0
    prefix: str = ""
    prefix_tokens: int = 0
    is_alone: bool = False  # a part of one table row: another one would stand under its header

    @property
    def opens_section(self) -> bool:
        return self.offset == 0 and self.block.kind == "heading"


def chunk_document(
    parsed: ParsedDocument, *, count_tokens: CountTokens, target_tokens: int, max_tokens: int
) -> list[ChunkDraft]:
    """Return chunks of about `target_tokens` and at most `max_tokens`, in order; [] for a document without text.

    count_tokens: token counts of many texts at once, by the embedder that will read the chunks.
    A document of at most 4/3 of the target is one chunk.
    """
    target_tokens = min(target_tokens, max_tokens)
    parts = list(_build_parts(parsed, PieceSizes(count_tokens, target_tokens, max_tokens)))
    groups = [
        chunk
        for section in _merge_sections(_group_sections(parts), target_tokens)
        for chunk in _split_section(section, target_tokens, max_tokens)
    ]
    text = parsed.text
    starts = [group[0].start for group in groups[1:]]
    spans = list(zip([0, *starts], [*starts, len(text)], strict=True)) if groups else []
    return [_build_draft(i, group, text, *span) for i, (group, span) in enumerate(zip(groups, spans, strict=True))]


def _build_draft(ordinal: int, parts: list[_Part], text: str, start: int, end: int) -> ChunkDraft:
    first = parts[0]
    pages = [part.block.page for part in parts if part.block.page is not None]
    words = text[start:end].strip("\n").rstrip()
    shown = start + len(text[start:end]) - len(text[start:end].lstrip("\n")) - len(first.prefix)
    return ChunkDraft(
        ordinal=ordinal,
        text=first.prefix + words,
        heading_path=_find_common_path(parts),
        page_from=min(pages, default=None),
        page_to=max(pages, default=None),
        page_starts=tuple(
            next(part.start for part in parts if (part.block.page or 0) >= page) - shown
            for page in range(min(pages, default=0) + 1, max(pages, default=0) + 1)
        ),
        start=start,
        end=end,
        length_tokens=_count_tokens(parts),
        kind=_find_chunk_kind(parts),
        blocks=tuple(_build_passage_blocks(parts, shown, len(first.prefix) + len(words))),
    )


def _build_passage_blocks(parts: Sequence[_Part], shown: int, length: int) -> Iterator[PassageBlock]:
    """Yield the blocks of a passage. shown: where in the document's text it begins; length: of its text."""
    for group in _group_by_block(parts):
        first, block = group[0], group[0].block
        start, end = (
            first.start - shown - len(first.prefix if first is parts[0] else ""),
            min(group[-1].end - shown, length),
        )
        begin = first.start - shown - first.offset  # of the whole block
        is_whole = first.offset == 0 and group[-1].end - first.start >= _find_header_end(block)
        is_headed = block.is_headed and (is_whole or (first is parts[0] and first.prefix != ""))
        yield PassageBlock(
            block.kind,
            start,
            end,
            level=block.level,
            depth=block.depth,
            lead=block.lead if first.offset == 0 else 0,
            number=block.number if first.offset == 0 else "",
            is_headed=is_headed,
            language=block.language,
            links=tuple(
                (max(begin + a, start), min(begin + b, end), to)
                for a, b, to in block.links
                if begin + a < end and begin + b > start
            ),
            repeated=len(first.prefix) if first is parts[0] else 0,
        )


def _find_header_end(table: Block) -> int:
    """Return where the names of a table's columns and the rule below them end."""
    return sum(len(line) + 1 for line in table.text.split("\n", 2)[:2]) - 1


def _group_by_block(parts: Sequence[_Part]) -> Iterator[list[_Part]]:
    for _, group in groupby(parts, key=lambda part: part.start - part.offset):
        yield list(group)


def _count_tokens(parts: Sequence[_Part]) -> int:
    return sum(part.tokens for part in parts) + (parts[0].prefix_tokens if parts else 0)


def _find_chunk_kind(parts: Sequence[_Part]) -> ChunkKind:
    kinds = {_CHUNK_KINDS.get(part.block.kind, "paragraph") for part in parts if part.block.kind != "heading"}
    return "mixed" if len(kinds) > 1 else next(iter(kinds), "paragraph")


def _find_common_path(parts: Sequence[_Part]) -> tuple[str, ...]:
    """Return the path that all text of a chunk shares; headings count only where there is nothing else."""
    paths = [part.path for part in parts if part.block.kind != "heading"] or [part.path for part in parts]
    return tuple(names[0] for names in takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False)))


# --- blocks to parts -----------------------------------------------------------------------------------------------


def _build_parts(parsed: ParsedDocument, sizes: PieceSizes) -> Iterator[_Part]:
    """Yield every block, those over the limit in pieces, each with its heading path and token count."""
    path: list[tuple[int, str]] = []
    ahead = 0  # tokens of the headings directly in front, which share the chunk
    counts = sizes.count_tokens([block.text for block in parsed.blocks])
    for block, start, tokens in zip(parsed.blocks, parsed.starts, counts, strict=True):
        if block.kind == "heading":
            level = block.level or 1
            path = [(above, text) for above, text in path if above < level]
            if path or not _is_document_title(block.text, parsed.title):
                path.append((level, fold_to_one_line(block.text)))
        names = tuple(text for _, text in path)
        if tokens <= sizes.limit - ahead:
            yield _Part(block, start, start + len(block.text), tokens, names)
        else:
            room = max(sizes.limit - ahead, sizes.limit // 2)
            yield from _split_block(block, start, names, replace(sizes, limit=room))
        ahead = ahead + tokens if block.kind == "heading" else 0


def _is_document_title(heading: str, title: str | None) -> bool:
    return title is not None and heading.casefold() == title.casefold()


def _split_block(block: Block, start: int, path: tuple[str, ...], sizes: PieceSizes) -> Iterator[_Part]:
    if block.is_headed:
        pieces = list(split_table(block.text, sizes))
    else:
        cuts = _CUTS.get(block.kind, _PROSE)
        pieces = [TablePiece(offset, tokens, is_whole=True) for offset, tokens in split_text(block.text, cuts, sizes)]
    ends = [*(piece.offset for piece in pieces[1:]), len(block.text)]
    for piece, end in zip(pieces, ends, strict=True):
        yield _Part(
            block,
            start + piece.offset,
            start + end,
            piece.tokens,
            path,
            offset=piece.offset,
            prefix=piece.prefix,
            prefix_tokens=piece.prefix_tokens,
            is_alone=not piece.is_whole,
        )


# --- parts to chunks -----------------------------------------------------------------------------------------------


def _group_sections(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Return the parts from one heading to the next; headings without text of their own stay with what follows."""
    sections: list[list[_Part]] = []
    for part in parts:
        opens = part.opens_section and not (sections and all(item.block.kind == "heading" for item in sections[-1]))
        if opens or not sections:
            sections.append([])
        sections[-1].append(part)
    return sections


def _merge_sections(sections: Sequence[list[_Part]], target: int) -> list[list[_Part]]:
    """Merge neighbouring sections while they fit: siblings, subsections, and tiny sections with their neighbours."""
    if sum(_count_tokens(section) for section in sections) <= target * 4 / 3:
        sections = [[part for section in sections for part in section]] if sections else []
    groups: list[list[_Part]] = []
    for section in sections:
        if (
            groups
            and _count_tokens(groups[-1]) + _count_tokens(section) <= target * 1.15
            and _can_merge_sections(groups[-1], section, target // 6)
        ):
            groups[-1] = groups[-1] + section
        else:
            groups.append(section)
    return groups


def _can_merge_sections(group: list[_Part], section: list[_Part], crumb_tokens: int) -> bool:
    path = _find_common_path(group)
    common = len(_find_common_path([*group, *section]))
    siblings = common == len(path) - 1 and len(section[0].path) == len(path)
    return common == len(path) or siblings or min(_count_tokens(group), _count_tokens(section)) <= crumb_tokens


def _split_section(section: list[_Part], target: int, limit: int) -> list[list[_Part]]:
    """Return a section as chunks of about equal size; a line that announces a list, table or code goes with it."""
    tokens = _count_tokens(section)
    size = tokens if tokens <= target * 4 / 3 else min(tokens / ceil(tokens / target) * 1.1, limit)
    crumb = target // 5
    chunks: list[list[_Part]] = [[]]
    for part in section:
        chunk = chunks[-1]
        together = _count_tokens([*chunk, part])
        if chunk and not _may_share_chunk(chunk[-1], part):
            chunks.append([])
        elif chunk and together > (limit if _has_little_text(chunk, crumb) else size):
            kept = len(chunk) - _count_lead_in_parts(chunk, part)
            tail = chunk[kept:] if kept > 0 and _count_tokens([*chunk[kept:], part]) <= limit else []
            del chunk[len(chunk) - len(tail) :]
            chunks.append(tail)
        chunks[-1].append(part)
    may_join = len(chunks) > 1 and _may_share_chunk(chunks[-2][-1], chunks[-1][0])
    if (
        may_join
        and _count_tokens(chunks[-1]) <= crumb
        and _count_tokens(chunks[-2]) + _count_tokens(chunks[-1]) <= limit
    ):
        chunks[-2:] = [chunks[-2] + chunks[-1]]
    return chunks


def _may_share_chunk(before: _Part, part: _Part) -> bool:
    """Tell whether a part may stand in one chunk with what is before it: a chunk shows one header, at its beginning."""
    return not (before.is_alone or (part.is_alone and part.prefix))


def _has_little_text(chunk: list[_Part], crumb: int) -> bool:
    """Tell whether parts are headings alone, or too little text to say anything."""
    return _count_tokens(chunk) <= crumb or all(part.block.kind == "heading" for part in chunk)


def _count_lead_in_parts(chunk: Sequence[_Part], part: _Part) -> int:
    """Return how many last parts of a chunk belong to the next one: its introduction, the items above a nested one."""
    count = 0
    if part.block.kind == "item" and part.block.depth:
        for before in reversed(chunk):
            if before.block.kind != "item":
                break
            count += 1
            if not before.block.depth:
                return count
        return 0
    return int(_is_lead_in(chunk[-1], part))


def _is_lead_in(part: _Part, following: _Part) -> bool:
    return part.block.kind == "caption" or (
        part.block.kind == "paragraph"
        and following.block.kind != "paragraph"
        and _LEAD_IN.search(part.block.text) is not None
    )
