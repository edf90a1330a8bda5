"""What comes closest to a question that nothing confirms: the best passages, each with the sentence that speaks of it most."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from agent.extractive import weights as fitted
from agent.extractive.candidates import (
    SIMILARITY,
    Candidate,
    TermShares,
    candidates_in,
    of_the_matter,
    shares_of,
    term_ids,
)
from agent.extractive.identifiers import ExactName
from agent.extractive.passages import Passage, Quote
from agent.extractive.questions import analyse
from agent.extractive.reader import in_its_place, scored
from knowledge.embedding.base import Embedder

MOST = 5  # passages
EMBEDDED = 3  # sentences of a passage, those that are likeliest by their words
# From which a passage speaks of the matter at all; docs/MEASURED.md has what lies on either side.
NEAR = 0.4  # MaxSim of the passage
NEAR_WITHOUT_RERANKER = 0.82  # cosine, where no late interaction has judged it


def closest(
    question: str,
    passages: Sequence[Passage],
    embedder: Embedder,
    *,
    shares: TermShares | None = None,
    exact: Sequence[ExactName] = (),
) -> tuple[Quote, ...]:
    """The best sentence of each of the first passages that speak of the matter, in the order given; none where none does.

    passages: best first, in the scale of `Passage`. shares: {term id: share of the question's idf}; without it every term counts
    alike. exact: names of the question; a passage that holds one speaks of the matter whatever the likeness, and where one is coded
    no other passage does. Raises what the embedder raises.
    """
    asked = analyse(question)
    weighed = of_the_matter(question, shares if shares is not None else shares_of(question))
    near = _near(passages, exact)[:MOST]
    every = [each for each in candidates_in(asked, passages, weighed) if each.passage in near]
    named = frozenset().union(*(name.terms for name in exact))
    asks_more = any(share for term, share in weighed.items() if term not in named)
    likely = []
    for _passage, group in groupby(every, key=lambda each: each.passage):
        mine = _naming(list(group), exact, asks_more=asks_more)
        by_words = scored(asked, mine, fitted.LEXICAL_WEIGHTS)
        likely += [mine[place] for place in np.argsort(-by_words, kind="stable")[:EMBEDDED]]
    if not likely:
        return ()
    vectors = embedder.embed_passages([in_its_place(candidate, passages) for candidate in likely])
    for candidate, similarity in zip(likely, vectors @ embedder.embed_query(asked.text), strict=True):
        candidate.measures[SIMILARITY] = similarity
    scores = scored(asked, likely, fitted.SENTENCE_WEIGHTS)
    best: dict[int, Quote] = {}
    for place in np.argsort(-scores, kind="stable"):
        one = likely[place]
        sentence = one.sentence
        best.setdefault(
            one.passage, Quote(sentence.text, one.passage, sentence.start, sentence.end, float(scores[place]), 0.0)
        )
    return tuple(best[number] for number in near if number in best)


def _near(passages: Sequence[Passage], exact: Sequence[ExactName]) -> list[int]:
    """The places of the passages that speak of the matter, in the order given."""
    coded = [number for number, passage in enumerate(passages) if _holds(passage, exact, coded_alone=True)]
    every = range(len(passages))
    return coded or [
        number for number in every if is_near(passages[number]) or _holds(passages[number], exact, coded_alone=False)
    ]


def _holds(passage: Passage, exact: Sequence[ExactName], *, coded_alone: bool) -> bool:
    names = [name.terms for name in exact if name.is_coded or not coded_alone]
    return bool(names) and any(name <= term_ids(f"{passage.heading}\n{passage.text}") for name in names)


def _naming(sentences: list[Candidate], exact: Sequence[ExactName], *, asks_more: bool) -> list[Candidate]:
    """The sentences of a passage that hold an exact name, those below a heading that holds it among them; all where none does.
    asks_more: whether the question has other words than names; without any, those that hold the name itself, or the first below it.
    """
    names = [name.terms for name in exact]
    own = [each for each in sentences if any(name <= each.terms for name in names)]
    if own and not asks_more:
        return own
    under = [each for each in sentences if any(name <= each.terms | term_ids(each.under) for name in names)]
    return (under if asks_more else under[:1]) or sentences


def is_near(passage: Passage) -> bool:
    """Whether a passage speaks of what is asked at all, rather than being what a search cannot but bring."""
    if passage.coverage is None or passage.coverage <= -1:
        return passage.dense >= NEAR_WITHOUT_RERANKER
    return passage.coverage >= NEAR
