import json
import time
from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent.events import Event
from agent.notices import explain_unqueried_data
from agent.passages.best import select_best_passages
from agent.revocation import remove_unreadable_evidence
from agent.run_state.run import Goto, Run
from agent.run_state.state import State
from agent.tools.base import ToolContext
from agent.tools.calling import call_tool
from agent.tools.keeping import store_call_result
from knowledge.retrieval.engine import load_sentence_embedder

TOOL = "database_query"
NAMED_CHARACTERS = 4_000


async def query(run: Run) -> AsyncIterator[Event | Goto]:
    """Query the business data without a model.

    Without a result documents are searched; an ambiguous question is asked back. As the second step of a plan, query
    about what the documents named.
    """
    step = run.subtask(TOOL)
    named = ""
    arguments = {"question": step.question if step else run.state.input.normalized_query}
    if step and step.leans_on_first:
        named = await _find_named_subjects(run)
        if not named:
            yield Goto(_continue_without_data(run))
            return
    began = time.monotonic()
    ctx = ToolContext.of(run, named_in=named)
    called = await call_tool(TOOL, json.dumps(arguments, ensure_ascii=False), allowed=[TOOL], ctx=ctx)
    store_call_result(run, called, ms=round((time.monotonic() - began) * 1000))
    explain_unqueried_data(run, called)
    if not run.is_by_words:
        yield Goto(State.ACT)
        return
    readings = called.result.data.get("readings", [])
    if called.result.findings or (readings and not step):
        yield Goto(State.VALIDATE_EVIDENCE if called.result.findings else State.CLARIFY)
    elif step:
        yield Goto(_continue_without_data(run))
    else:
        yield Goto(State.RETRIEVE)


async def _find_named_subjects(run: Run) -> str:
    """Return the best readable passage's highlighted sentences on the first step; "" where none is relevant."""
    if run.found is None:
        return ""
    await sync_to_async(remove_unreadable_evidence)(run)
    embedder = await sync_to_async(load_sentence_embedder)()
    best = await sync_to_async(select_best_passages)(run.asked_of_documents, run.found, embedder)
    if not best:
        return ""
    run.named_by = best[0].hit.passage.chunk_id
    return " ".join(sentence.text for sentence in best[0].sentences)[:NAMED_CHARACTERS]


def _continue_without_data(run: Run) -> State:
    """Continue with the documents only, and tell the person."""
    with override(run.language):
        run.tell(_("The part about business data could not be answered from data you can query."))
    return State.VALIDATE_EVIDENCE
