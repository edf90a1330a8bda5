"""Whether a sentence can be seen to give what is asked: it says all that is asked about, and has something of the form of the answer.

How much a sentence resembles a question does not tell an answer from what only speaks of the matter (docs/adr/0006-abstention.md); a figure
with its unit, a date, things counted, a name in full or a list in a sentence that says the whole matter can hardly be of anything else.
"""

import re
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Final

from agent.extractive.amounts import Amount, amount_asked, counts_what_is_asked, gives, gives_figure
from agent.extractive.candidates import EVERYDAY, Candidate, TermShares, covered, term_ids, unweighed
from agent.extractive.questions import AnswerKind, Question, has_answer_of, without_place
from agent.extractive.reader import Reading
from agent.extractive.wording import pattern
from knowledge.retrieval.term_weights import share_of_passages
from knowledge.text.chinese_script import simplified
from knowledge.text.terms import is_han, term_id, terms

WHOLE: Final = 0.9  # share of what is asked about, weighed, from which a sentence says all of it; by hand
_COUNTS = {Amount.COUNT, Amount.PEOPLE, Amount.FREQUENCY, Amount.YEAR}  # without a unit
_LIST = pattern("questions", "list")
_VALUE = pattern("questions", "value")
_ENUMERATES = pattern("questions", "enumerates")
_MEASURING = pattern("questions", "measuring")
_FULL_NAME = re.compile(r"\b[A-Z][a-zà-ÿ'’-]+ (?:(?:van|de|von|der|al|bin) )*[A-Z][a-zà-ÿ'’-]+")


class AnswerForm(StrEnum):
    """What of the kind that is asked for a sentence has."""

    FIGURE = "figure"  # an amount with its unit
    FACT = "fact"  # a date, a number, things counted, how often, a name in full, several things of a kind
    DEFAULT = "default"  # what holds unless something else is set
    NONE = "none"


def form_of(question: Question, sentence: str) -> AnswerForm:
    """NONE, too, for what has no form of its own: what to do, which one, where, what something is that is no figure."""
    sentence, amount = simplified(sentence), amount_asked(question.text)
    asks_figure = question.kind is AnswerKind.NUMBER or amount is not Amount.ANY or _VALUE.search(question.text)
    if amount not in _COUNTS and asks_figure and gives_figure(amount, sentence):
        return AnswerForm.FIGURE
    if question.kind is AnswerKind.DEFAULT:
        return AnswerForm.DEFAULT
    return AnswerForm.FACT if _gives_fact(question, amount, sentence) else AnswerForm.NONE


def _gives_fact(question: Question, amount: Amount, sentence: str) -> bool:
    if amount is Amount.COUNT:
        return counts_what_is_asked(question.text, sentence)
    if amount is not Amount.ANY:
        return amount in _COUNTS and gives(amount, sentence)
    if question.kind is AnswerKind.PERSON and not question.is_chinese:
        return _names_somebody(question, sentence)
    if question.kind in {AnswerKind.PERSON, AnswerKind.TIME, AnswerKind.NUMBER}:
        return has_answer_of(question, sentence)
    return bool(_LIST.search(question.text) and _ENUMERATES.search(sentence))


def _names_somebody(question: Question, sentence: str) -> bool:
    """By a name in full that the question has not said."""
    asked = term_ids(question.text)
    return any(not term_ids(name[0]) & asked for name in _FULL_NAME.finditer(sentence))


def says_whole(reading: Reading, best: Candidate) -> bool:
    """Whether the sentence says under its headings all that is asked about, and each word of it that has no weight: no document says that
    one, or it was not searched for.
    """
    text = without_place(reading.question.text)
    said = best.terms | term_ids(f"{reading.passages[best.passage].heading}\n{best.under}")
    measuring = {term_id(term) for term in terms(text) if _MEASURING.fullmatch(term)}
    matter = {term: share for term, share in matter_of(reading).items() if term not in measuring}
    rest = unweighed(text, reading.matter) - measuring
    says_all = covered(matter, said) >= WHOLE * sum(matter.values()) and rest <= said
    return says_all and _is_about(text, matter.keys() | rest)


def matter_of(reading: Reading) -> TermShares:
    """The matter of a question without the words that only say where its answer stands, the shares as if these were not asked."""
    kept = term_ids(without_place(reading.question.text))
    rest = 1 - sum(share for term, share in reading.matter.items() if term not in kept)
    return {term: share / rest for term, share in reading.matter.items() if term in kept and share}


def _is_about(text: str, matter: AbstractSet[int]) -> bool:
    """Whether the matter has a word that is none of every day: “How long does it take?” (要多久) is about nothing that a sentence could
    say. One Chinese character is part of many words.
    """
    words = (term for term in terms(text) if term_id(term) in matter and not (len(term) == 1 and is_han(term)))
    return any(share_of_passages(word) < EVERYDAY for word in words)
