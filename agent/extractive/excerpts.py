"""A quotation where it stands: a sentence between its neighbours, a row in its table."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.extractive.sentences import Sentence, split
from knowledge.text.passage_blocks import PassageBlock

MOST_ROWS = 6  # of a table, those around the quoted ones


@dataclass(frozen=True)
class Row:
    cells: tuple[str, ...]
    is_marked: bool


@dataclass(frozen=True)
class Excerpt:
    """marked: what is quoted, between what stands before and after it. Where that has rows of a table: its header and rows instead,
    the quoted ones marked; is_cut where it has more rows.
    """

    before: str = ""
    marked: str = ""
    after: str = ""
    header: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    is_cut: bool = False


def excerpt_of(text: str, start: int, end: int, blocks: tuple[PassageBlock, ...] = ()) -> Excerpt:
    """text[start:end] where it stands in a passage."""
    sentences = split(text, blocks)
    inside = [place for place, each in enumerate(sentences) if each.start < end and start < each.end]
    if not inside:
        return Excerpt(marked=text[start:end])
    first, last = inside[0], inside[-1]
    if rows := [place for place in inside if sentences[place].cells]:
        return _in_table(sentences, rows[0], rows[-1])
    before = [each for each in sentences[:first][-1:] if each.part == sentences[first].part]
    after = [each for each in sentences[last + 1 :][:1] if each.part == sentences[last].part]
    return Excerpt(_said(before), " ".join(each.text for each in sentences[first : last + 1]), _said(after))


def rows_in(text: str, blocks: tuple[PassageBlock, ...] = ()) -> frozenset[str]:
    """The rows of a passage's tables as they are said in a sentence."""
    return frozenset(each.text for each in split(text, blocks) if each.kind == "row")


def _in_table(sentences: Sequence[Sentence], first: int, last: int) -> Excerpt:
    """The quoted rows with those around them, of the first table where there are two."""
    part = sentences[first].part
    last = max(place for place in range(first, last + 1) if sentences[place].part == part)
    rows = [place for place, each in enumerate(sentences) if each.part == part and each.cells]
    spare = max(MOST_ROWS - (last - first + 1), 0)
    begin = max(rows[0], min(first - spare // 2, rows[-1] + 1 - MOST_ROWS))
    shown = range(begin, min(max(begin + MOST_ROWS, last + 1), rows[-1] + 1))
    return Excerpt(
        header=sentences[first].names,
        rows=tuple(Row(sentences[place].cells, first <= place <= last) for place in shown),
        is_cut=len(shown) < len(rows),
    )


def _said(sentences: Sequence[Sentence]) -> str:
    return " ".join(each.text for each in sentences if each.kind != "heading")
