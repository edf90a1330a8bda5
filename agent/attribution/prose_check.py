"""Whether a text says what a sentence says, as far as its facts tell: in whose clause each word and number stands.

Supported is a sentence of which each clause stands in one clause of one sentence of the evidence, with its numbers, its polarity and
its conditions. Contradicted is one that names another amount, another unit or the opposite in the same place. All else is left to
whoever can read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import combinations

from agent.attribution.quantities import Quantity, quantities
from agent.attribution.verdict import LIKELY, SUPPORTED, Finding, contradicted, unsettled
from agent.attribution.vocabulary import Vocabulary
from agent.attribution.words import classes
from agent.text.sentences import split
from agent.text.words import asks_only
from business.parsing.reader.units import normalised

NEAR = 0.75  # share of a clause's words from which it speaks of the same thing; by hand
LIKE = 0.4  # … of a sentence's words from which a number that was worked out is about what the text is about
_CUT = re.compile(r"[;:。!?]|,(?!\d{3})|\.(?=\s|$)|\b(?:and|but|while)\b|而|但")
_IDENTIFIER = re.compile(r"(?<![\w-])(?=[\w./-]*\d)[a-z][\w./×-]*\w|\b[a-z]\b(?= 级)|(?<=zone )[a-z]\b")
_HALF = re.compile(r"\bhalf\b|半")
_OPPOSES = {"none", "not"}
BINDS = ("all", "only", "most", "least", "more", "fewer", "up", "down", "same", "cause", "difference", "together")


@dataclass(frozen=True)
class Clause:
    text: str

    @cached_property
    def quantities(self) -> list[Quantity]:
        return [each for each in quantities(self.text) if not each.is_soft]

    @cached_property
    def classes(self) -> set[str]:
        return classes(self.text)

    @cached_property
    def words(self) -> list[str]:
        """What it says besides numbers, as words."""
        bare = self.text
        for each in reversed(quantities(bare)):
            bare = f"{bare[: each.start]} {bare[each.end :]}"
        return Vocabulary("").unknown(bare)

    @property
    def is_negative(self) -> bool:
        return bool(self.classes & _OPPOSES)

    def share_in(self, text: str) -> float:
        """The share of its words that a text has; 1 for a clause without words."""
        known = Vocabulary(text)
        return 1 - sum(bool(known.unknown(word)) for word in self.words) / len(self.words) if self.words else 1.0


@dataclass(frozen=True)
class Statement:
    """One sentence of the evidence, with the headings above it."""

    text: str
    head: str

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        return clauses_of(self.text)


def clauses_of(text: str) -> tuple[Clause, ...]:
    """The clauses of a text, in the form that is compared."""
    return tuple(Clause(part.strip()) for part in _CUT.split(normalised(text)) if part.strip())


@lru_cache(maxsize=256)
def statements(text: str) -> tuple[Statement, ...]:
    """The sentences of a text, each with its first line, which is a title more often than not, and the heading before it."""
    found, head = [], ""
    for piece in split(text):
        if piece.kind == "heading":
            head = piece.text
        else:
            found.append(Statement(piece.text, normalised(head)))
    return tuple(found)


def check_prose(sentence: str, text: str, *, also: str = "", question: str = "") -> Finding:
    """What the text says of the sentence. also: calculations, whose numbers may be said. question: what a bare amount is of."""
    claimed = clauses_of(sentence)
    if not any(clause.words or _IDENTIFIER.search(clause.text) for clause in claimed):
        return _bare(claimed, statements(text), question)
    said = [each for statement in statements(text) for clause in statement.clauses for each in clause.quantities]
    if wrong := next(filter(None, (_unit_conflict(clause, said) for clause in claimed)), None):
        return wrong
    for statement in sorted(statements(text), key=lambda each: -_share(claimed, each)):
        reasons = [_open(clause, statement, also) for clause in claimed]
        if not any(reasons):
            return _unconditional(sentence, statement) or SUPPORTED
    for clause in claimed:
        if wrong := _conflict(clause, statements(text), said):
            return wrong
    return _worked_out(claimed, text, said) or unsettled("not found as it stands")


def _bare(claimed: Sequence[Clause], evidence: Sequence[Statement], question: str) -> Finding:
    """A sentence without a word of matter: “30 days.” stands where the text gives that to what is asked, “Yes.” nowhere."""
    amounts = [each for clause in claimed for each in clause.quantities]
    asked = [word for word in Clause(normalised(question)).words if not asks_only(word)]
    said = ((statement, clause) for statement in evidence for clause in statement.clauses)
    for statement, each in said if amounts and asked else ():
        known = Vocabulary(f"{statement.head} {statement.clauses[0].text} {each.text}")
        about = sum(not known.unknown(word) for word in asked) / len(asked)
        is_given = all(any(amount.agrees(fact) for fact in each.quantities) for amount in amounts)
        if is_given and about >= NEAR and not any(clause.is_negative for clause in (*claimed, each)):
            return SUPPORTED
    return unsettled("says nothing by itself")


def _worked_out(claimed: Sequence[Clause], text: str, said: Sequence[Quantity]) -> Finding | None:
    """Numbers that the text does not have, and that come out of its own: nobody hits such a number by accident."""
    made, is_half = False, any(_HALF.search(clause.text) for clause in claimed)
    for each in (quantity for clause in claimed for quantity in clause.quantities):
        same = [fact for fact in said if each.agrees(fact)]
        if same:
            made |= each.dimension != "" and all(fact.number != each.number for fact in same)
        elif is_made(each, said, is_half=is_half):
            made = True
        else:
            return None
    return (
        LIKELY
        if made and Clause(" ".join(clause.text for clause in claimed)).share_in(normalised(text)) >= LIKE
        else None
    )


def is_made(claimed: Quantity, said: Sequence[Quantity], *, is_half: bool = False) -> bool:
    """A sum, a difference or a share of two amounts of the text; half of one where the sentence says half."""
    alike = [each.value for each in said if each.dimension == claimed.dimension]
    shares = [each.value / 100 for each in said if each.dimension == "percent"]
    shares += [Decimal("0.5")] if is_half else []
    results = {result for one, other in combinations(alike, 2) for result in (one + other, abs(one - other))}
    results |= {value * share for value in alike for share in shares}
    return claimed.dimension != "" and any(value and claimed.fits(value) for value in results)


def _share(claimed: Sequence[Clause], statement: Statement) -> float:
    return sum(clause.share_in(statement.text.lower()) for clause in claimed)


def _open(clause: Clause, statement: Statement, also: str) -> str:
    """What of a clause no single clause of the statement says; "" where one says all of it."""
    subject = statement.clauses[0].text if statement.clauses else ""
    numbers = {each.number for each in quantities(also.lower())}
    for each in statement.clauses:
        around = f"{statement.head} {subject} {each.text} {also.lower()}"
        if clause.is_negative is not each.is_negative or clause.share_in(around) < 1:
            continue
        if not all(
            any(said.agrees(fact) for fact in each.quantities) or said.number in numbers for said in clause.quantities
        ):
            continue
        if any(name in clause.classes and name not in each.classes for name in BINDS):
            continue
        if set(_IDENTIFIER.findall(clause.text)) <= set(_IDENTIFIER.findall(around)):
            return ""
    return clause.text


def _unconditional(sentence: str, statement: Statement) -> Finding | None:
    """A condition or an exception of the statement that the sentence lost."""
    conditions = [clause for clause in statement.clauses if "restrict" in clause.classes]
    said = normalised(sentence)
    if conditions and "restrict" not in classes(said):
        return unsettled("a condition is not said")
    return next((unsettled("a condition is not said") for each in conditions if each.share_in(said) < NEAR / 2), None)


def _unit_conflict(clause: Clause, said: Sequence[Quantity]) -> Finding | None:
    """A number that the text has in another unit alone."""
    for each in clause.quantities:
        if each.dimension and not any(each.agrees(fact) for fact in said):
            same = [fact for fact in said if fact.number == each.number]
            if same and all(fact.dimension for fact in same):
                return contradicted("unit")
    return None


def _conflict(clause: Clause, evidence: Sequence[Statement], said: Sequence[Quantity]) -> Finding | None:
    """Another amount, or the opposite, where the evidence speaks of the same."""
    if len(clause.words) < 2:
        return None
    for subject, each in ((statement.clauses[0], each) for statement in evidence for each in statement.clauses):
        share = clause.share_in(each.text)
        if share == 1 and each.share_in(clause.text) >= NEAR and clause.is_negative is not each.is_negative:
            return contradicted("the opposite")
        is_near = share >= NEAR or (share > 0 and clause.share_in(f"{subject.text} {each.text}") == 1)
        if not is_near or clause.is_negative is not each.is_negative:
            continue
        if len(clause.quantities) == 1 and _differs(clause.quantities[0], each.quantities, said):
            return contradicted("number")
    return None


def _differs(claimed: Quantity, there: Sequence[Quantity], said: Sequence[Quantity]) -> bool:
    """Whether the place gives one other amount of this kind, and no number of the text could have become the claimed one."""
    alike = [each for each in there if each.dimension == claimed.dimension]
    if len(alike) != 1 or any(claimed.agrees(each) for each in said):
        return False
    return not is_made(claimed, said)
