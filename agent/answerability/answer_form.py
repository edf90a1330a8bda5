"""Whether a sentence can be seen to give what is asked: it says all that is asked about, and has something of the form of the answer.

How much a sentence resembles a question does not tell an answer from what only speaks of the matter (docs/adr/0006-abstention.md); a figure
with its unit, a date, things counted, a name in full or a list in a sentence that says the whole matter can hardly be of anything else.
"""

import re
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Final

from agent.extractive.amounts import Amount, amount_asked, asks_amount, counts_what_is_asked, gives, gives_figure
from agent.extractive.candidates import Candidate, TermShares, covered, term_ids
from agent.extractive.questions import AnswerKind, Question, asks_only, has_answer_of, without_place
from agent.extractive.reader import Reading
from agent.extractive.wording import pattern
from knowledge.retrieval.term_weights import share_of_passages
from knowledge.text.chinese_script import simplified
from knowledge.text.terms import is_han, term_id, terms

WHOLE: Final = 0.9  # share of what is asked about, weighed, from which a sentence says all of it; by hand
EVERYDAY: Final = (
    0.05  # share of ordinary passages from which a word that holds it is no word of the matter: get, 需要; by hand
)
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
    return {term: share / rest for term, share in reading.matter.items() if term in kept}


def _is_about(text: str, matter: AbstractSet[int]) -> bool:
    """Whether the matter has a word that is none of every day: “How long does it take?” (要多久) is about nothing that a sentence could
    say. One Chinese character is part of many words.
    """
    words = (term for term in terms(text) if term_id(term) in matter and not (len(term) == 1 and is_han(term)))
    return any(share_of_passages(word) < EVERYDAY for word in words)


def unweighed(text: str, matter: TermShares) -> frozenset[int]:
    """The terms of the words of a question, of a Chinese one of the characters, that its matter leaves out though they are no words of
    every day.
    """
    amount = amount_asked(text)
    words = [term for term in terms(text) if len(term) == 1 or not is_han(term)]
    rare = [word for word in words if share_of_passages(word) < EVERYDAY]
    asked = [word for word in rare if not asks_only(word) and not asks_amount(word, amount)]
    return frozenset(map(term_id, asked)) - matter.keys()
