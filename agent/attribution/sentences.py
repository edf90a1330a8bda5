"""Split a model's stream of text into whole sentences, each with the numbers it cites, in plain words."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from agent.run_state.cited_answer import CODE_GAP
from agent.text.sentences import Sentence, split_sentences
from agent.text.words import load_word_pattern
from knowledge.text.chinese_script import simplify_chinese

_MARK = re.compile(r"[\[【]\s*\^?(\d{1,3}(?:\s*[,，、;]\s*\^?\d{1,3})*)\s*[\]】]")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)|\[(?!\^?\d{1,3}\])([^\]]+)\]\[[^\]]*\]")  # two marks are no link
_DEFINITION = re.compile(r"^\s*\[[^\]]+\]:\s*\S+.*$", re.MULTILINE)
_FENCE = "```"
_BLOCK = r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)"
_FENCED = re.compile(f"({_BLOCK})", re.MULTILINE | re.DOTALL)
_MARK_AFTER = re.compile(
    rf"{_BLOCK}|&#?\w{{2,8}};|([.。!！?？;；]+)[ \t]*((?:[\[【]\s*\^?\d{{1,3}}(?:\s*[,，、]\s*\d{{1,3}})*\s*[\]】])+)",
    re.MULTILINE | re.DOTALL,
)
_MARKS_OF_CODE = re.compile(rf"\s*(?:#|//|--)?\s*((?:{_MARK.pattern}\s*)+)$")
_BULLET = re.compile(r"(?:^|\n)[ \t]*[-*+•·●▪◦○■□–][ \t]+$")
_NUMBERED = re.compile(r"[(（]?(\d{1,3})[.、)）]\s*(?=\D)")
_TAG = re.compile(r"</?[A-Za-z!][^>\n]{0,300}>?")
_MARKUP = re.compile(r"\*\*|__|^#{1,6}\s+", re.MULTILINE)
_WHOLE = re.compile(r"[.。!！?？;；][\s\"'”’」』)）]*$")
ENDS = re.compile(r"[.。!！?？;；\n]")


@dataclass(frozen=True)
class CitedStatement:
    """A sentence as the model wrote it. numbers: of the evidence it cites, in order. gap: as in `CitedSentence`.

    closes: False where the next one is of the same item of a list, or of the same block of code.
    """

    text: str
    numbers: tuple[int, ...]
    gap: str = ""
    closes: bool = True


class Sentences:
    """Takes pieces of text and returns whole sentences as soon as they are certain."""

    def __init__(self) -> None:
        self._buffer = ""

    def take(self, piece: str) -> Iterator[CitedStatement]:
        """Add a piece and return the sentences that ended before the last one."""
        self._buffer += piece
        if not ENDS.search(piece) and len(self._buffer) < 400:
            return
        text = _move_marks_inside(self._buffer)
        found = split_sentences(text)
        if len(found) < 2 or text[found[-1].start :].startswith(("[", "【")):  # marks may belong to the sentence before
            return
        open_from = len(found) - 1  # the last sentence may go on, and a row is said with the header of its table
        while open_from and found[open_from].kind == "row":
            open_from -= 1
        if not open_from:
            return
        end = found[open_from - 1].end  # the separator of the next one, white space or a bullet, stays with it
        if text.count(_FENCE, 0, end) % 2:
            return  # lines of code are recognised by the fence before them
        self._buffer = text[end:]
        before, after = found[open_from - 1], found[open_from]
        yield from split_cited_statements(text[:end], goes_on=after.kind == "item" and before.block == after.block)

    def rest(self, *, is_cut: bool = False) -> Iterator[CitedStatement]:
        """Yield what is left at the end. is_cut: the stream was cut off, so an unfinished sentence is dropped."""
        text, self._buffer = _move_marks_inside(self._buffer), ""
        if is_cut and not _WHOLE.search(text) and (found := split_sentences(text)):
            text = text[: found[-1].start]
        yield from split_cited_statements(text)


def split_cited_statements(text: str, *, goes_on: bool = False) -> Iterator[CitedStatement]:
    """Yield the sentences of a text; those with nothing but marks are dropped. Lines of code stay as they are written.

    goes_on: the last item is not complete.
    """
    pieces = _FENCED.split(_move_marks_inside(text))
    text = "".join(html.unescape(piece) if place % 2 else strip_markup(piece) for place, piece in enumerate(pieces))
    end, before = 0, ""
    sentences = split_sentences(text)
    for sentence, after in zip_longest(sentences, sentences[1:]):
        between, end = text[end : sentence.start], sentence.end
        is_code = sentence.kind == "code"
        line = (
            _make_code_statement(sentence, between, goes_on=before == "code")
            if is_code
            else _make_statement(sentence, between)
        )
        before = sentence.kind
        if is_code or re.search(r"\w", line.text):
            yield replace(line, closes=not (_is_same_item(sentence, after) if after else goes_on))


def _is_same_item(sentence: Sentence, after: Sentence) -> bool:
    """Return whether two sentences are of one item, or of one block of code."""
    if sentence.kind == "code":
        return after.kind == "code" and sentence.part == after.part
    return sentence.kind == after.kind == "item" and sentence.block == after.block


def _move_marks_inside(text: str) -> str:
    """Move marks after a full stop before it; in code and after an escape they stay where they are."""
    return _MARK_AFTER.sub(lambda found: f"{found[2]}{found[1]}" if found[1] else found[0], text)


def _make_statement(sentence: Sentence, between: str) -> CitedStatement:
    gap, text = _classify_gap(between, sentence.kind), sentence.text
    if sentence.kind == "item" and (step := _NUMBERED.match(text)):
        gap, text = f"\n{step[1]}. ", text[step.end() :]
    words = " ".join(_MARK.sub("", text).split())
    return CitedStatement(re.sub(r"\s+([.。,，:：;；!！?？])", r"\1", words), _find_citation_numbers(text), gap)


def _make_code_statement(sentence: Sentence, between: str, *, goes_on: bool) -> CitedStatement:
    """Make a statement of a line of code, where a bracketed number is a mark only at the end.

    goes_on: the line before is in the same block.
    """
    indent = between.rpartition("\n")[2]
    marks = _MARKS_OF_CODE.search(sentence.text)
    text = sentence.text[: marks.start()] if marks else sentence.text
    gap = f"{'' if goes_on else chr(10)}\n{CODE_GAP}{'' if indent.strip() else indent}"
    return CitedStatement(text.rstrip(), _find_citation_numbers(marks[1]) if marks else (), gap)


def _find_citation_numbers(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(number) for mark in _MARK.findall(text) for number in re.findall(r"\d+", mark)))


def _classify_gap(between: str, kind: str) -> str:
    """Return how a sentence is separated from the one before: a paragraph, an item or a line of its own.

    "" for a plain space.
    """
    if _BULLET.search(between) or (kind == "row" and "\n" in between):
        return "\n- "
    if kind == "item" and "\n" in between:
        return "\n"
    return "\n\n" if between.count("\n") > 1 else "\n" if "\n" in between else ""


def strip_markup(text: str) -> str:
    """Strip markup from a text: images, links (their words stay), HTML and emphasis."""
    text = html.unescape(text)  # a model repeats the escapes of the evidence that it was shown
    text = _DEFINITION.sub("", _IMAGE.sub(r"\1", text))
    return _MARKUP.sub("", _TAG.sub("", _LINK.sub(lambda m: m[1] or m[2] or "", text)))


_SAYS_NOTHING = load_word_pattern("says_nothing")
_GOES_ON = load_word_pattern("goes_on")


def is_no_answer(sentence: str) -> bool:
    """Return whether a sentence gives no answer; one that goes on to give one (“…, but …”) returns False."""
    text = simplify_chinese(sentence).strip()
    return _SAYS_NOTHING.match(text) is not None and _GOES_ON.search(text) is None
