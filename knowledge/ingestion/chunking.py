"""Documents to chunks along their structure: sections first, then blocks, then rows, items, lines and sentences.

A chunk never mixes two long sections, a table that is cut repeats its header, and the spans of all chunks cover the
text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import ceil
from typing import Literal

from copilot_site.lib.one_line import one_line
from knowledge.ingestion.cutting import SENTENCE, CountTokens, Sizes, cut
from knowledge.ingestion.table_cutting import CELL, table_pieces
from knowledge.parsers.base import SEPARATOR, Block, ParsedDocument

ChunkKind = Literal["paragraph", "list", "table", "code", "mixed"]

# Where an oversized block may be cut, coarse to fine. A match ends a piece; what still does not fit is cut by the next.
_CUTS: dict[str, tuple[str, ...]] = {
    "heading": (r"\n", SENTENCE, r" "),
    "paragraph": (r"\n", SENTENCE, r"(?<=[，、,]) ?", r" "),
    "list": (r"\n(?=\S)", r"\n", SENTENCE, r" "),
    "table": (r"\n", CELL, SENTENCE, r" "),
    "code": (r"\n(?=\S)", r"\n", r" "),
}
_LEAD_IN = re.compile(r"[:：]$")


@dataclass(frozen=True)
class ChunkDraft:
    """A chunk before it has a row.

    text: what is embedded and shown; the span's text, with the header row (or the code fence) repeated where a block
        was cut.
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


@dataclass(frozen=True)
class _Part:
    """A block or a piece of one; `start` is its offset in the document's text.

    prefix and suffix are shown where a chunk begins or ends in the middle of the block: header rows, code fences.
    """

    block: Block
    start: int
    tokens: int
    path: tuple[str, ...]
    is_first: bool = True
    prefix: str = ""
    prefix_tokens: int = 0
    suffix: str = ""
    suffix_tokens: int = 0
    is_alone: bool = False  # a part of one table row: another one would stand under its header

    @property
    def opens_section(self) -> bool:
        return self.is_first and self.block.kind == "heading"


def chunk_document(
    parsed: ParsedDocument, *, count_tokens: CountTokens, target_tokens: int, max_tokens: int
) -> list[ChunkDraft]:
    """Chunks of about `target_tokens` and at most `max_tokens`, in order; [] for a document without text.

    count_tokens: token counts of many texts at once, by the embedder that will read the chunks.
    A document of at most 4/3 of the target is one chunk.
    """
    target_tokens = min(target_tokens, max_tokens)
    parts = list(_parts(parsed, Sizes(count_tokens, target_tokens, max_tokens)))
    groups = [
        chunk
        for section in _merged(_sections(parts), target_tokens)
        for chunk in _split(section, target_tokens, max_tokens)
    ]
    text = parsed.text
    starts = [group[0].start for group in groups[1:]]
    spans = list(zip([0, *starts], [*starts, len(text)], strict=True)) if groups else []
    return [_draft(i, group, text, *span) for i, (group, span) in enumerate(zip(groups, spans, strict=True))]


def _draft(ordinal: int, parts: list[_Part], text: str, start: int, end: int) -> ChunkDraft:
    first, last = parts[0], parts[-1]
    pages = [part.block.page for part in parts if part.block.page is not None]
    shown = len(text[start:end]) - len(text[start:end].lstrip("\n")) + start - len(first.prefix)
    return ChunkDraft(
        ordinal=ordinal,
        text=first.prefix + text[start:end].strip("\n").rstrip() + last.suffix,
        heading_path=_common_path(parts),
        page_from=min(pages, default=None),
        page_to=max(pages, default=None),
        page_starts=tuple(
            next(part.start for part in parts if (part.block.page or 0) >= page) - shown
            for page in range(min(pages, default=0) + 1, max(pages, default=0) + 1)
        ),
        start=start,
        end=end,
        length_tokens=_tokens(parts),
        kind=_kind(parts),
    )


def _tokens(parts: Sequence[_Part]) -> int:
    shown_again = parts[0].prefix_tokens + parts[-1].suffix_tokens if parts else 0
    return sum(part.tokens for part in parts) + shown_again


def _kind(parts: Sequence[_Part]) -> ChunkKind:
    kinds = {part.block.kind for part in parts} - {"heading"}
    for kind in ("paragraph", "list", "table", "code"):
        if kinds <= {kind}:
            return kind
    return "mixed"


def _common_path(parts: Sequence[_Part]) -> tuple[str, ...]:
    """The path that all text of a chunk shares; headings count only where there is nothing else."""
    paths = [part.path for part in parts if part.block.kind != "heading"] or [part.path for part in parts]
    return tuple(names[0] for names in takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False)))


# --- blocks to parts -----------------------------------------------------------------------------------------------


def _parts(parsed: ParsedDocument, sizes: Sizes) -> Iterator[_Part]:
    """Every block, those over the limit in pieces, each with its heading path and token count."""
    path: list[tuple[int, str]] = []
    start = ahead = 0  # ahead: tokens of the headings directly in front, which share the chunk
    for block, tokens in zip(parsed.blocks, sizes.count_tokens([block.text for block in parsed.blocks]), strict=True):
        if block.kind == "heading":
            level = block.level or 1
            path = [(above, text) for above, text in path if above < level]
            if path or not _same(block.text, parsed.title):
                path.append((level, one_line(block.text)))
        names = tuple(text for _, text in path)
        if tokens <= sizes.limit - ahead:
            yield _Part(block, start, tokens, names)
        else:
            room = max(sizes.limit - ahead, sizes.limit // 2)
            yield from _pieces_of(block, start, names, replace(sizes, limit=room))
        ahead = ahead + tokens if block.kind == "heading" else 0
        start += len(block.text) + len(SEPARATOR)


def _same(heading: str, title: str | None) -> bool:
    return title is not None and heading.casefold() == title.casefold()


def _pieces_of(block: Block, start: int, path: tuple[str, ...], sizes: Sizes) -> Iterator[_Part]:
    if block.kind == "table" and block.text.count("\n") > 1 and _is_wide(block.text, sizes):
        yield from _pieces_of_table(block, start, path, sizes)
        return
    prefix, suffix = _repeated(block)
    prefix_tokens, suffix_tokens = sizes.count_tokens([prefix, suffix])
    if prefix_tokens > sizes.target // 2:  # a fence with more than the name of a language
        prefix, prefix_tokens = "", 0
    shown_again = prefix_tokens + suffix_tokens
    room = replace(sizes, target=sizes.target - shown_again, limit=sizes.limit - shown_again)
    pieces = cut(block.text, _CUTS[block.kind], room)
    for i, (offset, tokens) in enumerate(pieces):
        is_first, is_last = i == 0, i == len(pieces) - 1
        yield _Part(
            block,
            start + offset,
            tokens,
            path,
            is_first,
            prefix="" if is_first else prefix,
            prefix_tokens=0 if is_first else prefix_tokens,
            suffix="" if is_last else suffix,
            suffix_tokens=0 if is_last else suffix_tokens,
        )


def _is_wide(table: str, sizes: Sizes) -> bool:
    """Whether the header of a table fills half a chunk, or one of its rows does not fit beside it."""
    name, rule, *rows = table.split("\n")
    head, *tokens = sizes.count_tokens([f"{name}\n{rule}\n", *rows])
    return head > sizes.target // 2 or head + max(tokens) > sizes.limit


def _pieces_of_table(block: Block, start: int, path: tuple[str, ...], sizes: Sizes) -> Iterator[_Part]:
    for piece in table_pieces(block.text, sizes):
        yield _Part(
            block,
            start + piece.offset,
            piece.tokens,
            path,
            is_first=piece.offset == 0,
            prefix=piece.prefix,
            prefix_tokens=piece.prefix_tokens,
            is_alone=not piece.is_whole,
        )


def _repeated(block: Block) -> tuple[str, str]:
    """What is shown again before and after a piece: the two header lines of a table, the fences of code."""
    lines = block.text.split("\n", 2)
    if block.kind == "table" and len(lines) == 3:
        return f"{lines[0]}\n{lines[1]}\n", ""
    if block.kind == "code":
        return f"{lines[0]}\n", f"\n{lines[0][:3]}"
    return "", ""


# --- parts to chunks -----------------------------------------------------------------------------------------------


def _sections(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Parts from one heading to the next; headings without text of their own stay with what follows."""
    sections: list[list[_Part]] = []
    for part in parts:
        opens = part.opens_section and not (sections and all(each.block.kind == "heading" for each in sections[-1]))
        if opens or not sections:
            sections.append([])
        sections[-1].append(part)
    return sections


def _merged(sections: Sequence[list[_Part]], target: int) -> list[list[_Part]]:
    """Neighbouring sections put together while they fit: siblings, subsections, and crumbs with what is beside them."""
    if sum(_tokens(section) for section in sections) <= target * 4 / 3:
        sections = [[part for section in sections for part in section]] if sections else []
    groups: list[list[_Part]] = []
    for section in sections:
        if (
            groups
            and _tokens(groups[-1]) + _tokens(section) <= target * 1.15
            and _related(groups[-1], section, target // 6)
        ):
            groups[-1] = groups[-1] + section
        else:
            groups.append(section)
    return groups


def _related(group: list[_Part], section: list[_Part], crumb_tokens: int) -> bool:
    path = _common_path(group)
    common = len(_common_path([*group, *section]))
    siblings = common == len(path) - 1 and len(section[0].path) == len(path)
    return common == len(path) or siblings or min(_tokens(group), _tokens(section)) <= crumb_tokens


def _split(section: list[_Part], target: int, limit: int) -> list[list[_Part]]:
    """One section as chunks of about equal size; a line that announces a list, table or code goes with it."""
    tokens = _tokens(section)
    size = tokens if tokens <= target * 4 / 3 else min(tokens / ceil(tokens / target) * 1.1, limit)
    crumb = target // 5
    chunks: list[list[_Part]] = [[]]
    for part in section:
        chunk = chunks[-1]
        together = _tokens([*chunk, part])
        if chunk and not _may_follow(chunk[-1], part):
            chunks.append([])
        elif chunk and together > (limit if _is_light(chunk, crumb) else size):
            carries = len(chunk) > 1 and _announces(chunk[-1], part) and _tokens([chunk[-1], part]) <= limit
            chunks.append([chunk.pop()] if carries else [])
        chunks[-1].append(part)
    may_join = len(chunks) > 1 and _may_follow(chunks[-2][-1], chunks[-1][0])
    if may_join and _tokens(chunks[-1]) <= crumb and _tokens(chunks[-2]) + _tokens(chunks[-1]) <= limit:
        chunks[-2:] = [chunks[-2] + chunks[-1]]
    return chunks


def _may_follow(before: _Part, part: _Part) -> bool:
    """Whether a part may stand in one chunk with what is before it: a chunk shows one header, at its beginning."""
    return not (before.is_alone or (part.is_alone and part.prefix))


def _is_light(chunk: list[_Part], crumb: int) -> bool:
    """Headings alone, or so little text that it says nothing by itself."""
    return _tokens(chunk) <= crumb or all(part.block.kind == "heading" for part in chunk)


def _announces(part: _Part, following: _Part) -> bool:
    return (
        part.block.kind == "paragraph"
        and following.block.kind != "paragraph"
        and _LEAD_IN.search(part.block.text) is not None
    )
