"""Blocks of hand-written Markdown: a model's answer, the result of a tool. Passages have their own blocks."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from knowledge.text.passage_blocks import PassageBlock

_BULLET = r"[-*+•·●▪◦○■□–]\s+"
_NUMBER = r"\(?\d{1,3}[.)](?!\d)\s+|\d{1,3}、|[（(][一二三四五六七八九十\d]{1,3}[)）]|[一二三四五六七八九十]{1,3}、"
_ITEM = re.compile(rf"(?P<indent>\s*)(?:(?P<bullet>{_BULLET})|(?P<number>{_NUMBER}))\s*\S")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"\s*(?:[-=*_]{3,}|\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?)\s*\Z")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S")

_Line = Literal["prose", "item", "table", "code", "heading", "blank", "fence", "rule"]


def parse_markdown_blocks(text: str) -> Iterator[PassageBlock]:
    """Yield paragraphs, list items, tables, headings and fenced code, in order; rules and fences are left out."""
    opened: PassageBlock | None = None
    fenced = False
    lines = list(_yield_line_spans(text))
    for (start, end), (after, after_end) in pairwise([*lines, (len(text), len(text))]):
        line, following = text[start:end], text[after:after_end]
        in_table = opened is not None and opened.kind == "table"
        kind = _classify_line(line, fenced=fenced, in_table=in_table, following=following)
        if opened and _continues_block(opened, kind, line):
            opened = _extend_block(opened, end)
            continue
        if opened:
            yield opened
            opened = None
        fenced ^= kind == "fence"
        if kind in ("blank", "fence", "rule"):
            continue
        if kind == "heading":
            yield PassageBlock("heading", start, end)
        else:
            opened = _start_block(kind, line, start, end, following)
    if opened:
        yield opened


def _continues_block(opened: PassageBlock, kind: _Line, line: str) -> bool:
    """Return whether a line belongs to the block before it."""
    if opened.kind == "table":
        return kind == "table" or (kind == "rule" and "|" in line)
    if opened.kind == "code":
        return kind == "code"
    return kind == "prose"


def _extend_block(block: PassageBlock, end: int) -> PassageBlock:
    return PassageBlock(block.kind, block.start, end, lead=block.lead, number=block.number, is_headed=block.is_headed)


def _start_block(kind: _Line, line: str, start: int, end: int, following: str) -> PassageBlock:
    if kind == "table":
        return PassageBlock("table", start, end, is_headed="|" in following and _RULE.match(following) is not None)
    if kind == "item" and (mark := _ITEM.match(line)):
        number = (mark["number"] or "").strip()
        return PassageBlock("item", start, end, lead=len(mark["indent"] + (mark["bullet"] or "")), number=number)
    return PassageBlock("paragraph" if kind == "prose" else kind, start, end)


def _yield_line_spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def _classify_line(line: str, *, fenced: bool, in_table: bool, following: str) -> _Line:
    """Return the kind of a line.

    following: the line after it, since a table's header is recognised by the rule below it.
    """
    if _FENCE.match(line) or fenced:
        return "fence" if _FENCE.match(line) else "code"
    if not line.strip() or _RULE.match(line):
        return "rule" if line.strip() else "blank"
    if "|" in line:
        is_headed = "|" in following and _RULE.match(following) is not None
        return "table" if in_table or is_headed or line.lstrip().startswith("|") else "prose"
    marks: tuple[tuple[re.Pattern[str], _Line], ...] = ((_HEADING, "heading"), (_ITEM, "item"))
    return next((kind for mark, kind in marks if mark.match(line)), "prose")
