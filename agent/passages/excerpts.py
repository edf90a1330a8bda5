"""A passage for display: headings, paragraphs, whole lists, tables with their header, code; with highlights."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from agent.text.sentences import Sentence, split_sentences
from knowledge.text.passage_blocks import PassageBlock

MAX_ROWS = 8  # of a table, those around the marked ones
SHORT = 500  # characters of a passage that is shown whole: about a third of a screen

Kind = Literal["prose", "list", "table", "code", "heading"]


@dataclass(frozen=True)
class ExcerptPiece:
    """A sentence, an item, a row or a line of code. cells: of a row."""

    text: str
    is_marked: bool
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExcerptPart:
    """header: the names of a table's columns. is_cut: the table has more rows."""

    kind: Kind
    pieces: tuple[ExcerptPiece, ...]
    header: tuple[str, ...] = ()
    is_cut: bool = False


def build_excerpt(
    text: str, start: int, end: int, blocks: tuple[PassageBlock, ...] = (), *, texts: Collection[str] = ()
) -> tuple[ExcerptPart, ...]:
    """Return a passage with the sentences of text[start:end] marked; limited to those that an answer said, if any."""
    sentences = split_sentences(text, blocks)
    inside = [one for one in sentences if one.start < end and start < one.end and one.kind != "heading"]
    marked = {entry.start for entry in inside if entry.text in texts} or {entry.start for entry in inside}
    return tuple(
        _make_part(list(group), marked) for _place, group in groupby(sentences, key=lambda item: (item.part, item.kind))
    )


def split_around_marks(
    parts: tuple[ExcerptPart, ...],
) -> tuple[tuple[ExcerptPart, ...], tuple[ExcerptPart, ...], tuple[ExcerptPart, ...]]:
    """Split a passage into what comes before its marks, the marks with their heading, and what comes after; a short one is not split."""
    marked = [place for place, part in enumerate(parts) if any(piece.is_marked for piece in part.pieces)]
    if not marked or sum(len(piece.text) for part in parts for piece in part.pieces) <= SHORT:
        return (), parts, ()
    begin = marked[0]
    while begin and parts[begin - 1].kind == "heading":
        begin -= 1
    return parts[:begin], parts[begin : marked[-1] + 1], parts[marked[-1] + 1 :]


def _make_part(sentences: Sequence[Sentence], marked: Collection[int]) -> ExcerptPart:
    match sentences[0].kind:
        case "row":
            return _make_table_part(sentences, marked)
        case "item":
            items = [list(group) for _block, group in groupby(sentences, key=lambda sentence: sentence.block)]
            return ExcerptPart("list", tuple(_make_piece(item, marked) for item in items))
        case kind:
            return ExcerptPart(kind, tuple(_make_piece([sentence], marked) for sentence in sentences))


def _make_piece(sentences: Sequence[Sentence], marked: Collection[int]) -> ExcerptPiece:
    return ExcerptPiece(" ".join(one.text for one in sentences), any(one.start in marked for one in sentences))


def _make_table_part(rows: Sequence[Sentence], marked: Collection[int]) -> ExcerptPart:
    """Return the marked rows with adjacent ones."""
    places = [place for place, row in enumerate(rows) if row.start in marked] or [0]
    first, last = places[0], places[-1]
    begin = max(0, min(first - max(MAX_ROWS - (last - first + 1), 0) // 2, len(rows) - MAX_ROWS))
    shown = rows[begin : max(begin + MAX_ROWS, last + 1)]
    pieces = tuple(ExcerptPiece(row.text, row.start in marked, row.cells or (row.text,)) for row in shown)
    return ExcerptPart("table", pieces, header=rows[0].names, is_cut=len(shown) < len(rows))
