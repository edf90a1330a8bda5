"""One question → the passages that answer it, out of what this person may read.

Plan → candidates (dense and lexical, in SQL, under the permission filter) → fuse → rerank → one document cannot crowd out
the rest.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.snapshot import take_snapshot
from knowledge.retrieval.plan import Scope
from knowledge.retrieval.ranking import Ranked, Scores, SearchedQuestion, rank_passages
from knowledge.selectors import ShownPassage, list_visible_passages

__all__ = ["FoundPassages", "Hit", "Scope", "Scores", "search"]

PER_DOCUMENT = 3  # passages of one document in the first places


@dataclass(frozen=True)
class Hit:
    """A passage with its place and its scores. tokens: its packed token vectors, b"" where none were read."""

    passage: ShownPassage
    scores: Scores
    tokens: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class FoundPassages:
    """The result of a search: hits, best first; how many passages the person could see in the scope; and, for later steps,
    the question as it was asked, None where they could see none.
    """

    hits: list[Hit]
    visible: int
    asked: SearchedQuestion | None = None


def search(principal: Principal, query: str, *, scope: Scope | None = None, top_k: int = 10) -> FoundPassages:
    """Return the `top_k` passages that answer `query` best, out of what this person may read within the scope.

    At most `PER_DOCUMENT` passages of one document stand in the first places; more of them follow only where nothing else does.
    A document whose successor is found, too, gives none.
    Raises InvalidInput (no question, too long), EmbedderUnavailable.
    """
    ranking = rank_passages(principal, query, scope=scope or Scope())
    answering = remove_superseded(ranking.ranked)
    return FoundPassages(_load_hits(principal, limit_per_document(answering, top_k)), ranking.visible, ranking.asked)


def limit_per_document(ranked: Sequence[Ranked], top_k: int) -> list[Ranked]:
    """Return the first `top_k`, with at most PER_DOCUMENT of one document as long as others follow."""
    counts: Counter[UUID] = Counter()
    first: list[Ranked] = []
    later: list[Ranked] = []
    for row in ranked:
        if len(first) == top_k:
            break
        counts[row.document_id] += 1
        (first if counts[row.document_id] <= PER_DOCUMENT else later).append(row)
    return (first + later)[:top_k]


def _load_hits(principal: Principal, ranked: Sequence[Ranked]) -> list[Hit]:
    """Return the rows behind a ranking. Missing ones are read now; deleted rows are left out."""
    missing = [row.chunk_id for row in ranked if row.passage is None]
    read = {passage.chunk_id: passage for passage in list_visible_passages(principal, missing)} if missing else {}
    shown = ((row.passage or read.get(row.chunk_id), row) for row in ranked)
    return [Hit(passage, row.scores, row.tokens) for passage, row in shown if passage]


def search_knowledge(principal: Principal, query: str, *, scope: Scope, top_k: int) -> FoundPassages:
    """Run `search`, and audit the length of the question and the passages returned, with the rights used, never its words.

    Raises InvalidInput, EmbeddingError.
    """
    found = search(principal, query, scope=scope, top_k=top_k)
    detail = {
        "characters": len(query),
        "top_k": top_k,
        "chunks": [str(hit.passage.chunk_id) for hit in found.hits],
        "documents": sorted({str(hit.passage.document_id) for hit in found.hits}),
        "perm_snapshot_id": take_snapshot(principal),
    }
    record_action(principal, Action.SEARCHED, detail=detail)
    return found


def remove_superseded(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the passages, without those of documents whose successor is among them, too.

    A successor that was not found, or that this person may not see, takes nothing away: it is not among what they may read. Passages
    that were not read yet, the last of a ranking, stay.
    """
    found = {row.document_id for row in ranked}
    return [row for row in ranked if row.passage is None or row.passage.superseded_by not in found]
