"""Long texts in pieces: at the coarsest place that fits, in the end in halves."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from knowledge.text.pipe_table import split_escaped_cells

CountTokens = Callable[[list[str]], list[int]]

SENTENCE = r"(?<=[。！？；])|(?<=[.!?;]) (?=\S)"


@dataclass(frozen=True)
class PieceSizes:
    """Target and maximum size of pieces, in tokens."""

    count_tokens: CountTokens
    target: int
    limit: int


def split_text(text: str, patterns: Sequence[str], sizes: PieceSizes) -> list[tuple[int, int]]:
    """Return pieces as (offset, tokens): cut at the coarsest pattern and packed up to the target.

    A piece over the limit is cut at the next finer pattern, in the end in halves.
    """
    ends = [m.end() for m in re.finditer(patterns[0], text)] if patterns else range(*_halve_text(text))
    bounds = [0, *(end for end in ends if 0 < end < len(text)), len(text)]
    spans = list(pairwise(bounds))
    packed: list[tuple[int, int]] = []
    room = 0
    for (start, end), tokens in zip(spans, sizes.count_tokens([text[a:b] for a, b in spans]), strict=True):
        if tokens > sizes.limit and end - start > 1:
            finer = split_text(text[start:end], patterns[1:], sizes)
            packed += [(start + offset, count) for offset, count in finer]
            room = sizes.target - packed[-1][1]
        elif packed and tokens <= room:
            packed[-1] = (packed[-1][0], packed[-1][1] + tokens)
            room -= tokens
        else:
            packed.append((start, tokens))
            room = sizes.target - tokens
    return packed


def _halve_text(text: str) -> tuple[int, int, int]:
    """Return the arguments of a range over the one cut, in the middle, of a text without a better place."""
    return len(text) // 2, len(text), len(text)


CELL = r"(?<= \|) "
_INSIDE = (r"\n", SENTENCE, r" ")


@dataclass(frozen=True)
class TablePiece:
    """prefix: what is shown before it again. is_whole: rows under the whole header, which others may follow; else a part of one row."""

    offset: int
    tokens: int
    prefix: str = ""
    prefix_tokens: int = 0
    is_whole: bool = False


def split_table(text: str, sizes: PieceSizes) -> Iterator[TablePiece]:
    """Yield the pieces of a pipe table that does not fit, in order, of at most the limit together with what is shown again."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    head = f"{lines[0]}\n{lines[1]}\n"
    head_tokens, *row_tokens = sizes.count_tokens([head, *lines[2:]])
    columns = _TableHeader(split_escaped_cells(lines[0]), sizes)
    is_wide = head_tokens > sizes.limit // 2  # the header leaves rows no room
    pack: TablePiece | None = None  # whole rows that others may join
    if is_wide or not row_tokens or head_tokens + row_tokens[0] > sizes.limit:
        alone = replace(sizes, target=sizes.limit)
        yield from (TablePiece(offset, tokens) for offset, tokens in split_text(head, (r"\n", CELL, *_INSIDE), alone))
    else:
        pack = TablePiece(0, head_tokens, is_whole=True)
    for line, start, tokens in zip(lines[2:], starts[2:], row_tokens, strict=False):
        if is_wide or head_tokens + tokens > sizes.limit:
            if pack:
                yield pack
                pack = None
            yield from columns.pieces_of(line, start)
        elif pack and pack.tokens + pack.prefix_tokens + tokens <= max(sizes.target, head_tokens + tokens):
            pack = replace(pack, tokens=pack.tokens + tokens)
        else:
            if pack:
                yield pack
            pack = TablePiece(start, tokens, head, head_tokens, is_whole=True)
    if pack:
        yield pack


class _TableHeader:
    """The header of a table, from which each piece of a row gets that of its columns."""

    def __init__(self, names: Sequence[str], sizes: PieceSizes) -> None:
        self._names = names
        self._sizes = sizes
        self._frame, *self._tokens = sizes.count_tokens(["| |\n", *(f"{name} | --- |" for name in names)])

    def pieces_of(self, line: str, start: int) -> Iterator[TablePiece]:
        """Yield a row in pieces of as many columns as fit; a cell that is too long for one is cut itself."""
        cells = split_escaped_cells(line)
        tokens = self._sizes.count_tokens([f"{cell} |" for cell in cells])
        places = [start, *(start + 2 + end for end in accumulate(len(cell) + 3 for cell in cells))]
        key_tokens = self._frame + self._tokens[0] + tokens[0]
        key = cells[0] if key_tokens <= self._sizes.limit // 4 else None  # a long text names no row
        column = 0
        while column < len(cells):
            base = key_tokens if key is not None and column else self._frame
            costs = accumulate((self._tokens[at] + tokens[at] for at in range(column, len(cells))), initial=base)
            fitting = sum(cost <= self._sizes.target for cost in list(costs)[1:])
            end = column + max(fitting, 1)
            prefix = self._build_prefix(column, end, key)
            (prefix_tokens,) = self._sizes.count_tokens([prefix])
            found = sum(tokens[column:end]) + (column == 0)  # and the bar that opens the line
            if prefix_tokens + found <= self._sizes.limit:
                yield TablePiece(places[column], found, prefix, prefix_tokens)
            else:
                last = len(cells) - 1
                cell = f"{'| ' if column == 0 else ''}{cells[column]}{' |' if column == last else ' | '}"
                yield from self._split_cell(cell, places[column], prefix, prefix_tokens)
            column = end

    def _split_cell(self, cell: str, start: int, prefix: str, prefix_tokens: int) -> Iterator[TablePiece]:
        if prefix_tokens > self._sizes.limit // 2:
            prefix, prefix_tokens = "", 0
        room = self._sizes.limit - prefix_tokens
        for offset, tokens in split_text(cell, _INSIDE, replace(self._sizes, target=room, limit=room)):
            yield TablePiece(start + offset, tokens, prefix, prefix_tokens)

    def _build_prefix(self, first: int, end: int, key: str | None) -> str:
        """Return the header of some columns; before columns other than the first, with the row's key and its name."""
        is_named = key is not None and first > 0
        names = [*(self._names[:1] if is_named else ()), *self._names[first:end]]
        head = f"| {' | '.join(names)} |\n| {' | '.join('---' for _ in names)} |\n"
        return head + (f"| {key} | " if is_named else "| " if first else "")
