"""What is left of a question where it is no known way to ask: the same pieces in another order (“our newest customer is who?”), or one
piece that says again what the others say (“the worst-selling genres in terms of units sold”).

What order alone tells apart is left alone: which of two things is counted, listed or ranked. Of several readings none is taken.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain, permutations

from agent.business.ask.meaning import Aggregate, Figure, NotUnderstood, Question, Rows
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item, Row
from agent.business.ask.words.lexicon import ModelRef, Ref

Read = Callable[[Row], Question]
_MOST = 5  # pieces: 120 orders
_THING = "(?:g[td]|tg|[Mdgt])"
_PIECES = re.compile(
    rf"G(?:CM|MC|[SV]?m|[SV]n)|G{_THING}(?:&{_THING})*"  # what it is grouped or ranked by
    "|#?[XN]#?[nt]|#?[nt][XN]|[XN]#?m|m[XN]|T#|#T"
    "|[SV][nmt]|[nm][SV]|CU?[Md]|MC|Cm|mC"
    "|[dnt](?:&[dnt])+|."
)
_READ = re.compile("(?:[LMdntmCUSVXNT#GgODE]|&(?!$))+")
_NAMED = frozenset((Kind.MODEL, Kind.DIMENSION, Kind.QUANTITY, Kind.TIME, Kind.MEASURE, Kind.COUNT))


def otherwise(row: Row, read: Read) -> Question:
    """The one reading of a row that is no known way to ask. read: of a row as it stands. Raises NotUnderstood."""
    if not _READ.fullmatch(row.letters):
        raise NotUnderstood("no known way to ask")
    return _only(_in_any_order(row, read)) or _only(_without_one(row, read)) or _not_read()


def _not_read() -> Question:
    raise NotUnderstood("no known way to ask")


def _only(readings: Iterable[Question]) -> Question | None:
    """The one reading that all are; None where there is none. Raises NotUnderstood for several."""
    found = list(dict.fromkeys(readings))
    if len(found) > 1:
        raise NotUnderstood("several ways to read it")
    return found[0] if found else None


def _in_any_order(row: Row, read: Read) -> Iterable[Question]:
    pieces = [row.items[found.start() : found.end()] for found in _PIECES.finditer(row.letters)]
    if len(pieces) > _MOST or _are_two(pieces):
        return
    for order in permutations(pieces):
        with suppress(NotUnderstood):
            yield read(Row(list(chain.from_iterable(order))))


def _are_two(pieces: list[list[Item]]) -> bool:
    """Whether there are two things, and only their order may say which is asked of which."""
    kinds = [[item.kind for item in piece] for piece in pieces]
    return sum(Kind.COUNT in piece or (len(piece) == 1 and piece[0] in _NAMED) for piece in kinds) > 1


def _without_one(row: Row, read: Read) -> Iterable[Question]:
    """Without an item that is in what the rest says, whatever the order; of things that are named once none."""
    for item in row.items:
        rest = [other for other in row.items if other is not item]
        is_named_once = item.kind is Kind.MODEL and not any(set(item.refs) & set(other.refs) for other in rest)
        if item.kind in _NAMED and rest and not is_named_once:
            with suppress(NotUnderstood):
                question = read(Row(rest))
                if _says(question, item):
                    yield question


def _says(question: Question, item: Item) -> bool:
    """Whether a reading shows, counts or lists what an item stands for."""
    figures = (*question.figures, *(one.figure for one in question.having))
    if item.kind is Kind.COUNT:
        return any(isinstance(figure, Rows) for figure in figures)
    listed = (ModelRef(question.of),) if question.of else ()
    said = (*listed, *question.columns, *question.groups, question.order, *(one.dimension for one in question.numbers))
    return any(ref in said or ref in map(_what, figures) for ref in item.refs)


def _what(figure: Figure) -> Ref:
    if isinstance(figure, Aggregate):
        return figure.of
    return ModelRef(figure.model) if isinstance(figure, Rows) else figure
