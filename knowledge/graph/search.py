"""A question asked of the graph: what is known about what it names, and the passages that say it, in the order in which they answer."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from authz.principal import Principal
from knowledge.graph.traversal import Neighbourhood, TookTooLong, WalkLimits, traverse_from_question
from knowledge.retrieval.search import FoundPassages, Scope, search
from knowledge.selectors import ShownPassage, list_visible_passages

DAMPING = 60  # of reciprocal ranks; source: Cormack, Clarke, Büttcher, SIGIR 2009
PLACES = 0.375  # three of eight
DEPTH = 30  # passages that the graph, and a search of the documents it leads to, give to the ranking
Shown = tuple[ShownPassage, float]


@dataclass(frozen=True)
class GraphFound:
    """passages: best first, each with its score, which only orders. is_from_graph: False where the graph knows nothing of what the
    question names; then they are what a search finds.
    """

    neighbourhood: Neighbourhood
    passages: list[tuple[ShownPassage, float]]
    found: FoundPassages
    is_from_graph: bool


def search_graph(principal: Principal, question: str, *, scope: Scope, hops: int, top_k: int) -> GraphFound:
    """Search by way of the graph. Raises InvalidInput (no question, too long), EmbedderUnavailable."""
    try:
        around = traverse_from_question(principal, question, scope, reach=WalkLimits(hops=hops, passages=DEPTH))
    except TookTooLong:  # names linked to half of the base: a plain search answers the question all the same
        around = Neighbourhood([], [], [])
    plain = search(principal, question, scope=scope, top_k=top_k)
    if not around.passages:
        return GraphFound(around, [(hit.passage, hit.scores.final) for hit in plain.hits], plain, is_from_graph=False)
    reached = {
        passage.chunk_id: passage
        for passage in list_visible_passages(principal, [pk for pk, _score in around.passages])
    }
    led = tuple({passage.document_id for passage in reached.values()})
    near = search(principal, question, scope=replace(scope, document_ids=led), top_k=DEPTH)
    known = reached | {hit.passage.chunk_id: hit.passage for hit in near.hits}
    led_to = fuse_rankings(
        [[pk for pk, _score in around.passages if pk in reached], [hit.passage.chunk_id for hit in near.hits]]
    )
    ranked = merge_graph_hits(
        [(hit.passage, hit.scores.final) for hit in plain.hits], [(known[pk], score) for pk, score in led_to], top_k
    )
    return GraphFound(around, ranked, plain, is_from_graph=True)


def merge_graph_hits(plain: Sequence[Shown], led_to: Sequence[Shown], top_k: int) -> list[Shown]:
    """Return the best hits; the last PLACES (a share) go to documents that only the graph found, if there are any."""
    first = list(plain[: max(top_k - round(top_k * PLACES), 1)])
    there = {passage.document_id for passage, _score in first}
    others: dict[UUID, Shown] = {}
    for passage, score in led_to:
        if passage.document_id not in there:
            others.setdefault(passage.document_id, (passage, score))
    chosen = [*first, *list(others.values())[: top_k - len(first)]]
    ids = {passage.chunk_id for passage, _score in chosen}
    return [*chosen, *(row for row in [*plain, *led_to] if row[0].chunk_id not in ids)][:top_k]


def fuse_rankings(rankings: Iterable[Sequence[UUID]]) -> list[tuple[UUID, float]]:
    """Return the sums of reciprocal ranks, best first; ties by id, so that results are repeatable."""
    scores: defaultdict[UUID, float] = defaultdict(float)
    for ranking in rankings:
        for rank, pk in enumerate(ranking, 1):
            scores[pk] += 1 / (DAMPING + rank)
    return sorted(scores.items(), key=lambda row: (-row[1], row[0]))
