"""A search as a person does it: searched under their rights, and recorded."""

from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from knowledge.retrieval.search import Found, Scope, search


def search_knowledge(principal: Principal, query: str, *, scope: Scope, top_k: int) -> Found:
    """`search`, with a line in the audit log: how long the question was and which passages came back, never its words.

    Raises InvalidInput, EmbeddingError.
    """
    found = search(principal, query, scope=scope, top_k=top_k)
    evidence = [str(hit.passage.chunk_id) for hit in found.hits]
    record(principal, Action.SEARCHED, detail={"characters": len(query), "top_k": top_k, "chunks": evidence})
    return found
