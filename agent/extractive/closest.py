"""What comes closest to a question that nothing confirms: the best passages, each with the sentence that speaks of it most."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from agent.extractive import weights as fitted
from agent.extractive.candidates import SIMILARITY, TermShares, candidates_in, of_the_matter, shares_of
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
    question: str, passages: Sequence[Passage], embedder: Embedder, *, shares: TermShares | None = None
) -> tuple[Quote, ...]:
    """The best sentence of each of the first passages that speak of the matter, in the order given; none where none does.

    passages: best first, in the scale of `Passage`. shares: {term id: share of the question's idf}; without it every term counts
    alike. Raises what the embedder raises.
    """
    asked = analyse(question)
    weighed = of_the_matter(question, shares if shares is not None else shares_of(question))
    near = [number for number, passage in enumerate(passages) if is_near(passage)][:MOST]
    every = [each for each in candidates_in(asked, passages, weighed) if each.passage in near]
    likely = []
    for _passage, group in groupby(every, key=lambda each: each.passage):
        mine = list(group)
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


def is_near(passage: Passage) -> bool:
    """Whether a passage speaks of what is asked at all, rather than being what a search cannot but bring."""
    if passage.coverage is None or passage.coverage <= -1:
        return passage.dense >= NEAR_WITHOUT_RERANKER
    return passage.coverage >= NEAR
