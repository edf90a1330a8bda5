"""Compare a sentence with a text, fact by fact.

A sentence that repeats one of the evidence with its numbers, its polarity and its conditions is supported; one with
another amount, another unit or the opposite in the same place is contradicted.

Everything else is left to a judge.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import combinations

from agent.attribution.clauses import BINDS, Clause, EvidenceSentence, split_clauses, split_statements
from agent.attribution.quantities import TextQuantity, parse_quantities
from agent.attribution.verdict import LIKELY, SUPPORTED, SentenceCheck, Verdict, make_contradicted, make_unsettled
from agent.attribution.words import word_classes_of
from agent.text.words import find_identifiers
from business.parsing.reader.times import mark_times
from business.parsing.reader.units import normalise_text

NEAR = 0.75  # share of a clause's words from which it is about the same thing; chosen by hand
WHOLE = 0.6  # … of the evidence's words from which a sentence repeats it rather than a part of it
LIKE = 0.4  # … of a sentence's words from which a calculated number is about the text's topic
MAX_ADDED = 8  # amounts of a quotation that are tried in sums
_NAME = re.compile(r"(?<![.!?:。！？：\n] )(?<![\w'’.-])(?!^)[A-Z][\w'’-]+")  # capitalised, not at a sentence start
_LATIN_NAME = re.compile(r"(?<![A-Za-z\d_-])[A-Z][\w'’-]+", re.ASCII)
_COUNTED = re.compile(r"(?:[两二三四五六七八九十]|\d)[\u3400-\u9fff]{1,10}?[都均]")  # “all N”, after naming them
_HAN = re.compile("[\u3400-\u9fff]")
_JUST = re.compile(r"(?:\b(?:only|just)\b|仅有?|只有?)\s*$")
_HALF = re.compile(r"\bhalf\b|半")
Span = tuple[date | None, date | None]


def check_facts(sentence: str, text: str, *, also: str = "") -> SentenceCheck:
    """Return the text's verdict on the sentence. also: calculations, whose numbers may be said."""
    claimed, evidence = split_clauses(sentence), split_statements(text)
    if not any(clause.words or clause.identifiers for clause in claimed):
        return make_unsettled("says nothing by itself")
    quantities = [entry for statement in evidence for clause in statement.clauses for entry in clause.quantities]
    if any(_has_other_unit(entry, quantities) for clause in claimed for entry in clause.quantities):
        return make_contradicted("unit")
    if any(_repeats_statement(claimed, statement, also) for statement in evidence):
        return SUPPORTED
    for clause in claimed:
        if wrong := _find_conflict(clause, evidence, quantities):
            return make_contradicted(wrong)
    known = [*quantities, *(entry for clause in split_clauses(also) for entry in clause.quantities)]
    return LIKELY if _can_be_calculated(claimed, text, known) else make_unsettled("not found as it stands")


def _repeats_statement(claimed: Sequence[Clause], statement: EvidenceSentence, also: str) -> bool:
    """Return whether the statement contains each clause, with no limiting condition dropped."""
    also = normalise_text(also)
    used = [
        next((item for item in statement.clauses if _supports_clause(item, clause, statement, also)), None)
        for clause in claimed
    ]
    whole = " ".join(clause.text for clause in claimed)
    limits = "restrict" in word_classes_of(normalise_text(statement.text)) and "restrict" not in word_classes_of(whole)
    return all(used) and not limits and all(item.share_in(whole) >= WHOLE for item in used if item)


def _supports_clause(each: Clause, clause: Clause, statement: EvidenceSentence, also: str) -> bool:
    around = f"{statement.head} {statement.clauses[0].text} {each.text} {also}"
    worked = {amount.number for amount in Clause(also).quantities}
    return (
        clause.is_negative is each.is_negative
        and clause.share_in(around) == 1
        and all(
            any(amount.agrees(fact) for fact in each.quantities) or amount.number in worked
            for amount in clause.quantities
        )
        and clause.classes & BINDS <= each.classes
        and clause.identifiers <= Clause(around).identifiers
    )


def _has_other_unit(amount: TextQuantity, quantities: Sequence[TextQuantity]) -> bool:
    """Return whether the text has this number with other units only."""
    same = [fact for fact in quantities if fact.number == amount.number]
    is_there = not amount.dimension or any(amount.agrees(fact) for fact in quantities)
    return bool(same) and not is_there and all(fact.dimension for fact in same)


def _find_conflict(clause: Clause, evidence: Sequence[EvidenceSentence], quantities: Sequence[TextQuantity]) -> str:
    """Return how a clause contradicts evidence about the same thing: another amount, or the opposite.

    "" where it does not.
    """
    places = ((statement.clauses[0].text, entry) for statement in evidence for entry in statement.clauses)
    for subject, item in places if len(clause.words) > 1 else ():
        share = clause.share_in(item.text)
        if share < NEAR and not (share and clause.share_in(f"{subject} {item.text}") == 1):
            continue
        if clause.is_negative is not item.is_negative:
            if clause.share_in(item.text) == 1 and item.share_in(clause.text) >= NEAR:
                return "the opposite"
        elif len(clause.quantities) == 1 and _has_conflicting_amount(clause.quantities[0], item.quantities, quantities):
            return "number"
    return ""


def _has_conflicting_amount(
    amount: TextQuantity, there: Sequence[TextQuantity], quantities: Sequence[TextQuantity]
) -> bool:
    """Return whether the place gives another amount of this kind, and no calculation over the text yields this one."""
    return (
        len(_select_same_dimension(there, amount)) == 1
        and not any(map(amount.agrees, quantities))
        and not is_derived_amount(amount, quantities)
    )


def _can_be_calculated(claimed: Sequence[Clause], text: str, quantities: Sequence[TextQuantity]) -> bool:
    """Return whether the sentence's numbers can be calculated from the text's; a match is never accidental."""
    whole = Clause(" ".join(clause.text for clause in claimed))
    is_half, fresh = bool(_HALF.search(whole.text)), []
    for quantity in whole.quantities:
        same = [fact for fact in quantities if quantity.agrees(fact)]
        if not same and not is_derived_amount(quantity, quantities, is_half=is_half):
            return False
        fresh.append(not same or (quantity.dimension != "" and all(fact.number != quantity.number for fact in same)))
    return any(fresh) and (_differs_in_language(whole.text, text) or whole.share_in(normalise_text(text)) >= LIKE)


def is_derived_amount(claimed: TextQuantity, quantities: Sequence[TextQuantity], *, is_half: bool = False) -> bool:
    """Return whether an amount is a sum, a difference or a share of two amounts of the text.

    Or half of one where the sentence says half.
    """
    alike = [item.value for item in _select_same_dimension(quantities, claimed)]
    shares = [item.value / 100 for item in quantities if item.dimension == "percent"] + [Decimal("0.5")] * is_half
    results = {result for one, other in combinations(alike, 2) for result in (one + other, abs(one - other))}
    results |= {value * share for value in alike for share in shares}
    return claimed.dimension != "" and any(value and claimed.fits(value) for value in results)


def find_quote_conflict(sentence: str, quote: str, evidence: str, *, question: str, today: date, also: str = "") -> str:
    """Return how the sentence contradicts the words that a judge quotes for it, as a key of `checks`; "" where it does not.

    A judge may obey a document, or be a small model that believes everything it reads. evidence: all of it. question:
    names in it may be repeated. also: calculations of the run. today: the reference date for relative times.
    """
    checks = {
        "facts": check_facts(sentence, quote, also=also).verdict is Verdict.CONTRADICTED,
        "number": _has_other_amount(sentence, quote, f"{question}\n{also}", today),
        "date": _has_other_day(sentence, quote, evidence, today),
        "name": _has_other_name(sentence, quote, f"{evidence}\n{also}\n{question}".casefold()),
        "negation": _has_opposite_polarity(sentence, quote),
        "quantifier": _is_generalised(sentence, quote),
    }
    return next((what for what, is_so in checks.items() if is_so), "")


def _has_other_amount(sentence: str, quote: str, given: str, today: date) -> bool:
    """Return whether the sentence has an amount that the quotation neither has nor yields.

    Only where the quotation has an unused amount of its kind. In one language the words around both must agree; across
    two languages, both must share another amount.
    """
    own, there, known = (_find_amounts(text, today) for text in (sentence, quote, given))
    left = [item for item in there if not any(quantity.agrees(item) for quantity in own)]
    made = [item for place, item in enumerate(there) if not any(item.agrees(other) for other in there[:place])]
    other = [
        item
        for item in own
        if _select_same_dimension(left, item)
        and not any(item.agrees(fact) for fact in (*there, *known))
        and not _is_sum_of_amounts(item, made)
    ]
    if _differs_in_language(sentence, quote):
        return bool(other) and len(left) < len(there)
    whole, quoted = Clause(normalise_text(sentence)), Clause(normalise_text(quote))
    binds = (whole.classes | quoted.classes) & BINDS
    return (
        any(len(_select_same_dimension(own, item)) == len(_select_same_dimension(there, item)) == 1 for item in other)
        and _has_same_topic(whole, quoted)
        and not binds
    )


def _find_amounts(text: str, today: date) -> list[TextQuantity]:
    """Return the amounts of a text; numbers in dates are excluded."""
    return [
        entry for part in split_clauses(mark_times(normalise_text(text), today, None)[0]) for entry in part.quantities
    ]


def _select_same_dimension(amounts: Sequence[TextQuantity], amount: TextQuantity) -> list[TextQuantity]:
    return [item for item in amounts if item.dimension == amount.dimension]


def _is_sum_of_amounts(amount: TextQuantity, quantities: Sequence[TextQuantity]) -> bool:
    values = [item.value for item in _select_same_dimension(quantities, amount)[:MAX_ADDED]]
    sums = (sum(some, Decimal(0)) for count in range(2, len(values) + 1) for some in combinations(values, count))
    return is_derived_amount(amount, quantities) or any(map(amount.fits, sums))


def _has_same_topic(one: Clause, other: Clause) -> bool:
    """Return whether both are about the same thing."""
    return one.share_in(other.text) >= WHOLE and other.share_in(one.text) >= WHOLE


def _has_other_day(sentence: str, quote: str, evidence: str, today: date) -> bool:
    """Return whether the sentence names a day or time that the evidence lacks, and the quotation names another."""
    known = list(iterate_named_days(evidence, today))
    own = iterate_named_days(sentence, today)
    return any(iterate_named_days(quote, today)) and any(
        not any(_has_overlap(day, other) for other in known) for day in own
    )


def iterate_named_days(text: str, today: date) -> Iterator[Span]:
    return (moment.span for moment in mark_times(normalise_text(text), today, None)[1])


def _has_overlap(one: Span, other: Span) -> bool:
    return (one[0] or date.min) < (other[1] or date.max) and (other[0] or date.min) < (one[1] or date.max)


def _has_other_name(sentence: str, quote: str, known: str) -> bool:
    """Return whether the sentence names an unknown code or capitalised name, and the quotation names another."""
    return any(
        bool(named(quote) - named(sentence)) and any(name not in known for name in named(sentence))
        for named in (find_identifiers, _find_proper_names)
    )


def _find_proper_names(text: str) -> frozenset[str]:
    pattern = _LATIN_NAME if _HAN.search(text) else _NAME
    return frozenset(found.casefold() for found in pattern.findall(text))


def _has_opposite_polarity(sentence: str, quote: str) -> bool:
    """Return whether both have the same words but opposite polarity."""
    own, there = Clause(normalise_text(sentence)), Clause(normalise_text(quote))
    return own.is_negative is not there.is_negative and bool(own.words) and _has_same_topic(own, there)


def _is_generalised(sentence: str, quote: str) -> bool:
    """Return whether the sentence says “all” or “only” where the quotation does not."""
    text = normalise_text(_COUNTED.sub(" ", sentence))
    for quantity in reversed(parse_quantities(text)):  # “only nine” says nothing of others
        text = f"{_JUST.sub(' ', text[: quantity.start])}{text[quantity.start :]}"
    own, there = Clause(text), Clause(normalise_text(quote))
    return bool({"all", "only"} & (own.classes - there.classes)) and (
        _differs_in_language(sentence, quote) or own.share_in(there.text) >= WHOLE
    )


def _differs_in_language(sentence: str, text: str) -> bool:
    """Return whether both are in different languages, so that their words cannot be compared."""
    return bool(_HAN.search(sentence)) is not bool(_HAN.search(text))
