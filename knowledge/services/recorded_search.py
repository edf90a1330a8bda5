"""A search as a person does it: searched under their rights, and recorded."""

from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from authz.snapshot import take_snapshot
from knowledge.retrieval.search import Found, Scope, search


def search_knowledge(principal: Principal, query: str, *, scope: Scope, top_k: int) -> Found:
    """`search`, with a line in the audit log: how long the question was and which passages came back under which rights, never
    its words.

    Raises InvalidInput, EmbeddingError.
    """
    found = search(principal, query, scope=scope, top_k=top_k)
    detail = {
        "characters": len(query),
        "top_k": top_k,
        "chunks": [str(hit.passage.chunk_id) for hit in found.hits],
        "perm_snapshot_id": take_snapshot(principal),
    }
    record(principal, Action.SEARCHED, detail=detail)
    return found
