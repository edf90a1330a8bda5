"""Which sentences answer: measure every sentence, embed the likely ones, keep the best three."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.extractive import weights as fitted
from agent.extractive.candidates import (
    LACKS_KIND,
    SIMILARITY,
    TITLE_ASKED,
    Candidate,
    Says,
    TermShares,
    Vector,
    candidates_in,
    covered,
    is_command,
    of_the_matter,
    shares_of,
)
from agent.extractive.context_expansion import completed
from agent.extractive.identifiers import names_others
from agent.extractive.passages import Passage, Quote
from agent.extractive.questions import AnswerKind, Question, analyse, lacks_amount
from knowledge.embedding.base import Embedder

MOST_SENTENCES = 3  # of an answer
PER_PASSAGE = 2  # sentences of an answer out of one passage: the third is worth more from another
SAME = 0.8  # share of common terms from which two sentences are versions of one statement
ENOUGH = 0.97  # of support: what is likely enough answered needs no further sentence
LEAST = 0.003  # of the best sentence's support: what is less likely than that is beside the point
UNLIKELY = 0.05  # … and so is what is less likely than that and says itself
NEARLY_AS_LIKELY = 0.5  # … and what stands before it in its passage and is at least this likely is shown first; by hand
SAYS_AS_MUCH = 0.3  # … less than this share of what the best sentence says of the question: neighbours and headings say it for others, too
EMBEDDED = 12  # sentences embedded for a question, most of the time; 24 change no figure by more than 0.2
# By hand, in log-odds, on top of the fitted weight of title_asked: in the question sets nearly every passage found is about
# the thing asked; in a manual many pages use what one page is about.
ABOUT_BONUS = 3.5
ROW_BONUS = 3.5  # … and many rows and sentences mention a product that one row of a table is about
LACKS_MALUS = (
    3.0  # log-odds; by hand: a sentence without the amount asked for, or about another code, is never an answer
)
COMMAND_MALUS = 3.0  # log-odds; set by hand, for the question sets hold no code: a bare command rarely answers


@dataclass(frozen=True)
class Reading:
    """What was read for a question.

    measured: every sentence; candidates: those of them that were compared. shares: of the question's terms, by which they were chosen;
    matter: the same by which the answer is judged. quotes: the answer, in the order to show, each with what belongs to it;
    chosen: the sentences it is made of. best: the likeliest of them.
    """

    question: Question
    passages: Sequence[Passage]
    measured: Sequence[Candidate]
    candidates: Sequence[Candidate]
    shares: TermShares
    matter: TermShares
    quotes: tuple[Quote, ...]
    best: Candidate | None
    chosen: tuple[tuple[Candidate, Quote], ...] = ()


def read(
    question: str,
    passages: Sequence[Passage],
    embedder: Embedder,
    *,
    shares: TermShares | None = None,
    matter: TermShares | None = None,
    says: Says | None = None,
    sentences: int = MOST_SENTENCES,
) -> Reading:
    """Choose the sentences of `passages` that answer the question.

    passages: best first, in the scale of `Passage`. shares: {term id: share of the question's idf} as `query_weights`
    gives it; without it every term counts alike. matter: the same as `matter_weights` gives it, for whoever judges the
    answer; without it `shares`. says: the terms that a text says, as `candidates_in` takes it. Raises what the embedder raises.
    """
    asked = analyse(question)
    weighed = of_the_matter(question, shares if shares is not None else shares_of(question))
    judged = weighed if matter is None else of_the_matter(question, matter)
    every = candidates_in(asked, passages, weighed, says, judged)
    found = compared(asked, passages, every, embedder)
    if not found:
        return Reading(asked, passages, every, (), weighed, judged, (), None)
    scores = scored(asked, found, fitted.SENTENCE_WEIGHTS)
    chosen = _best(_first_of_kind(asked, found, scores), found, sentences)
    support = _support(found, scores)
    likely = _to_the_point(asked, found, _beside_nothing(found, chosen, support, weighed))
    kept = _enough(asked, likely, support)
    told = tuple(
        (found[index], _quote(found[index], float(scores[index]), float(support[index])))
        for index in _shown(found, kept, support)
    )
    whole = completed(asked, weighed, [quote for _one, quote in told], passages, sentences)
    return Reading(asked, passages, every, found, weighed, judged, whole, found[chosen[0]], told)


def _support(candidates: Sequence[Candidate], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of each sentence, (candidates,), with that of the sentences which say the same: of several versions of
    a page none is less likely for the others.
    """
    alone = np.exp(scores - scores.max())
    alone /= alone.sum()
    same = [[_say_the_same(one, other) for other in candidates] for one in candidates]
    return np.asarray(np.array(same, float) @ alone)


def _say_the_same(one: Candidate, other: Candidate) -> bool:
    return one is other or len(one.terms & other.terms) >= SAME * max(len(one.terms | other.terms), 1)


def _beside_nothing(
    candidates: Sequence[Candidate], chosen: Sequence[int], support: NDArray[np.float64], shares: TermShares
) -> list[int]:
    """The chosen sentences without those that are beside the point. support: of every candidate."""
    best = chosen[0]
    enough = SAYS_AS_MUCH * covered(shares, candidates[best].terms)
    return [
        index
        for index in chosen
        if support[index] >= UNLIKELY * support[best]
        or (support[index] >= LEAST * support[best] and covered(shares, candidates[index].terms) >= enough)
    ]


def _to_the_point(question: Question, candidates: Sequence[Candidate], chosen: Sequence[int]) -> list[int]:
    """The chosen sentences without those that do not give the amount asked for, where the best one does, and, where that is a row
    about the code asked for, without those that only mention the code.
    """
    first, *rest = chosen
    best = candidates[first].sentence
    if not lacks_amount(question, best.text):
        rest = [index for index in rest if not lacks_amount(question, candidates[index].sentence.text)]
    if candidates[first].is_row_asked_for:
        rest = [index for index in rest if candidates[index].is_row_asked_for]
    return [first, *rest]


def _enough(question: Question, chosen: Sequence[int], support: NDArray[np.float64]) -> list[int]:
    """Which of the chosen sentences to show. support: of every candidate. A question for one fact ends with it; one that asks
    what something is, why, or what holds by default, is answered in full, with what may belong to the answer.
    """
    if question.kind in {AnswerKind.ANY, AnswerKind.REASON, AnswerKind.DEFAULT}:
        return list(chosen)
    return list(chosen[: 1 + int(np.searchsorted(np.cumsum(support[list(chosen)]), ENOUGH))])


def _first_of_kind(question: Question, candidates: Sequence[Candidate], scores: NDArray[np.float64]) -> list[int]:
    """All candidates, best first. What holds by default is often several settings: after the best sentence those come that say a
    default, too, and then those which only speak of the thing.
    """
    first, *rest = np.argsort(-scores, kind="stable").tolist()
    if question.kind is AnswerKind.DEFAULT:
        rest.sort(key=lambda index: candidates[index].measures[LACKS_KIND])
    return [first, *rest]


def _best(order: Iterable[int], candidates: Sequence[Candidate], count: int) -> list[int]:
    """The first `count` of the candidates in their order; a passage gives no more than PER_PASSAGE as long as others follow.

    What two passages say in the same words is said once.
    """
    taken: Counter[int] = Counter()
    words: set[str] = set()
    first: list[int] = []
    later: list[int] = []
    for index in order:
        if candidates[index].sentence.text in words:
            continue
        words.add(candidates[index].sentence.text)
        taken[candidates[index].passage] += 1
        (first if taken[candidates[index].passage] <= PER_PASSAGE else later).append(index)
    return (first + later)[:count]


def compared(
    question: Question, passages: Sequence[Passage], every: Sequence[Candidate], embedder: Embedder
) -> list[Candidate]:
    """The most likely sentences by their words, with the similarity of each to the question filled in; none that is about another code
    of the series asked for, unless all are.
    """
    found = [each for each in every if not names_others(each.sentence.text, question.codes)] or every
    if not found:
        return []
    by_words = scored(question, found, fitted.LEXICAL_WEIGHTS)
    kept = [found[index] for index in sorted(np.argsort(-by_words, kind="stable")[:EMBEDDED])]
    vectors = embedder.embed_passages([in_its_place(candidate, passages) for candidate in kept])
    similarity: Vector = vectors @ embedder.embed_query(question.text)
    for candidate, value in zip(kept, similarity, strict=True):
        candidate.measures[SIMILARITY] = value
    return kept


def scored(question: Question, candidates: Sequence[Candidate], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-odds of each candidate, up to a constant of the question."""
    by_hand = [
        ABOUT_BONUS * candidate.measures[TITLE_ASKED]
        + ROW_BONUS * candidate.is_row_asked_for
        - LACKS_MALUS * lacks_amount(question, candidate.sentence.text)
        - COMMAND_MALUS * is_command(candidate.sentence)
        for candidate in candidates
    ]
    rows = np.array([candidate.measures for candidate in candidates], float)
    return np.asarray(rows @ weights + by_hand)


def in_its_place(candidate: Candidate, passages: Sequence[Passage]) -> str:
    """The sentence under its headings, as chunks are embedded: a sentence alone often lacks its subject."""
    heading = " > ".join(part for part in (passages[candidate.passage].heading, candidate.under) if part)
    return f"{heading}\n{candidate.sentence.text}" if heading else candidate.sentence.text


def _shown(candidates: Sequence[Candidate], chosen: Sequence[int], support: NDArray[np.float64]) -> list[int]:
    """The sentence that answers first, after what stands before it and is nearly as likely: that one may be the answer, and reads first.
    Then passages in the order of their best sentence, the sentences of each as they stand in it. support: of every candidate.
    """
    best, *rest = chosen
    likely = NEARLY_AS_LIKELY * support[best]
    before = [
        index
        for index in rest
        if candidates[index].passage == candidates[best].passage
        and candidates[index].position < candidates[best].position
        and support[index] >= likely
    ]
    passages = list(dict.fromkeys(candidates[index].passage for index in chosen))

    def place(index: int) -> tuple[bool, int, int]:
        leads = index == best or index in before
        return not leads, passages.index(candidates[index].passage), candidates[index].position

    return sorted(chosen, key=place)


def _quote(candidate: Candidate, score: float, support: float) -> Quote:
    sentence = candidate.sentence
    return Quote(sentence.text, candidate.passage, sentence.start, sentence.end, score, support)
