"""Text to sentences, Chinese and English, with the spans they were cut from.

A sentence is what a reader would quote: one sentence of prose, one list item, one table row said with its header, one
line of code. Spans are character offsets [start, end) into the given text, in order, without overlap; between two spans
lie only white space, bullets, table rules and code fences. Prose longer than MAX_LENGTH is cut where it harms least: after a
semicolon, else after a colon or comma, else at a space, else hard.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

MAX_LENGTH = 300  # characters
TITLE_LENGTH = 60  # characters
QUESTION_LENGTH = 120  # characters of a question that heads its answer

Kind = Literal["prose", "item", "row", "code", "heading"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its span in the source and the words to show (a table row is shown with its header).

    block: number of the paragraph, item, row or line that it is of. part: number of the paragraph, the list or the table; both
    count within one text.
    """

    start: int
    end: int
    text: str
    kind: Kind = "prose"
    block: int = 0
    part: int = 0


_ABBREVIATION = re.compile(
    r"mr|mrs|ms|dr|prof|sr|jr|st|mt|ft|vs|etc|eg|ie|cf|al|approx|dept|est|figs?|nos?|vols?|eds?|pp|sec|inc|ltd|co|corp|gov"
    r"|gen|sen|rep|rev|hon|capt|col|lt|sgt|maj|adm|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|ca|ver",
    re.IGNORECASE,
)
# Words that open a sentence, so that the full stop before them ends one even after "U.S." or an initial.
_STARTER = re.compile(
    r"\s*(?:The|This|That|These|Those|An?|In|On|At|It|He|She|They|We|You|However|But|And|For|As|When|If)\b"
)
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff《》「」『』【】〈〉]")
# A possible end: the full stops of both scripts, everything that closes after them, and footnote marks.
_END = re.compile(r"(?:[。！？!?．.]+|…+)[”’」』）】》〉〕\"')*_\]]*(?:\[\d{1,3}\])*")
# A full stop inside brackets, code, an address or a short quotation does not end the sentence around it; one that is
# the last mark of a quotation may.
_ENCLOSED = re.compile(
    r"《[^《》\n]{1,80}》|（[^（）\n]{1,120}）|\([^()\n]{1,120}\)|`[^`\n]{1,120}`|(?:https?://|www\.)[^\s<>（）()」』，。；]+(?<![.!?,;:])"
)
_QUOTED = re.compile(r"「[^「」\n]{1,60}」|『[^『』\n]{1,60}』|“[^“”\n]{1,60}”")
_CONTINUES = re.compile(r"\s*[，、；：,;:的和与及]")  # after a quoted full stop the sentence goes on with these
_OPENS = re.compile(r"\s+[\"'“‘(（《「\[*_`]*(?:[A-Z0-9À-ÞΑ-ΩА-Я]|[^\x00-\u02ff\u2000-\u206f])")
_SPACE = re.compile(r"\s*[\r\n]\s*")
_WRAP_CJK = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef])\s*[\r\n]\s*(?=[\u3000-\u9fff\uff00-\uffef])")
_CUTS = (re.compile(r"[；;]"), re.compile(r"[：，、]|[,:](?=\s)"), re.compile(r"\s+"))

_STOPPED = re.compile(r"[。！？.!?:：;；]\W*\Z")
_BULLET = re.compile(r"\s*[-*+•·●▪◦○■□–]\s+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"\s*(?:[-=*_]{3,}|\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?)\s*\Z")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S")
_ITEM = re.compile(
    r"\s*(?:[-*+•·●▪◦○■□–]\s+|\(?\d{1,3}[.)](?!\d)\s+|\d{1,3}、|[（(][一二三四五六七八九十\d]{1,3}[)）]|[一二三四五六七八九十]{1,3}、)\s*\S"
)
_NUMBER = re.compile(r"\(?\d{1,3}[.)]\s+")  # its full stop ends no sentence
_SERIES = (
    _BULLET,
    re.compile(r"\d{1,3}[.、]"),
    re.compile(r"\d{1,3}\)"),
    re.compile(r"[(（]\d"),
    re.compile(r"[一二三四五六七八九十]"),
)
_LINES: tuple[tuple[re.Pattern[str], Literal["rule", "heading", "item"]], ...] = (
    (_RULE, "rule"),
    (_HEADING, "heading"),
    (_ITEM, "item"),
)


@lru_cache(maxsize=1_024)  # passages that were read last
def split(text: str) -> tuple[Sentence, ...]:
    """The sentences of `text` in reading order; white space alone gives none."""
    sentences: list[Sentence] = []
    blocks = list(_blocks(text))
    part = 0
    before: Sentence | None = None
    for place, found in enumerate(blocks):
        after = blocks[place + 1] if place + 1 < len(blocks) else None
        block = replace(found, kind="heading") if after and _is_title(text, found, before, after) else found
        part += before is None or not _go_together(before, block)
        block = replace(block, block=place, part=part)
        sentences.extend(_prose(text, block) if block.kind in {"prose", "item"} else [block])
        before = block
    return tuple(sentences)


def _go_together(before: Sentence, block: Sentence) -> bool:
    """Whether a block goes on with the list, the table or the lines of code that the one before it is of."""
    if block.kind != before.kind or block.kind in {"prose", "heading"}:
        return False
    return block.kind != "item" or _marks_alike(before, block)


def _is_title(text: str, block: Sentence, before: Sentence | None, after: Sentence) -> bool:
    """A short line between blank lines that no full stop ends: a heading whose mark was lost on the way. A question that
    stands so heads what answers it.

    One that a number opens ("4. Rollback") is one when its neighbours are no items of its kind: a list has more than one.
    """
    alone = text[block.end : block.end + 2] == "\n\n" and "\n" not in text[block.start : block.end]
    in_list = any(other and other.kind == "item" and _marks_alike(other, block) for other in (before, after))
    opens = block.kind == "prose" or (block.kind == "item" and not _BULLET.match(block.text) and not in_list)
    if not opens or not alone:
        return False
    if block.text.endswith(("?", "？")):
        return len(block.text) <= QUESTION_LENGTH and not any(_ends(text, block.start, block.end))
    return len(block.text) <= TITLE_LENGTH and not _STOPPED.search(block.text)


def _marks_alike(one: Sentence, other: Sentence) -> bool:
    """Whether both blocks are opened by marks of one series: 1. 2., 一、二、, bullets; of a row or a line none is."""
    return _series(one.text) == _series(other.text)


def _series(text: str) -> int | None:
    return next((place for place, mark in enumerate(_SERIES) if mark.match(text)), None)


def _blocks(text: str) -> Iterator[Sentence]:
    """Paragraphs, list items, table rows, headings and lines of code, in order."""
    lines = list(_lines(text))
    header: list[str] = []  # the cells of the table that the line is in
    fenced = False
    open_block: tuple[int, int, Kind] | None = None  # a paragraph or item that the next line may continue
    for (start, end), (after, after_end) in pairwise([*lines, (len(text), len(text))]):
        line = text[start:end]
        kind = _line_kind(line, fenced=fenced, in_table=bool(header), following=text[after:after_end])
        if kind == "prose" and open_block is not None:
            open_block = (open_block[0], end, open_block[2])
            continue
        if open_block is not None:
            yield _stripped(text, *open_block)
            open_block = None
        fenced ^= kind == "fence"
        if kind not in {"row", "rule"}:
            header = []
        if kind == "row" and not header and _RULE.match(text[after:after_end]):
            header = cells_of(line)
            yield _stripped(text, start, end, "heading")
        elif kind == "row":
            yield _row(text, start, end, header)
        elif kind in ("prose", "item"):
            open_block = (start, end, kind)
        elif kind in ("code", "heading"):
            yield _stripped(text, start, end, kind)
    if open_block is not None:
        yield _stripped(text, *open_block)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def _line_kind(line: str, *, fenced: bool, in_table: bool, following: str) -> Kind | Literal["blank", "fence", "rule"]:
    """What a line is; `following` is the line after it (a table's header is known by the rule below it)."""
    if not line.strip():
        return "blank"
    if _FENCE.match(line):
        return "fence"
    if fenced:
        return "code"
    if "|" in line and not _RULE.match(line):
        headed = "|" in following and _RULE.match(following) is not None
        return "row" if in_table or headed or line.lstrip().startswith("|") else "prose"
    return next((kind for pattern, kind in _LINES if pattern.match(line)), "prose")


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _row(text: str, start: int, end: int, header: list[str]) -> Sentence:
    """A table row, said with its header: "Column: value; Column: value"."""
    bare = _stripped(text, start, end, "row")
    cells = cells_of(bare.text)
    if len(cells) != len(header):
        return bare
    said = [f"{name}: {value}" if name else value for name, value in zip(header, cells, strict=True) if value]
    return Sentence(bare.start, bare.end, "; ".join(said) or bare.text, "row")


def _stripped(text: str, start: int, end: int, kind: Kind) -> Sentence:
    """The span without the white space around it; lines of one paragraph are joined in what is shown."""
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip())
    end -= len(raw) - len(raw.rstrip())
    shown = text[start:end]
    return Sentence(start, end, shown if kind == "code" else unwrapped(shown), kind)


def unwrapped(text: str) -> str:
    """Soft line breaks become a space, and nothing at all between two Chinese characters."""
    return _SPACE.sub(" ", _WRAP_CJK.sub("", text)) if "\n" in text or "\r" in text else text


def _prose(text: str, block: Sentence) -> Iterator[Sentence]:
    """Sentences of one paragraph or list item."""
    bullet = _BULLET.match(text, block.start, block.end) if block.kind == "item" else None
    start = bullet.end() if bullet else block.start
    number = _NUMBER.match(text, start, block.end) if block.kind == "item" else None
    for end in [*_ends(text, number.end() if number else start, block.end), block.end]:
        for piece_start, piece_end in _capped(text, start, end):
            if text[piece_start:piece_end].strip():
                yield replace(_stripped(text, piece_start, piece_end, block.kind), block=block.block, part=block.part)
        start = end


def _ends(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets where a sentence of text[start:end] ends, the last one left out."""
    inside = [(found.start(), found.end()) for found in _ENCLOSED.finditer(text, start, end)]
    inside += [(found.start(), found.end() - 1) for found in _QUOTED.finditer(text, start, end)]
    for mark in _END.finditer(text, start, end):
        enclosed = any(left < mark.start() and mark.end() <= right for left, right in inside)
        if mark.end() < end and not enclosed and _is_end(text, start, mark.start(), mark.end(), end):
            yield mark.end()


def _is_end(text: str, start: int, mark: int, after: int, end: int) -> bool:
    """Whether the full stop at `mark` (with its closers, up to `after`) ends a sentence of text[start:end]."""
    following = text[after : min(end, after + 24)]
    if text[mark] in "。！？…":
        return not _CONTINUES.match(following)
    if _CJK.match(text, mark - 1) or (text[mark] in "!?" and _CJK.match(following)):
        return text[mark] in "!?．" and not _CONTINUES.match(following)
    if not following[:1].isspace() or not _OPENS.match(following):
        return False
    return text[mark] != "." or not _is_abbreviation(text[max(start, mark - 16) : mark], following)


def _is_abbreviation(before: str, following: str) -> bool:
    """Whether the full stop after `before` belongs to a word (Dr., U.S., J. Smith, No. 5)."""
    words = before.split()
    word = words[-1].lstrip("(\"'“‘[") if words else ""
    is_initials = all(len(part) <= 2 and part.isalpha() for part in word.split(".")) and (len(word) == 1 or "." in word)
    if is_initials:
        return not _STARTER.match(following) and not word[0].isdigit()
    return _ABBREVIATION.fullmatch(word) is not None


def _capped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """text[start:end] in pieces of at most MAX_LENGTH characters, cut where it harms least."""
    while end - start > MAX_LENGTH:
        window = text[start : start + MAX_LENGTH]
        cut = next((found for found in (_last_cut(pattern, window) for pattern in _CUTS) if found), MAX_LENGTH)
        yield start, start + cut
        start += cut
    yield start, end


def _last_cut(pattern: re.Pattern[str], window: str) -> int:
    """End of the pattern's last match in the second two thirds of the window, else 0."""
    ends = [found.end() for found in pattern.finditer(window, MAX_LENGTH // 3)]
    return ends[-1] if ends else 0
