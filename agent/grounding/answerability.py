"""Whether what was read answers the question, or only resembles it: a calibrated yes or an honest no.

Retrieval always brings something. A neighbouring paragraph of the same article shares the subject and most of the words,
so no single similarity tells the answer from its neighbour. What tells is the detail: which part of the question nobody
says, which names and numbers are other ones, whether the sentence holds the kind of thing asked for. How far a passage
leads the next is not among the signals: it tells much in an encyclopaedia, but a company keeps a statement in several
versions and two languages, and what is said more often must not be believed less. The signals go into logistic models, one
for questions in Chinese and one for the others, because shares of characters and shares of words are different scales
(weights and curves: tests/benchmarks/fit_abstention.py, docs/adr/0006-abstention.md).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agent.extractive.candidates import (
    MEASURES,
    SIMILARITY,
    Candidate,
    TermShares,
    covered,
    named_terms,
    said_givens,
    term_ids,
)
from agent.extractive.identifiers import is_row_of, letters_in, names, says_letter
from agent.extractive.questions import asks_whether, is_of_other_days, lacks_amount
from agent.extractive.reader import Reading, are_covered
from agent.grounding.lexical_features import DETAILS, details
from agent.grounding.topic_terms import (
    core_of,
    is_value_of_something_else,
    is_word_left_out,
    said_of,
    says_all,
    topic_terms_in,
    unsaid_word,
)
from agent.grounding.weights import THRESHOLD, VERIFIED, VERIFYING, WEIGHTS

SIGNALS: Final = (
    "score",  # of the best sentence, as the reader weighs it
    "support",  # the reader's probability of what the best sentence says, among all it compared
    "in_sentence",  # share of the question's idf in the best sentence,
    "in_context",  # … with its neighbours and headings,
    "in_passage",  # … in its passage,
    "in_any",  # … in the passage that says most
    "rare_in_context",  # the same of the rarest third of the question alone
    "rare_in_passage",
    "gap",  # largest share of one term that the passage does not say,
    "gap_in_sentence",  # … or the sentence does not
    "unknown",  # share of the question's idf that no document at all says
    "dense",
    "lexical",
    "coverage",
    "shortfall",  # what the passages together cover of the question, and the answer's passage does not, as MaxSim sees it
    "shortfall_near",  # … and its best clause does not
    "similarity",
    "has_kind",
    "lacks_kind",
    "givens_in_sentence",
    "givens_in_passage",
    "unsaid_in_context",  # share of the terms in the question's names and numbers that the context
    "unsaid_in_passage",  # … or the passage does not say: another place, another year
    "title_asked",
    "core_in_context",  # whether the context says the rarest word of the matter, apart from names, numbers and time,
    "matter_in_context",  # … and which share of the matter it says
    "terms",  # log(1 + different terms in the question)
    *DETAILS,
)
COVERAGE_SIGNALS: Final = tuple(
    place for place, name in enumerate(SIGNALS) if name in {"coverage", "shortfall", "shortfall_near"}
)


class AbstainReason(StrEnum):
    """Why an answer is not given; for the audit and the trace, not for the person asking."""

    NO_EVIDENCE = "no_evidence"  # nothing was found
    NOT_COVERED = "not_covered"  # much of what is asked is said by no passage
    UNCONFIRMED = "unconfirmed"  # the passages speak of it, and no sentence confirms it
    TURNED = (
        "turned"  # a sentence speaks of it, and says another thing than what is asked: denied, opposite, other names
    )
    ANOTHER_MATTER = "another_matter"  # a sentence speaks of the same time or place, hardly of what is asked, or has no answer of its kind
    OTHER_DAYS = "other_days"  # these days are asked about, and a sentence says what holds in general


MOSTLY_COVERED = 0.6  # share of the question's idf in one passage, below which the doubt is called NOT_COVERED
KEYWORDS_THRESHOLD = 0.2  # words to look up expect a place to read, not a confirmed statement; by hand: no set has them
FITTED_AMONG = 700  # passages of the smaller set of the fit: with fewer, the threshold falls
FEWEST = 50  # passages below which it does not fall further
EASING = 0.15  # power by which the odds fall with their share of FITTED_AMONG; measured in ADR 0006
LEAST_OF_MATTER = (
    0.25  # share of the matter, apart from names, numbers and time; by hand, with what it costs in ADR 0006
)
LEAST_OF_ROW = (
    0.1  # share of the matter that a row of a table says with its header, its headings and its neighbours; by hand
)
STANDS_OUT = (
    0.03  # similarity above the mean of the sentences compared from which a sentence stands out, in Chinese; by hand
)
STANDING = 90.0  # … and by which the log-odds of the threshold fall for each unit above that; measured in ADR 0006
SURE = 0.9  # score from which a word may be said otherwise
SURE_OF_MATTER = 0.44  # verified, below which a sentence of another matter is not believed; by hand as well
SURE_OF_BOTH = 0.55  # … where it neither has an answer of the kind asked for nor the rarest word of the matter


@dataclass(frozen=True)
class Verdict:
    """Whether to answer.

    score: probability, on the scale of the dev halves, that the passages hold the answer. verified: probability that the
    sentence answers this question rather than one that resembles it; 1 where no model can tell.
    """

    ok: bool
    doubt: AbstainReason | None
    score: float
    verified: float = 1.0


def judge(reading: Reading) -> Verdict:
    """Whether the reading confirms an answer; the threshold is the point of the curve chosen in ADR 0006."""
    if reading.best is None:
        return Verdict(False, AbstainReason.NO_EVIDENCE, 0.0)
    values = signals(reading)
    language = "zh" if reading.question.is_chinese else "other"
    score = _probability(values, WEIGHTS[language, are_covered(reading.passages)])
    verified = _probability(values, VERIFYING[language]) if language in VERIFYING else 1.0
    is_told = _is_row_asked_for(reading, reading.best, values)
    doubt = None if is_told else _doubt(reading, reading.best, values, score=score, verified=verified)
    return Verdict(doubt is None, doubt, score, verified)


def _doubt(
    reading: Reading, best: Candidate, values: NDArray[np.float64], *, score: float, verified: float
) -> AbstainReason | None:
    """Why the best sentence is not believed, the weightiest reason first; None where it is."""
    is_keywords, lacks_kind = reading.question.is_keywords, values[SIGNALS.index("lacks_kind")]
    above = (0.0 if lacks_kind else margin(reading, best)) - STANDS_OUT
    least = THRESHOLD if lacks_kind else threshold_among(reading.among, above=above)
    if score < (KEYWORDS_THRESHOLD if is_keywords else least):
        is_covered = values[SIGNALS.index("in_any")] >= MOSTLY_COVERED
        return AbstainReason.UNCONFIRMED if is_covered else AbstainReason.NOT_COVERED
    if not is_keywords and (contrary := _contrary(values, verified)):
        return contrary
    if _is_beside(reading, best, values) or (above < 0 and _is_unsaid(reading, best, score)):
        return AbstainReason.ANOTHER_MATTER
    return AbstainReason.OTHER_DAYS if is_of_other_days(reading.question, best.sentence.text) else None


def _is_row_asked_for(reading: Reading, best: Candidate, values: NDArray[np.float64]) -> bool:
    """Whether a table row is about the code that is asked for, and with its header says all that is asked of it: rows are short and
    resemble no question, but a code is no coincidence.
    """
    is_row = best.sentence.kind == "row" and is_row_of(best.sentence.text, reading.question.codes)
    return is_row and not values[SIGNALS.index("lacks_kind")] and says_all(reading.question, best.context)


def threshold_among(passages: int | None, *, above: float = 0.0) -> float:
    """The score from which an answer is given, where so many passages were searched: what resembles a question by chance is rarer
    among a hundred than among a thousand. None, or as many as the sets of the fit have: THRESHOLD. above: how far the sentence
    stands out beyond STANDS_OUT; it only eases.
    """
    share = 1.0 if passages is None else min(max(passages, FEWEST) / FITTED_AMONG, 1.0)
    odds = THRESHOLD / (1 - THRESHOLD) * float(share**EASING * np.exp(-STANDING * max(above, 0.0)))
    return odds / (1 + odds)


def margin(reading: Reading, best: Candidate) -> float:
    """How far the sentence resembles a Chinese question more than the sentences that it was compared with do on average; 0 for
    another question, where it told nothing.
    """
    if not reading.question.is_chinese:
        return 0.0
    similarities = [float(candidate.measures[SIMILARITY]) for candidate in reading.candidates]
    return float(best.measures[SIMILARITY]) - sum(similarities) / len(similarities)


def _is_unsaid(reading: Reading, best: Candidate, score: float) -> bool:
    """Whether a word of the question is written nowhere, or left out by the sentence: then it may speak of something else."""
    question, passage = reading.question, reading.passages[best.passage]
    return (
        unsaid_word(question, reading.matter, best.context) is not None
        or (score < SURE and is_word_left_out(question, best.context, best.terms))
        or is_value_of_something_else(question, term_ids(f"{passage.heading}\n{passage.text}"), best.terms)
    )


def _is_beside(reading: Reading, best: Candidate, values: NDArray[np.float64]) -> bool:
    """Whether something is asked that the sentence does not give: another amount, a code or, where it is asked whether, a name that
    its passage does not say, or a column that its table does not have, for a row is told by its header.
    """
    question = reading.question
    core, said, unsaid = (
        values[SIGNALS.index(name)] for name in ("core_in_context", "matter_in_context", "unsaid_in_passage")
    )
    passage = reading.passages[best.passage]
    return (
        (best.sentence.kind == "row" and not core and said < LEAST_OF_ROW)
        or lacks_amount(question, best.sentence.text)
        or bool(question.codes and not names(f"{passage.heading}\n{passage.text}", question.codes))
        or any(not says_letter(f"{passage.heading}\n{passage.text}", letter) for letter in letters_in(question.text))
        or bool(unsaid and asks_whether(question))
    )


def _contrary(values: NDArray[np.float64], verified: float) -> AbstainReason | None:
    """Why a sentence that resembles the question does not answer it."""
    if verified < VERIFIED:
        return AbstainReason.TURNED
    return AbstainReason.ANOTHER_MATTER if is_off_topic(values, verified) else None


def is_off_topic(values: NDArray[np.float64], verified: float) -> bool:
    """Whether the sentence lacks the kind of thing asked for, or little of the matter is said around it, and not its rarest word,
    and verifying is not sure enough all the same. values: in the order of SIGNALS.
    """
    lacks, core, said = (values[SIGNALS.index(name)] for name in ("lacks_kind", "core_in_context", "matter_in_context"))
    if lacks and not core:
        return verified < SURE_OF_BOTH
    return bool(lacks or (not core and said < LEAST_OF_MATTER)) and verified < SURE_OF_MATTER


def _probability(values: NDArray[np.float64], model: tuple[float, ...]) -> float:
    bias, *weights = model
    return float(1 / (1 + np.exp(-np.clip(bias + values @ np.array(weights), -50, 50))))


def signals(reading: Reading) -> NDArray[np.float64]:
    """The numbers the judgement rests on, in the order of SIGNALS. Raises ValueError where no sentence was read."""
    best = reading.best
    if best is None:
        raise ValueError("there is nothing to judge: no sentence was read")
    shares, passages, question = reading.matter, reading.passages, reading.question
    measure = dict(zip(MEASURES, best.measures.tolist(), strict=True))
    passage = passages[best.passage]
    said = [term_ids(f"{other.heading}\n{other.text}") for other in passages]
    rare, named = rarest(shares), named_terms(question)
    matter = topic_terms_in(question, shares)
    core = core_of(question, matter)
    values = {
        **{name: measure[name] for name in SIGNALS if name in measure},
        "score": max(quote.score for quote in reading.quotes),
        "shortfall": passage.shortfall,
        "shortfall_near": passage.shortfall_near,
        "support": max(quote.support for quote in reading.quotes),
        "in_sentence": covered(shares, best.terms),
        "in_context": covered(shares, best.context),
        "in_passage": covered(shares, said[best.passage]),
        "in_any": max(covered(shares, terms) for terms in said),
        "rare_in_context": covered(rare, best.context),
        "rare_in_passage": covered(rare, said[best.passage]),
        "gap": _largest_unsaid(shares, said[best.passage]),
        "gap_in_sentence": _largest_unsaid(shares, best.terms),
        "core_in_context": float(core is None or core in best.context),
        "matter_in_context": said_of(matter, best.context),
        "unknown": max(0.0, 1.0 - sum(shares.values())),
        "givens_in_sentence": measure["givens"],
        "givens_in_passage": said_givens(question, f"{passage.heading}\n{passage.text}"),
        "unsaid_in_context": len(named - best.context) / max(len(named), 1),
        "unsaid_in_passage": len(named - said[best.passage]) / max(len(named), 1),
        "terms": float(np.log1p(len(term_ids(question.text)))),
        **details(question.text, shares, best.sentence.text, passage.heading, passage.text),
    }
    return np.array([values[name] for name in SIGNALS], float)


def _largest_unsaid(shares: TermShares, said: frozenset[int]) -> float:
    return max((share for term, share in shares.items() if term not in said), default=0.0)


def rarest(shares: TermShares) -> dict[int, float]:
    """The rarest terms of a question that together make up a third of its idf, with shares that sum to 1."""
    chosen: dict[int, float] = {}
    known = sum(shares.values())
    for term, share in sorted(shares.items(), key=lambda item: -item[1]):
        if sum(chosen.values()) >= known / 3:
            break
        chosen[term] = share
    total = sum(chosen.values())
    return {term: share / total for term, share in chosen.items()}
