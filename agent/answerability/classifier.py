"""Whether what was read answers the question, or only resembles it: a calibrated yes, or passages that are called no answer.

Retrieval always brings something. A neighbouring paragraph of the same article shares the subject and most of the words, so no single
similarity tells the answer from its neighbour. Six signals go into a logistic model, one for questions in Chinese and one for the
others, because shares of characters and shares of words are different scales; more signals told no more (docs/adr/0006-abstention.md).
What a question names must be said besides: another place, year or product is never its answer.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agent.answerability.answer_form import AnswerForm, form_of, matter_of, says_whole
from agent.answerability.assertion import is_asserted
from agent.answerability.opposites import is_of_other_kind
from agent.extractive.candidates import (
    LACKS_KIND,
    MEASURES,
    Candidate,
    TermShares,
    covered,
    named_terms,
    term_ids,
)
from agent.extractive.context_expansion import completed
from agent.extractive.identifiers import letters_in, names, says_letter
from agent.extractive.passages import Passage, Quote
from agent.extractive.questions import (
    AnswerKind,
    Question,
    asks_for_all,
    asks_for_steps,
    has_answer_of,
    is_of_other_days,
    lacks_amount,
)
from agent.extractive.reader import MOST_SENTENCES, Reading
from knowledge.text.chinese_script import simplified

SIGNALS: Final = (
    "support",  # the reader's probability of what the best sentence says, among all it compared
    "in_context",  # share of the question's idf in the best sentence with its neighbours and headings
    "gap_in_sentence",  # largest share of one term that the sentence does not say
    "similarity",  # cosine of question and sentence
    "lacks_kind",  # the question expects a kind of answer (a number, a date, a person), and the sentence holds none
    "negation_unsaid",  # the question denies and the sentence does not
)
RELEVANT = 0.5  # probability by a cross-encoder, which decides in the model's place where there is one, from which it is an answer
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|\w+n't|except|unlike|lack\w*|fail\w*)\b|[不没未无非]",
    re.IGNORECASE,
)

_HAS_DIGIT = re.compile(r"\d")


class AbstainReason(StrEnum):
    """Why an answer is not given; for the audit and the trace, not for the person asking."""

    NO_EVIDENCE = "no_evidence"  # nothing was found
    UNCONFIRMED = "unconfirmed"  # the passages may speak of it, and no sentence confirms it
    OTHER_NAMES = (
        "other_names"  # a sentence speaks of something else than what the question names, or gives no such amount
    )
    OTHER_DAYS = "other_days"  # these days are asked about, and a sentence says what holds in general


@dataclass(frozen=True)
class Model:
    """A logistic model of the signals. threshold: the probability from which an answer is given."""

    bias: float
    weights: tuple[float, ...]
    threshold: float

    def probability(self, values: NDArray[np.float64]) -> float:
        return float(1 / (1 + np.exp(-np.clip(self.bias + values @ np.array(self.weights), -50, 50))))


def _read(kept: Mapping[str, Any], signals: Sequence[str]) -> Model:
    return Model(kept["bias"], tuple(kept["weights"][name] for name in signals), kept["threshold"])


def model_in(file: Path, signals: Sequence[str]) -> Model:
    """The model that a script of `tests/benchmarks` wrote, its weights in the order of the signals."""
    return _read(json.loads(file.read_text(encoding="utf-8")), signals)


def _models() -> dict[str, Model]:
    """As `tests/benchmarks/fit_abstention.py` wrote them, by script of the question."""
    kept = json.loads(Path(__file__).with_name("models.json").read_text(encoding="utf-8"))
    return {script: _read(one, SIGNALS) for script, one in kept.items()}


MODELS: Final = _models()


@dataclass(frozen=True)
class Verdict:
    """Whether to answer. score: probability, on the scale of the dev halves, that the sentence answers the question."""

    ok: bool
    doubt: AbstainReason | None
    score: float


def judge(reading: Reading) -> Verdict:
    """Whether the reading confirms an answer; the thresholds are the points of the curves chosen in ADR 0006."""
    if reading.best is None:
        return Verdict(False, AbstainReason.NO_EVIDENCE, 0.0)
    model = MODELS["zh" if reading.question.is_chinese else "other"]
    relevance = reading.passages[reading.best.passage].relevance
    score = model.probability(signals(reading)) if relevance is None else relevance
    doubt = _doubt(reading, reading.best, is_likely=score >= model.threshold)
    return Verdict(doubt is None, doubt, score)


def confirmed(reading: Reading) -> tuple[Quote, ...]:
    """The answer of a reading that is confirmed: the best sentence, the others that are seen to answer by the same rule, and what
    belongs to each; where a list is asked for, too, what else of the best one's list was chosen, and of defaults what says one.
    """
    kept = [quote for one, quote in reading.chosen if _is_of_the_answer(reading, one)]
    return completed(reading.question, reading.shares, kept, reading.passages, MOST_SENTENCES)


def _is_of_the_answer(reading: Reading, one: Candidate) -> bool:
    best, question = reading.best, reading.question
    if best is None or one is best:
        return True
    is_of_its_list = one.sentence.kind in {"item", "row"} and _list_of(one) == _list_of(best)
    if is_of_its_list and (asks_for_all(question) or asks_for_steps(question)):
        return True
    if one.measures[LACKS_KIND]:
        return False
    is_default = question.kind is AnswerKind.DEFAULT  # of which there are often several
    return is_default or _doubt(reading, one, is_likely=True) is None


def _list_of(one: Candidate) -> tuple[int, int]:
    return one.passage, one.sentence.part


def _doubt(reading: Reading, one: Candidate, *, is_likely: bool) -> AbstainReason | None:
    """Why a sentence is not seen to answer; None where it is."""
    passage = reading.passages[one.passage]
    if one.is_row_asked_for and not one.measures[LACKS_KIND]:
        return None  # rows are short and resemble no question, but a code is no coincidence
    doubt = beside(reading.question, passage, one.sentence.text)
    if passage.relevance is not None:
        is_sure = passage.relevance >= RELEVANT
    else:
        is_sure = _is_seen(reading, one, is_likely=is_likely)
    if doubt is None and not (is_sure and is_asserted(one.sentence.text, reading.matter)):
        return AbstainReason.UNCONFIRMED
    return doubt


def _is_seen(reading: Reading, best: Candidate, *, is_likely: bool) -> bool:
    """Whether the sentence can be seen to answer; a figure of all that is asked whatever the likeness, for short questions resemble no
    sentence as much as the longer ones that the model was fitted on.
    """
    form = form_of(reading.question, best.sentence.text)
    if form is AnswerForm.DEFAULT:
        return is_likely
    return (form is AnswerForm.FIGURE or (form is AnswerForm.FACT and is_likely)) and says_whole(reading, best)


def beside(question: Question, passage: Passage, sentence: str) -> AbstainReason | None:
    """Why a sentence of the passage is about something else, however much it resembles the question; None where it is not."""
    place = f"{passage.heading}\n{passage.text}"
    if (
        _is_unnamed(question, place)
        or (question.codes and not names(place, question.codes))
        or not all(says_letter(place, letter) for letter in letters_in(question.text))
        or lacks_amount(question, sentence)
        or (question.kind is AnswerKind.NUMBER and not has_answer_of(question, sentence))
        or is_of_other_kind(question.text, sentence, passage.heading)
    ):
        return AbstainReason.OTHER_NAMES
    return AbstainReason.OTHER_DAYS if is_of_other_days(question, sentence) else None


def _is_unnamed(question: Question, place: str) -> bool:
    """Whether a passage says less than half of the names of a question, or not each of its numbers: the field that a subject belongs
    to (Kubernetes, for its Deployment) is seldom said beside it, and another subject, year or version says none of them.
    """
    said = _terms_of(question.codes) | term_ids(place)
    unsaid = [given for given, terms in named_terms(question).items() if not terms <= said]
    return any(map(_HAS_DIGIT.search, unsaid)) or len(unsaid) * 2 > len(question.givens)


def signals(reading: Reading) -> NDArray[np.float64]:
    """The numbers the verdict rests on, in the order of SIGNALS. Raises ValueError where no sentence was read."""
    best = reading.best
    if best is None:
        raise ValueError("there is nothing to judge: no sentence was read")
    matter = matter_of(reading)
    measure = dict(zip(MEASURES, best.measures.tolist(), strict=True))
    values = {
        "support": max(quote.support for quote in reading.quotes),
        "in_context": covered(matter, best.context),
        "gap_in_sentence": _largest_unsaid(matter, best.terms),
        "similarity": measure["similarity"],
        "lacks_kind": measure["lacks_kind"],
        "negation_unsaid": float(_denies(reading.question.text) and not _denies(best.sentence.text)),
    }
    return np.array([values[name] for name in SIGNALS], float)


def _largest_unsaid(shares: TermShares, said: frozenset[int]) -> float:
    return max((share for term, share in shares.items() if term not in said), default=0.0)


def _terms_of(codes: Iterable[str]) -> frozenset[int]:
    """Codes have a rule of their own: KG-400 is named by KG-400-L."""
    return frozenset().union(*map(term_ids, codes))


def _denies(text: str) -> bool:
    return _NEGATION.search(simplified(text)) is not None
