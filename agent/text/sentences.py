"""Split text into sentences, Chinese and English, with their spans.

A sentence is the unit of quotation: one sentence of prose, one list item, one table row said with the names of its
columns, one line of code. Spans are character offsets [start, end) into the given text, in order, without overlap. The
kinds follow from a passage's blocks; only hand-written Markdown (a model's answer) is parsed for its marks. Prose
longer than MAX_LENGTH is cut at the best place: after a semicolon, else after a colon or comma, else at a space, else
anywhere.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from agent.text.written_markdown import parse_markdown_blocks
from knowledge.text.passage_blocks import PassageBlock
from knowledge.text.pipe_table import format_labelled_row, parse_cells

MAX_LENGTH = 300  # characters

Kind = Literal["prose", "item", "row", "code", "heading"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its span in the source and its text (a table row includes the names of its columns).

    block: number of its paragraph, item, row or line. part: number of its paragraph, list or table; both count within
    one text. names, cells: of a row; names is () where its table has none.
    """

    start: int
    end: int
    text: str
    kind: Kind = "prose"
    block: int = 0
    part: int = 0
    names: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()


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

_LINE = re.compile(r"[^\n]+")


@lru_cache(maxsize=1_024)  # passages that were read last
def split_sentences(text: str, blocks: tuple[PassageBlock, ...] = ()) -> tuple[Sentence, ...]:
    """Return the sentences of `text` in reading order; none for white space.

    blocks: of a passage; without them the text is parsed as hand-written Markdown.
    """
    sentences: list[Sentence] = []
    block = part = 0
    before: PassageBlock | None = None
    for entry in blocks or parse_markdown_blocks(text):
        part += before is None or not _is_same_list(before, entry)
        for group in _split_block(text, entry):
            sentences += [replace(sentence, block=block, part=part) for sentence in group]
            block += 1
        before = entry
    return tuple(sentences)


def _is_same_list(before: PassageBlock, item: PassageBlock) -> bool:
    """Return whether two items are of one list."""
    if not before.kind == item.kind == "item":
        return False
    return before.depth != item.depth or bool(before.number) == bool(item.number)


def _split_block(text: str, block: PassageBlock) -> Iterator[list[Sentence]]:
    """Yield the sentences of each paragraph, item, row or line of a block."""
    match block.kind:
        case "table" | "chart":
            yield from ([row] for row in _split_table_rows(text, block))
        case "code":
            yield from (
                [_make_sentence(text, *line.span(), "code")]
                for line in _LINE.finditer(text, block.start, block.end)
                if line[0].strip()
            )
        case "heading":
            yield [_make_sentence(text, block.start, block.end, "heading")]
        case _:
            yield list(_split_prose(text, block))


def _split_table_rows(text: str, table: PassageBlock) -> Iterator[Sentence]:
    """Yield the rows of a table, each said with the names of its columns."""
    names = tuple(table.names_in(text))
    for place, line in enumerate(_LINE.finditer(text, table.start, table.end)):
        if names and place < 2:  # the names and the rule
            continue
        row = _make_sentence(text, *line.span(), "row")
        cells = tuple(parse_cells(row.text))
        if names and len(cells) != len(names):
            yield row  # a piece of a row that is longer than a passage
        else:
            yield replace(row, text=format_labelled_row(names, cells) or row.text, names=names, cells=cells)


def _make_sentence(text: str, start: int, end: int, kind: Kind) -> Sentence:
    """Return the sentence without surrounding white space; the lines of a paragraph are joined in its text."""
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip())
    end -= len(raw) - len(raw.rstrip())
    shown = text[start:end]
    return Sentence(start, end, shown if kind == "code" else join_wrapped_lines(shown), kind)


def join_wrapped_lines(text: str) -> str:
    """Replace soft line breaks by a space, or by nothing between two Chinese characters."""
    return _SPACE.sub(" ", _WRAP_CJK.sub("", text)) if "\n" in text or "\r" in text else text


def _split_prose(text: str, block: PassageBlock) -> Iterator[Sentence]:
    """Yield the sentences of one paragraph or list item; the full stop of an item's number ends none."""
    kind: Kind = "item" if block.kind == "item" else "prose"
    start = block.start + block.lead
    number_end = start + len(block.number) if text.startswith(block.number, start) else start
    for end in [*_yield_sentence_ends(text, number_end, block.end), block.end]:
        for piece_start, piece_end in _cut_long_span(text, start, end):
            if text[piece_start:piece_end].strip():
                yield _make_sentence(text, piece_start, piece_end, kind)
        start = end


def _yield_sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets where a sentence of text[start:end] ends, except the last one."""
    inside = [(found.start(), found.end()) for found in _ENCLOSED.finditer(text, start, end)]
    inside += [(found.start(), found.end() - 1) for found in _QUOTED.finditer(text, start, end)]
    for mark in _END.finditer(text, start, end):
        enclosed = any(left < mark.start() and mark.end() <= right for left, right in inside)
        if mark.end() < end and not enclosed and _is_sentence_end(text, start, mark.start(), mark.end(), end):
            yield mark.end()


def _is_sentence_end(text: str, start: int, mark: int, after: int, end: int) -> bool:
    """Return whether the full stop at `mark` (with its closers, up to `after`) ends a sentence of text[start:end]."""
    following = text[after : min(end, after + 24)]
    if text[mark] in "。！？…":
        return not _CONTINUES.match(following)
    if _CJK.match(text, mark - 1) or (text[mark] in "!?" and _CJK.match(following)):
        return text[mark] in "!?．" and not _CONTINUES.match(following)
    if not following[:1].isspace() or not _OPENS.match(following):
        return False
    return text[mark] != "." or not _is_abbreviation(text[max(start, mark - 16) : mark], following)


def _is_abbreviation(before: str, following: str) -> bool:
    """Return whether the full stop after `before` belongs to a word (Dr., U.S., J. Smith, No. 5)."""
    words = before.split()
    word = words[-1].lstrip("(\"'“‘[") if words else ""
    is_initials = all(len(part) <= 2 and part.isalpha() for part in word.split(".")) and (len(word) == 1 or "." in word)
    if is_initials:
        return not _STARTER.match(following) and not word[0].isdigit()
    return _ABBREVIATION.fullmatch(word) is not None


def _cut_long_span(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield spans of text[start:end] of at most MAX_LENGTH characters, cut at the best places."""
    while end - start > MAX_LENGTH:
        window = text[start : start + MAX_LENGTH]
        cut = next((found for found in (_find_last_cut(pattern, window) for pattern in _CUTS) if found), MAX_LENGTH)
        yield start, start + cut
        start += cut
    yield start, end


def _find_last_cut(pattern: re.Pattern[str], window: str) -> int:
    """Return the end of the pattern's last match in the second two thirds of the window, else 0."""
    ends = [found.end() for found in pattern.finditer(window, MAX_LENGTH // 3)]
    return ends[-1] if ends else 0
