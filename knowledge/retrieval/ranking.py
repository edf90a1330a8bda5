"""The ranking of one question: every candidate with its score and place at each stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
import structlog
from django.conf import settings
from django.utils.translation import gettext as _

from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.engine import Engine, engine, reranker
from knowledge.ingestion.normalise import normalise
from knowledge.models import ChunkTokens
from knowledge.retrieval.candidates import Candidate, Question, find_candidates, rarest
from knowledge.retrieval.fusion import fuse, supported
from knowledge.retrieval.plan import Scope, document_frequencies, make_plan
from knowledge.retrieval.rerank import base as rerank
from knowledge.retrieval.terms import query_weights, term_id, terms
from knowledge.retrieval.together import FIRST, WEIGHT, said_together
from knowledge.selectors import ShownPassage, passages

log = structlog.get_logger(__name__)

CANDIDATES = 100  # of each kind; what fusion sees
QUERY_LENGTH = 4_000  # characters
# Chunks that say nothing, added to every corpus: in a base of one document a word it says must not count as common.
IMAGINED = 20


@dataclass(frozen=True)
class Scores:
    """How a passage came to its place: score and rank (from 1) of each stage; None where a stage did not see it.

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
    """A candidate with its scores and places. tokens: its packed token vectors, where a reranker read them."""

    chunk_id: UUID
    document_id: UUID
    scores: Scores
    tokens: bytes = b""


@dataclass(frozen=True)
class Ranking:
    """All candidates of a question, best first, before documents are spread: what an evaluation measures.

    visible: passages the person could see in the scope. weights: {term id: share of the question's idf}.
    """

    ranked: list[Ranked]
    visible: int
    weights: Mapping[int, float]


def rank(principal: Principal, query: str, *, scope: Scope) -> Ranking:
    """Every candidate, best first, with all its scores and ranks. Raises InvalidInput, EmbedderUnavailable."""
    asked = check_query(query)
    plan = make_plan(principal, scope)
    if not plan.visible:
        return Ranking([], 0, {})
    with_engine = engine()
    vector, question = with_engine.ask(asked)
    ids = [term_id(term) for term in terms(asked)]
    frequencies = document_frequencies(plan, ids)
    weights = query_weights(ids, frequencies, plan.corpus_chunks + IMAGINED)
    candidates = find_candidates(
        principal,
        Question(vector, weights),
        scope,
        space_id=with_engine.space_id,
        depth=CANDIDATES,
        use_indexes=plan.visible > settings.SEARCH_EXACT_LIMIT,
        rare_terms=rarest(weights, frequencies, plan),
    )
    ranked = _rerank(principal, question, _fuse(candidates, with_engine), with_engine)
    return Ranking(_read_again(principal, weights, ranked), plan.visible, weights)


def check_query(query: str) -> str:
    """The question as the index takes it. Raises InvalidInput when there is none, or too much of it."""
    asked = " ".join(normalise(query).split())
    if not asked:
        raise InvalidInput(_("Ask a question: the text is empty."))
    if len(asked) > QUERY_LENGTH:
        raise InvalidInput(
            _("A question has at most %(most)s characters; this one has %(count)s.")
            % {"most": QUERY_LENGTH, "count": len(asked)}
        )
    return asked


def _fuse(candidates: Sequence[Candidate], with_engine: Engine) -> list[Ranked]:
    dense = np.array([c.dense for c in candidates], np.float32)
    lexical = np.array([c.lexical for c in candidates], np.float32)
    scores = fuse(dense, lexical, weight=with_engine.lexical_weight)
    fused = {c.chunk_id: float(score) for c, score in zip(candidates, scores, strict=True)}
    dense_rank = _ranks({c.chunk_id: c.dense for c in candidates})
    lexical_rank = _ranks({c.chunk_id: c.lexical for c in candidates if c.lexical > 0})
    fused_rank = _ranks(fused)
    ranked = [
        Ranked(
            c.chunk_id,
            c.document_id,
            Scores(
                dense=with_engine.sentence_cosine(c.dense),
                lexical=c.lexical,
                fused=fused[c.chunk_id],
                dense_rank=dense_rank[c.chunk_id],
                lexical_rank=lexical_rank.get(c.chunk_id),
                fused_rank=fused_rank[c.chunk_id],
            ),
        )
        for c in candidates
    ]
    return sorted(ranked, key=lambda row: fused_rank[row.chunk_id])


def _rerank(principal: Principal, question: rerank.Question, ranked: list[Ranked], with_engine: Engine) -> list[Ranked]:
    """The finalists in the reranker's order, the rest behind them in the order they have."""
    chosen = reranker()
    if chosen is None or not ranked:
        return ranked
    finalists = ranked[: chosen.depth]
    ids = [row.chunk_id for row in finalists]
    tokens = _tokens(principal, ids, with_engine) if chosen.needs_tokens else {}
    if chosen.needs_tokens and not tokens:
        return ranked  # the embedder has no token vectors
    texts = {p.chunk_id: p.embedded_text for p in passages(principal, ids)} if chosen.needs_text else {}
    inputs = [
        rerank.Candidate(
            row.scores.fused, row.scores.lexical, texts.get(row.chunk_id, ""), tokens.get(row.chunk_id, b"")
        )
        for row in finalists
    ]
    try:
        scores = chosen.rerank(question, inputs)
    except rerank.RerankerUnavailable as error:
        log.warning("search.not_reranked", error=str(error))
        return ranked
    support = supported([row.document_id for row in finalists], scores)
    places = _ranks({row.chunk_id: float(score) for row, score in zip(finalists, scores + support, strict=True)})
    judged = [
        replace(
            row,
            scores=replace(row.scores, rerank=float(score), support=float(added), rerank_rank=places[row.chunk_id]),
            tokens=tokens.get(row.chunk_id, b""),
        )
        for row, score, added in zip(finalists, scores, support, strict=True)
    ]
    return sorted(judged, key=lambda row: places[row.chunk_id]) + ranked[chosen.depth :]


def _read_again(principal: Principal, weights: Mapping[int, float], ranked: list[Ranked]) -> list[Ranked]:
    """The first places of late interaction once more, in the order of what they say in one breath as well."""
    first = [row for row in ranked[:FIRST] if row.tokens]
    if not first:
        return ranked
    shown = {passage.chunk_id: passage for passage in passages(principal, [row.chunk_id for row in first])}
    gains = {row.chunk_id: WEIGHT * _together(weights, shown.get(row.chunk_id)) for row in first}
    places = _ranks({row.chunk_id: row.scores.final + gains[row.chunk_id] for row in first})
    read = [
        replace(
            row,
            scores=replace(row.scores, together=gains[row.chunk_id], rerank_rank=places[row.chunk_id]),
        )
        for row in first
    ]
    return sorted(read, key=lambda row: places[row.chunk_id]) + ranked[len(first) :]


def _together(weights: Mapping[int, float], passage: ShownPassage | None) -> float:
    if passage is None:
        return 0.0  # gone by now
    heading, text = (
        list(map(term_id, terms(part))) for part in (" ".join([passage.title, *passage.heading_path]), passage.text)
    )
    return said_together(weights, heading, text)


def _tokens(principal: Principal, ids: Sequence[UUID], with_engine: Engine) -> dict[UUID, bytes]:
    rows = ChunkTokens.objects.visible_to(principal).filter(chunk_id__in=ids, space_id=with_engine.space_id)
    return {chunk_id: bytes(packed) for chunk_id, packed in rows.values_list("chunk_id", "packed")}


def _ranks(scores: Mapping[UUID, float]) -> dict[UUID, int]:
    """{id: place from 1}, best first, ties by id so that runs repeat."""
    order = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: place for place, key in enumerate(order, start=1)}
