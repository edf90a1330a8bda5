"""A question asked of the graph: what is known about what it names, and the passages that say it, in the order in which they answer."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from authz.principal import Principal
from knowledge.graph.walk import Neighbourhood, Reach, about_question
from knowledge.retrieval.search import PER_DOCUMENT, Found, Scope, search
from knowledge.selectors import ShownPassage, passages

DAMPING = 60  # of reciprocal ranks; source: Cormack, Clarke, Büttcher, SIGIR 2009
DEPTH = 30  # passages that the graph, and a search of the documents it leads to, give to the ranking


@dataclass(frozen=True)
class GraphFound:
    """passages: best first, each with its score, which only orders. is_from_graph: False where the graph knows nothing of what the
    question names; then they are what a search finds.
    """

    neighbourhood: Neighbourhood
    passages: list[tuple[ShownPassage, float]]
    found: Found
    is_from_graph: bool


def search_graph(principal: Principal, question: str, *, scope: Scope, hops: int, top_k: int) -> GraphFound:
    """Raises InvalidInput (no question, too long), EmbedderUnavailable."""
    around = about_question(principal, question, scope, reach=Reach(hops=hops, passages=DEPTH))
    plain = search(principal, question, scope=scope, top_k=top_k)
    if not around.passages:
        return GraphFound(around, [(hit.passage, hit.scores.final) for hit in plain.hits], plain, is_from_graph=False)
    reached = {passage.chunk_id: passage for passage in passages(principal, [pk for pk, _score in around.passages])}
    led = tuple({passage.document_id for passage in reached.values()})
    near = search(principal, question, scope=replace(scope, document_ids=led), top_k=DEPTH)
    known = reached | {hit.passage.chunk_id: hit.passage for found in (near, plain) for hit in found.hits}
    rankings = [
        [pk for pk, _score in around.passages if pk in reached],
        [hit.passage.chunk_id for hit in near.hits],
        [hit.passage.chunk_id for hit in plain.hits],
    ]
    ranked = fused(rankings)
    return GraphFound(around, _spread([(known[pk], score) for pk, score in ranked], top_k), plain, is_from_graph=True)


def fused(rankings: Iterable[Sequence[UUID]]) -> list[tuple[UUID, float]]:
    """Reciprocal ranks added up, best first; ties by id, so that runs repeat."""
    scores: defaultdict[UUID, float] = defaultdict(float)
    for ranking in rankings:
        for rank, pk in enumerate(ranking, 1):
            scores[pk] += 1 / (DAMPING + rank)
    return sorted(scores.items(), key=lambda row: (-row[1], row[0]))


def _spread(ranked: Sequence[tuple[ShownPassage, float]], top_k: int) -> list[tuple[ShownPassage, float]]:
    """The first ones, at most PER_DOCUMENT of one document as long as others follow."""
    counts: defaultdict[UUID, int] = defaultdict(int)
    first, later = [], []
    for passage, score in ranked:
        counts[passage.document_id] += 1
        (first if counts[passage.document_id] <= PER_DOCUMENT else later).append((passage, score))
    return (first + later)[:top_k]
