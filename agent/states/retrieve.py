from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async

from agent.events import Event
from agent.evidence import evidence_of
from agent.state import Goto, Run, State
from agent.workflow import trace
from knowledge.retrieval.search import search

TOP_K = 8  # passages an answer may stand on; the specification's number


async def retrieve(run: Run) -> AsyncIterator[Event | Goto]:
    """Find the passages that may answer, among those this person may read."""
    query = run.state.input["normalized_query"]
    run.found = await sync_to_async(search)(run.principal, query, scope=run.scope, top_k=TOP_K)
    run.state.evidence_items.extend(evidence_of(hit) for hit in run.found.hits)
    ids = [item.evidence_id for item in run.state.evidence_items]
    run.state.tools["rag"] = {"query": query, "top_k": TOP_K, "filters": _filters(run), "returned_evidence_ids": ids}
    run.state.trace_steps.append(
        trace(
            run,
            State.RETRIEVE,
            action="retrieve_and_pack",
            tool="rag_retriever",
            out={"evidence_added": len(ids), "note": f"visible={run.found.visible} packed={len(ids)}"},
        )
    )
    yield Goto(State.VALIDATE_EVIDENCE)


def _filters(run: Run) -> dict[str, list[str]]:
    narrowed = {
        "knowledge_base_ids": run.scope.knowledge_base_ids,
        "folder_ids": run.scope.folder_ids,
        "knowledge_ids": run.scope.document_ids,
    }
    return {name: [str(pk) for pk in ids] for name, ids in narrowed.items() if ids}
