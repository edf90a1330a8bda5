from collections.abc import AsyncIterator

from django.utils.translation import override

from agent import texts
from agent.conversations.history import understood
from agent.events import Event
from agent.evidence import found_hit
from agent.passages.best import speaking
from agent.passages.spelling import respelt
from agent.run import Goto, Run
from agent.state import RagSummary, State
from agent.threads import worked
from agent.tools.base import within
from agent.tools.knowledge_search import TOP_K, WIDE_K
from agent.workflow import add_trace
from knowledge.retrieval.search import Found, Scope, search


async def retrieve(run: Run) -> AsyncIterator[Event | Goto]:
    """Find the passages that may answer, among those this person may read: one search, without a model's choosing. A question with
    files is asked of these.

    Where data are asked next, they are asked with what the documents say.
    """
    query = run.asked_of_documents
    if run.attached.asked_with:
        run.scope = Scope(document_ids=tuple(run.attached.asked_with))
    top_k = WIDE_K if run.is_wide else TOP_K
    run.found = await worked(search, run.principal, query, scope=run.scope, top_k=top_k)
    if not run.findings:  # what the data read has no slip in it
        run.read_as = respelt(query, [hit.passage.embedded_text for hit in run.found.hits])
    if run.read_as:
        run.found = await worked(search, run.principal, run.read_as, scope=run.scope, top_k=top_k)
        with override(run.language):
            run.tell(str(texts.READ_AS) % {"question": run.read_as})
    if run.is_follow_up and not speaking(run.read_as or query, run.found):
        run.found = await worked(_in_cited_documents, run, query, top_k) or run.found
    findings = [found_hit(hit) for hit in run.found.hits]
    run.add(findings)
    ids = [finding.item.evidence_id for finding in findings]
    run.state.tools.rag = RagSummary(query=query, top_k=top_k, filters=filters_of(run), returned_evidence_ids=ids)
    add_trace(
        run,
        State.RETRIEVE,
        action="retrieve_and_pack",
        tool="rag_retriever",
        out={"evidence_added": len(ids), "note": f"visible={run.found.visible} packed={len(ids)}"},
    )
    yield Goto(State.QUERY if run.subtask("database_query") else State.VALIDATE_EVIDENCE)


def _in_cited_documents(run: Run, query: str, top_k: int) -> Found | None:
    """Search the documents that the answer before cites; None where it cites none, or none of them says a word of the matter."""
    earlier = understood(run.principal, run.session_id, before=run.message_id)
    if earlier is None or not earlier.documents:
        return None
    cited = within(run.scope, document_ids=earlier.documents)
    found = search(run.principal, query, scope=cited, top_k=top_k)
    run.searched_cited = bool(speaking(run.question, found, any_word=True))
    return found if run.searched_cited else None


def filters_of(run: Run) -> dict[str, list[str]]:
    """What a search was narrowed to, in ids, and by which fields, never what they say; `scope` names the org units of whoever asks, as
    the specification has it.
    """
    narrowed = {
        "knowledge_base_ids": run.scope.knowledge_base_ids,
        "folder_ids": run.scope.folder_ids,
        "knowledge_ids": run.scope.document_ids,
        "tables": [f"{each.source}.{each.table}" for each in run.tables or ()],
        "fields": [each.field for each in run.scope.metadata],
    }
    scope = {"scope": sorted(run.principal.org_units)} if run.principal.org_units else {}
    return scope | {name: [str(pk) for pk in ids] for name, ids in narrowed.items() if ids}
