"""Whether a sentence's facts stand against the words that a judge quotes for it: another amount, day, code or name, the opposite, or all
where the words say some.

A judge may obey a document, or be a small model that believes what it reads. What it quotes says which place decides, so that facts can be
compared there which nothing connects in the whole evidence. What conflicts is not taken for supported, whatever the judge says.
"""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from itertools import combinations

from agent.attribution.prose_check import BINDS, Clause, check_prose, clauses_of, is_made
from agent.attribution.quantities import Quantity
from agent.attribution.verdict import Verdict
from agent.text.words import identifiers_in
from business.parsing.reader.times import mark_times
from business.parsing.reader.units import normalised

ALIKE = 0.6  # share of words, as in `disagreement`, from which two sentences are about the same; by hand
MOST_ADDED = 8  # amounts of a quotation of which sums are tried
GENERAL = {"all", "only"}
_NAME = re.compile(r"(?<![.!?:。！？：\n] )(?<![\w'’.-])(?!^)[A-Z][\w'’-]+")  # a capital that begins no sentence
_LATIN = re.compile(r"(?<![A-Za-z\d_-])[A-Z][\w'’-]+", re.ASCII)
_COUNTED = re.compile(r"(?:[两二三四五六七八九十]|\d)[\u3400-\u9fff]{1,10}?[都均]")  # all of so many, which are named
_HAN = re.compile("[\u3400-\u9fff]")


def quoted_conflict(sentence: str, quote: str, evidence: str, *, question: str, today: date, also: str = "") -> str:
    """What of the sentence stands against the quotation, in a word of ours; "" where nothing does.

    evidence: all of it. question: what it names may be named. also: calculations of the run. today: what relative times count from.
    """
    if check_prose(sentence, quote, also=also, question=question).verdict is Verdict.CONTRADICTED:
        return "facts"
    if _other_amount(sentence, quote, today) or _exchanged(sentence, quote, f"{question}\n{also}", today):
        return "number"
    if _other_day(sentence, quote, evidence, today):
        return "date"
    if _other_name(sentence, quote, f"{evidence}\n{also}\n{question}"):
        return "name"
    if _is_opposite(sentence, quote):
        return "negation"
    return "quantifier" if _is_generalised(sentence, quote) else ""


def _other_amount(sentence: str, quote: str, today: date) -> bool:
    """Whether the quotation says the same words around one other amount, which the sentence's is not made of."""
    parts = clauses_of(_undated(quote, today))
    said = [fact for part in parts for fact in part.quantities]
    for clause in clauses_of(_undated(sentence, today)):
        near = [part for part in parts if _is_near(clause, part)]
        for each in clause.quantities:
            there = [_alike(part.quantities, each) for part in near]
            is_one = len(_alike(clause.quantities, each)) == 1 and any(len(alike) == 1 for alike in there)
            is_there = any(each.agrees(fact) for fact in said) or is_made(each, said) or _is_sum(each, said)
            if is_one and not is_there and not _is_bound(clause, *near):
                return True
    return False


def _exchanged(sentence: str, quote: str, given: str, today: date) -> bool:
    """Whether one amount stands in the place of another in a quotation of the other language, of which no words can be compared: of one
    kind, each side has one that the other has not, beside an amount that both have. In one language an amount may be worked out of others.

    given: what may be said although the quotation does not have it.
    """
    if bool(_HAN.search(sentence)) == bool(_HAN.search(quote)):
        return False
    own, there, known = (_amounts(text, today) for text in (sentence, quote, given))
    left = [each for each in there if not any(said.agrees(each) for said in own)]
    made = [each for place, each in enumerate(there) if not any(each.agrees(other) for other in there[:place])]
    return len(left) < len(there) and any(
        _alike(left, each)
        for each in own
        if not (any(each.agrees(fact) for fact in (*there, *known)) or is_made(each, made) or _is_sum(each, there))
    )


def _amounts(text: str, today: date) -> list[Quantity]:
    return [each for part in clauses_of(_undated(text, today)) for each in part.quantities]


def _alike(amounts: Sequence[Quantity], amount: Quantity) -> list[Quantity]:
    return [each for each in amounts if each.dimension == amount.dimension]


def _is_near(clause: Clause, part: Clause) -> bool:
    """Whether a part of the quotation speaks of the same."""
    return clause.share_in(part.text) >= ALIKE and part.share_in(clause.text) >= ALIKE


def _is_bound(*clauses: Clause) -> bool:
    return any(clause.classes & set(BINDS) for clause in clauses)


def _is_sum(amount: Quantity, said: Sequence[Quantity]) -> bool:
    values = [each.value for each in _alike(said, amount)[:MOST_ADDED]]
    return any(
        amount.fits(sum(some, Decimal(0)))
        for count in range(2, len(values) + 1)
        for some in combinations(values, count)
        if count > 2 or some[0] != some[1]  # the same amount twice is said of two things, not of both together
    )


def _undated(text: str, today: date) -> str:
    """The text in the form that is compared, a private character for each day: the numbers of days are no amounts."""
    return mark_times(normalised(text), today, None)[0]


def _other_day(sentence: str, quote: str, evidence: str, today: date) -> bool:
    """Whether it names a day or a time that the evidence does not have, and the quotation names others."""
    own, there = _days(sentence, today), _days(quote, today)
    return bool(there) and any(not any(_overlap(day, other) for other in _days(evidence, today)) for day in own)


Span = tuple[date | None, date | None]


def _days(text: str, today: date) -> list[Span]:
    _plain, moments = mark_times(normalised(text), today, None)
    return [each.span for each in moments]


def _overlap(one: Span, other: Span) -> bool:
    return (one[0] or date.min) < (other[1] or date.max) and (other[0] or date.min) < (one[1] or date.max)


def _other_name(sentence: str, quote: str, known: str) -> bool:
    """Whether it names a code, or something by a capital, that is not known, and the quotation names another."""
    for named in (identifiers_in, _names):
        own, there = named(sentence), named(quote)
        if there - own and any(name not in known.casefold() for name in own):
            return True
    return False


def _names(text: str) -> frozenset[str]:
    pattern = _LATIN if _HAN.search(text) else _NAME
    return frozenset(found.casefold() for found in pattern.findall(text))


def _is_opposite(sentence: str, quote: str) -> bool:
    """Whether both say the same words, of which one denies what the other affirms."""
    own, there = Clause(normalised(sentence)), Clause(normalised(quote))
    return own.is_negative is not there.is_negative and bool(own.words) and _is_near(own, there)


def _is_generalised(sentence: str, quote: str) -> bool:
    """Whether it says of all, or of these alone, what the quotation says without that."""
    own, there = Clause(normalised(_COUNTED.sub(" ", sentence))), Clause(normalised(quote))
    return bool(GENERAL & (own.classes - there.classes)) and own.share_in(there.text) >= ALIKE
