"""The ranking of one question: every candidate with its score and place at each stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any
from uuid import UUID

import numpy as np
import structlog
from django.conf import settings
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.measures import Durations
from knowledge.retrieval.candidates import Candidate, Finalists, IndexQuery, find_candidates, select_rarest_terms
from knowledge.retrieval.engine import Engine, load_engine, load_reranker
from knowledge.retrieval.fusion import FIRST, WEIGHT, compute_joint_coverage, compute_support, fuse_scores
from knowledge.retrieval.plan import Scope, make_plan
from knowledge.retrieval.rerank import base as rerank
from knowledge.selectors import ShownPassage
from knowledge.text.normalise import normalise_text
from knowledge.text.terms import compute_query_weights, extract_terms, hash_term

log = structlog.get_logger(__name__)

STAGE_S = Durations("copilot_search_stage_duration_seconds", "The stages of a search.", ("stage",))
CANDIDATES = 100  # of each kind; what fusion sees
QUERY_LENGTH = 4_000  # characters
# Chunks that say nothing, added to every corpus: in a base of one document a word it says must not count as common.
IMAGINED = 20
_EARNED = ("rerank", "support", "together")  # of a finalist

Floats = NDArray[np.floating]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Scores:
    """The scores of a passage: score and rank (from 1) of each stage; None where a stage did not see it.

    dense: cosine of sentence vectors, or as they would have it. lexical: BM25 on its absolute scale, 0 … 2.2. fused,
    rerank: on the scale of their stage. support: what the other passages of its document add to `rerank`; together: what
    its saying the question's words in one breath adds.
    """

    dense: float
    lexical: float
    fused: float
    rerank: float | None = None
    dense_rank: int | None = None
    lexical_rank: int | None = None
    fused_rank: int | None = None
    rerank_rank: int | None = None
    support: float = 0.0
    together: float = 0.0

    @property
    def final(self) -> float:
        return self.fused if self.rerank is None else self.rerank + self.support + self.together


@dataclass(frozen=True)
class Ranked:
    """A candidate with its scores and places. passage: what it says, tokens: its packed token vectors, where they were read."""

    chunk_id: UUID
    document_id: UUID
    scores: Scores
    passage: ShownPassage | None = None
    tokens: bytes = b""


@dataclass(frozen=True)
class SearchedQuestion:
    """A question as it was searched, and the corpus that weighs its terms, for later steps.

    question: as rerankers read it. weights: {term id: share of the question's idf}. frequencies: {term id: passages of the corpus
    that hold it}, without the terms that occur nowhere. corpus_chunks: passages of the corpus.
    """

    question: rerank.RerankQuery
    weights: Mapping[int, float]
    frequencies: Mapping[int, int]
    corpus_chunks: int


@dataclass(frozen=True)
class Ranking:
    """All candidates of a question, best first, before documents are spread, as evaluations measure them.

    visible: passages the person could see in the scope. asked: None where there are none.
    """

    ranked: list[Ranked]
    visible: int
    asked: SearchedQuestion | None = None


@dataclass(frozen=True)
class _Judged:
    """The finalists, best first, as a reranker left them. places: among the candidates. The others: (finalists,), see Scores."""

    places: Places
    rerank: Floats
    support: Floats
    together: Floats

    def taken(self, order: Places) -> "_Judged":
        """Return the finalists in another order; those that `order` does not name follow at the end."""
        order = np.concatenate([order, np.arange(len(order), len(self.places))])
        return _Judged(self.places[order], self.rerank[order], self.support[order], self.together[order])


def rank_passages(principal: Principal, query: str, *, scope: Scope) -> Ranking:
    """Return every candidate, best first, with all its scores and ranks. Raises InvalidInput, EmbedderUnavailable."""
    asked = check_query(query)
    with_engine, chosen = load_engine(), load_reranker()
    ids = [hash_term(term) for term in extract_terms(asked)]
    with STAGE_S.timed("plan"):
        plan = make_plan(principal, scope, term_ids=ids, space=with_engine.space)
    if not plan.visible or plan.space_id is None:
        return Ranking([], plan.visible)
    with STAGE_S.timed("embed"):
        vector, question = with_engine.ask(asked)
    weights = compute_query_weights(ids, plan.frequencies, plan.corpus_chunks + IMAGINED)
    with STAGE_S.timed("candidates"):
        candidates = find_candidates(
            principal,
            IndexQuery(vector, weights),
            scope,
            space_id=plan.space_id,
            depth=CANDIDATES,
            use_indexes=plan.visible > settings.SEARCH_EXACT_LIMIT and not scope.document_ids,  # few, and with an index
            rare_terms=select_rarest_terms(weights, plan),
            share=plan.share,
            finalists=Finalists(
                count=chosen.depth if chosen else FIRST,
                lexical_weight=with_engine.lexical_weight,
                with_tokens=chosen is not None and chosen.needs_tokens,
            ),
        )
    dense, lexical = (np.array([getattr(c, name) for c in candidates], np.float64) for name in ("dense", "lexical"))
    fused = fuse_scores(dense.astype(np.float32), lexical.astype(np.float32), weight=with_engine.lexical_weight)
    judged = None
    if chosen:
        finalists = _sort_best_first(fused)[: chosen.depth]
        with STAGE_S.timed("rerank"):
            judged = _rerank_finalists(chosen, question, weights, candidates=candidates, finalists=finalists)
    ranked = _build_ranking(candidates, with_engine, (dense, lexical, fused), judged)
    return Ranking(ranked, plan.visible, SearchedQuestion(question, weights, plan.frequencies, plan.corpus_chunks))


def check_query(query: str) -> str:
    """Return the normalised question. Raises InvalidInput when it is empty or too long."""
    asked = " ".join(normalise_text(query).split())
    if not asked:
        raise InvalidInput(_("The question is empty."))
    if len(asked) > QUERY_LENGTH:
        raise InvalidInput(
            _("A question has at most %(most)s characters; this one has %(count)s.")
            % {"most": QUERY_LENGTH, "count": len(asked)}
        )
    return asked


def _rerank_finalists(
    chosen: rerank.Reranker,
    question: rerank.RerankQuery,
    weights: Mapping[int, float],
    *,
    candidates: Sequence[Candidate],
    finalists: Places,
) -> _Judged | None:
    """Return the finalists in the reranker's order; None where it has no data, or does not answer now."""
    rows = [candidates[place] for place in finalists.tolist()]
    if not rows or (chosen.needs_tokens and not any(row.tokens for row in rows)):
        return None  # no candidates, or an embedder without token vectors
    texts = [row.passage.embedded_text if chosen.needs_text and row.passage else "" for row in rows]
    inputs = [rerank.Finalist(row.lexical, text, row.tokens) for row, text in zip(rows, texts, strict=True)]
    try:
        scores = chosen.rerank(question, inputs)
    except rerank.RerankerUnavailable as error:
        log.warning("search.not_reranked", error=str(error))
        return None
    support = compute_support([row.document_id for row in rows], scores)
    judged = _Judged(finalists, scores, support, np.zeros(len(rows)))
    judged = judged.taken(_sort_best_first(scores + support, finalists))
    return _reorder_top(judged, weights, candidates) if chosen.needs_tokens else judged


def _reorder_top(judged: _Judged, weights: Mapping[int, float], candidates: Sequence[Candidate]) -> _Judged:
    """Return the top of late interaction in a new order that also counts the question's words said together."""
    rows = [candidates[place] for place in judged.places[:FIRST].tolist()]
    gains = np.array(
        [WEIGHT * _score_proximity(weights, row.passage) for row in takewhile(lambda row: row.tokens, rows)]
    )
    first = len(gains)
    together = np.concatenate([gains, judged.together[first:]])
    final = judged.rerank[:first].astype(np.float64) + judged.support[:first] + gains
    return replace(judged, together=together).taken(_sort_best_first(final, judged.places[:first]))


def _score_proximity(weights: Mapping[int, float], passage: ShownPassage | None) -> float:
    if passage is None:
        return 0.0  # of a document that has moved within its rights just now
    heading, text = (
        list(map(hash_term, extract_terms(part)))
        for part in (" ".join([passage.title, *passage.heading_path]), passage.text)
    )
    return compute_joint_coverage(weights, heading, text)


def _build_ranking(
    candidates: Sequence[Candidate], with_engine: Engine, stages: tuple[Floats, Floats, Floats], judged: _Judged | None
) -> list[Ranked]:
    """Return the candidates, best first, with the scores of each stage. stages: dense, lexical and fused scores, (candidates,)."""
    fused = stages[2].tolist()
    dense_rank, lexical_rank, fused_rank = (_compute_ranks(scores) for scores in stages)
    order = sorted(range(len(candidates)), key=fused_rank.__getitem__)
    given: dict[int, dict[str, Any]] = {}
    if judged:
        named = zip(*(getattr(judged, name).tolist() for name in _EARNED), strict=True)
        given = {
            place: dict(zip(_EARNED, earned, strict=True), rerank_rank=rank)
            for rank, (place, earned) in enumerate(zip(judged.places.tolist(), named, strict=True), start=1)
        }
        order = [*given, *order[len(given) :]]
    ranked = []
    for place in order:
        row = candidates[place]
        scores = Scores(
            dense=with_engine.sentence_cosine(row.dense),
            lexical=row.lexical,
            fused=fused[place],
            dense_rank=dense_rank[place],
            lexical_rank=lexical_rank[place] if row.lexical > 0 else None,
            fused_rank=fused_rank[place],
            **given.get(place, {}),
        )
        ranked.append(Ranked(row.chunk_id, row.document_id, scores, row.passage, row.tokens))
    return ranked


def _sort_best_first(scores: Floats, places: Places | None = None) -> Places:
    """Return the indexes of `scores`, best first; ties by the place among the candidates, which is by id, so that runs repeat."""
    return np.lexsort((np.arange(len(scores)) if places is None else places, -scores))


def _compute_ranks(scores: Floats) -> list[int]:
    """Return the place of each candidate, from 1, best first."""
    ranks = np.empty(len(scores), np.intp)
    ranks[_sort_best_first(scores)] = np.arange(1, len(scores) + 1)
    return ranks.tolist()
