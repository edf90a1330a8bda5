from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.utils.translation import override

from agent import texts
from agent.conversations.history import find_earlier_question
from agent.events import Event
from agent.evidence.items import make_hit_finding
from agent.passages.best import select_relevant_hits
from agent.passages.spelling import correct_spelling
from agent.run_state.run import Goto, Run
from agent.run_state.state import RagSummary, State
from agent.run_state.threads import run_cpu_bound_call
from agent.tools.base import restrict_scope
from agent.tools.keeping import list_search_filters
from agent.tools.knowledge_search import TOP_K, WIDE_K, search_all_queries
from agent.workflow import add_trace_step
from knowledge.retrieval.search import FoundPassages, Scope, search

QUERY_CHARACTERS = 2_000
QUESTIONS_BEFORE = 2  # earlier questions that a follow-up is searched with


async def retrieve(run: Run) -> AsyncIterator[Event | Goto]:
    """Search once for passages that this person may read, before any model call. A question with files searches these.

    Where data are queried next, the query uses what the documents say.
    """
    queries = await sync_to_async(_build_search_queries)(run)
    scope = Scope(document_ids=tuple(run.attached.asked_with)) if run.attached.asked_with else run.scope
    top_k = WIDE_K if run.is_wide else TOP_K
    run.found = await run_cpu_bound_call(search_all_queries, run.principal, queries, scope=scope, top_k=top_k)
    if run.is_by_words:
        run.scope = scope
        if not run.findings:  # a question that the data understood has no typos
            run.read_as = correct_spelling(queries[0], [hit.passage.embedded_text for hit in run.found.hits])
        if run.read_as:
            run.found = await run_cpu_bound_call(search, run.principal, run.read_as, scope=scope, top_k=top_k)
            with override(run.language):
                run.tell(str(texts.READ_AS) % {"question": run.read_as})
        if run.is_follow_up and not select_relevant_hits(run.read_as or queries[0], run.found):
            run.found = await run_cpu_bound_call(_search_cited_documents, run, queries[0], top_k) or run.found
    findings = [make_hit_finding(hit) for hit in run.found.hits]
    run.add(findings)
    run.inside_texts += [f"{finding.item.source.title}\n{finding.item.text}" for finding in findings]
    ids = [finding.item.evidence_id for finding in findings]
    query = " | ".join(queries)
    run.state.tools.rag = RagSummary(
        query=query, top_k=top_k, filters=list_search_filters(run), returned_evidence_ids=ids
    )
    add_trace_step(
        run,
        State.RETRIEVE,
        action="retrieve_and_pack",
        tool="rag_retriever",
        out={"evidence_added": len(ids), "note": f"visible={run.found.visible} packed={len(ids)}"},
    )
    if not run.is_by_words:
        yield Goto(State.ACT)
    else:
        yield Goto(State.QUERY if run.subtask("database_query") else State.VALIDATE_EVIDENCE)


def _build_search_queries(run: Run) -> list[str]:
    """Return the search queries; with a model a follow-up is also searched together with the questions before it."""
    asked = run.asked_of_documents[:QUERY_CHARACTERS]
    if run.is_by_words or not run.history:
        return [asked]
    before = [turn.content for turn in run.history if turn.role == "user"][-QUESTIONS_BEFORE:]
    return [" ".join([*before, asked])[-QUERY_CHARACTERS:], asked]


def _search_cited_documents(run: Run, query: str, top_k: int) -> FoundPassages | None:
    """Search the documents cited by the answer before; None where it cites none, or none contains a content word."""
    earlier = find_earlier_question(run.principal, run.session_id, before=run.message_id)
    if earlier is None or not earlier.documents:
        return None
    cited = restrict_scope(run.scope, document_ids=earlier.documents)
    found = search(run.principal, query, scope=cited, top_k=top_k)
    run.searched_cited = bool(select_relevant_hits(run.question, found, any_word=True))
    return found if run.searched_cited else None
