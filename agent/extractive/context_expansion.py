"""What a chosen sentence is not shown without: the one before it that its "it" stands for, the other steps, the other rows.

Works on what was chosen, after it was weighed: it changes what is shown, never whether. Prose keeps to the number of sentences
that an answer may have; a list or a table that is asked for as such counts as one, and is given whole where it is short.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from agent.extractive.candidates import TermShares, covered, term_ids
from agent.extractive.identifiers import names
from agent.extractive.passages import Passage, Quote
from agent.extractive.questions import Question, asks_for_all, asks_for_steps
from agent.extractive.sentences import Sentence, unwrapped
from agent.extractive.wording import pattern
from knowledge.text.chinese_script import simplified
from knowledge.text.headings import without_number
from knowledge.text.terms import is_han

MOST_PARTS = 8  # items or rows up to which a list or a table is given whole
MOST_STEPS = 12  # … where steps are asked for: half a procedure is none
AS_LIKELY = 0.1  # of the first quotation's support from which another one may bring its whole list or table
LONGEST = 1_500  # characters of a list or a table given whole
LONGEST_ITEM = 400  # characters of an item given whole
MOST_BEFORE = 3  # sentences back, at most, to the one that a pronoun stands for
FRAGMENT = 45  # characters up to which a sentence is shown with the heading above it; a Chinese one counts for three
NAMED = 0.1  # share of the question's idf from which it names single rows, and does not ask for the table

_REFERS_BACK = pattern("context", "refers_back")
_ONLY_SAYS_SO = pattern("context", "only_says_so")
_ANNOUNCES = re.compile(r"[:：]\W*\Z")
_TIER = pattern("context", "tier")
_STEP = re.compile(r"(?:第[一二三四五六七八九十\d]+步|[(（]?\d{1,2}[.)）、]?\s)")


@dataclass(frozen=True)
class _Place:
    """A quotation in its text. known: title and headings of the passage. sentences: all of it; at: which of them this is."""

    quote: Quote
    text: str
    known: frozenset[str]
    sentences: Sequence[Sentence]
    at: int

    @property
    def sentence(self) -> Sentence:
        return self.sentences[self.at]

    def part(self, sentence: Sentence) -> list[Sentence]:
        """The items, rows or lines that belong together with this one, each whole; of prose its sentences."""
        mine = [each for each in self.sentences if each.part == sentence.part]
        return (
            mine if sentence.kind != "item" else [self._whole(list(block)) for _number, block in groupby(mine, _block)]
        )

    def _whole(self, sentences: list[Sentence]) -> Sentence:
        start, end = sentences[0].start, sentences[-1].end
        return replace(sentences[0], end=end, text=unwrapped(self.text[start:end]))

    def quoted(self, sentences: Sequence[Sentence]) -> list[Quote]:
        """The sentences as quotations; a short one says its subject in the heading above it, and is shown with that."""
        texts = [each.text for each in sentences]
        if len(sentences) == 1 and sentences[0].kind in {"prose", "item"} and _width(texts[0]) <= FRAGMENT:
            heading = without_number(self.heading)
            is_new = not term_ids(heading) <= term_ids(texts[0])
            texts = [f"{heading.rstrip(' :：')}: {texts[0]}"] if is_new else texts
        return [
            replace(self.quote, text=text, start=each.start, end=each.end)
            for text, each in zip(texts, sentences, strict=True)
        ]

    @property
    def heading(self) -> str:
        """The last heading inside the passage above the sentence, "" where there is none but the passage's own."""
        above = [each.text for each in self.sentences[: self.at] if each.kind == "heading"]
        return above[-1] if above and above[-1] not in self.known else ""

    def announced_by(self, part: Sequence[Sentence]) -> list[Sentence]:
        """The sentence with a colon right before a part."""
        before = [each for each in self.sentences if each.start < part[0].start][-1:]
        return before if before and before[0].kind == "prose" and _ANNOUNCES.search(before[0].text) else []


@dataclass(frozen=True)
class _Group:
    """A quotation with what belongs to it. length: sentences of prose; a list or a table counts as one."""

    quotes: Sequence[Quote]
    length: int


def completed(
    question: Question, shares: TermShares, quotes: Sequence[Quote], passages: Sequence[Passage], most: int
) -> tuple[Quote, ...]:
    """The quotations, each with what belongs to it in the order of its passage; nothing twice.

    quotes: in the order to show. shares: of the question's terms. most: sentences of prose, lists and tables that the answer may
    have; where more would be shown the likeliest stay, the first with what belongs to it.
    """
    split_once = {number: passages[number].sentences for number in {quote.passage for quote in quotes}}
    groups: list[_Group] = []
    for quote in quotes:
        sentences = split_once[quote.passage]
        at = next(place for place, each in enumerate(sentences) if each.start == quote.start)
        passage = passages[quote.passage]
        place = _Place(quote, passage.text, frozenset((passage.title, *passage.heading_path)), sentences, at)
        found = _belonging(question, shares, place, quotes)
        shown = [other for group in groups for other in group.quotes]
        new = [each for each in place.quoted(found) if not any(_holds(other, each) for other in shown)]
        if new:
            groups.append(_Group(new, 1 if sentences[at].kind in {"item", "row"} else len(new)))
    while len(groups) > 1 and sum(group.length for group in groups) > most:
        groups.remove(min(groups[1:], key=lambda group: group.quotes[0].support))
    return tuple(quote for group in groups for quote in group.quotes)


def _belonging(question: Question, shares: TermShares, place: _Place, quotes: Sequence[Quote]) -> Sequence[Sentence]:
    kind = place.sentence.kind
    if kind in {"item", "row"}:
        return _of_list(question, shares, place, quotes)
    return (
        [*place.announced_by([place.sentence]), place.sentence]
        if kind == "code"
        else _of_prose(question, shares, place)
    )


def _of_list(question: Question, shares: TermShares, place: _Place, quotes: Sequence[Quote]) -> Sequence[Sentence]:
    """The whole list or table where it is asked for, else the item or row alone."""
    part = place.part(place.sentence)
    own = [each for each in part if each.block == place.sentence.block and len(each.text) <= LONGEST_ITEM]
    chosen = sum(
        quote.passage == place.quote.passage and part[0].start <= quote.start < part[-1].end for quote in quotes
    )
    is_steps = place.sentence.kind == "item" and asks_for_steps(question)
    is_likely = place.quote.support >= AS_LIKELY * quotes[0].support
    is_asked = is_steps or place.sentence.kind == "row" or chosen > 1 or asks_for_all(question)
    is_short = len(part) <= (MOST_STEPS if is_steps else MOST_PARTS) and sum(len(each.text) for each in part) <= LONGEST
    variants = [each for each in part if names(each.text, question.codes)] if place.sentence.kind == "row" else []
    if place.sentence in variants and len(variants) <= MOST_PARTS:
        return variants
    headed = term_ids(place.heading)
    is_named = _names_some({term: share for term, share in shares.items() if term not in headed}, part) and not (
        place.sentence.kind == "item" and asks_for_all(question)
    )
    if is_likely and is_asked and is_short and (is_steps or not is_named or _are_tiers(part)):
        return [*place.announced_by(part), *part]
    return own or [place.sentence]


def _names_some(shares: TermShares, part: Sequence[Sentence]) -> bool:
    """Whether the question says what some of the rows say and others do not."""
    said = [term_ids(each.text) for each in part]
    return covered(shares, frozenset().union(*said)) - covered(shares, frozenset.intersection(*said)) >= NAMED


def _are_tiers(part: Sequence[Sentence]) -> bool:
    """Whether rows are steps of one scale (up to 650, above that): which one holds is only seen beside the others."""
    return part[0].kind == "row" and sum(_TIER.search(simplified(each.text)) is not None for each in part) > 1


def _of_prose(question: Question, shares: TermShares, place: _Place) -> Sequence[Sentence]:
    """The sentence with the one that it refers to; the list it announces; what follows a bare yes; its other steps."""
    paragraph = place.part(place.sentence)
    at = paragraph.index(place.sentence)
    if asks_for_steps(question) and sum(_STEP.match(each.text) is not None for each in paragraph) > 1:
        return paragraph if len(paragraph) <= MOST_STEPS else [place.sentence]
    before = _referred_to(question, shares, paragraph[: at + 1])
    last = at
    follows = paragraph[at + 1 : at + 2]
    if follows and (
        _ONLY_SAYS_SO.fullmatch(simplified(place.sentence.text))
        or (asks_for_steps(question) and _REFERS_BACK.match(simplified(follows[0].text)))
    ):
        last += 1
    after = place.sentences[place.at + 1 : place.at + 2]
    announced = place.part(after[0]) if after and _ANNOUNCES.search(place.sentence.text) else []
    is_list = bool(announced) and announced[0].kind in {"item", "row", "code"} and len(announced) <= MOST_PARTS
    return [*before, *paragraph[at : last + 1], *(announced if is_list else [])]


def _referred_to(question: Question, shares: TermShares, sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """What the last of these sentences of a paragraph refers to: the nearest that does not refer back itself, where it says what is
    asked and the last one leaves out, or how something is done.
    """
    *earlier, own = sentences
    if not earlier or not _REFERS_BACK.match(simplified(own.text)):
        return []
    near = earlier[-MOST_BEFORE:]
    named = next((each for each in reversed(near) if not _REFERS_BACK.match(simplified(each.text))), near[0])
    said = term_ids(own.text)
    adds = covered(shares, said | term_ids(named.text)) > covered(shares, said)
    return [named] if adds or asks_for_steps(question) else []


def _width(text: str) -> int:
    return len(text) + 2 * sum(is_han(character) for character in text)


def _holds(one: Quote, other: Quote) -> bool:
    return one.passage == other.passage and one.start <= other.start and other.end <= one.end


def _block(sentence: Sentence) -> int:
    return sentence.block
