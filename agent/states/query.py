import json
import time
from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent.data_coverage import looks_at_documents
from agent.events import Event
from agent.notices import data_not_asked
from agent.quotations import answers as extractive
from agent.revocation import keep_visible
from agent.run import Goto, Run
from agent.state import State
from agent.tools.base import ToolContext
from agent.tools.calling import call_tool
from agent.tools.keeping import keep
from knowledge.retrieval.engine import sentence_embedder

TOOL = "database_query"
NAMED_CHARACTERS = 4_000


async def query(run: Run) -> AsyncIterator[Event | Goto]:
    """Ask the business data without a model's choosing. Where they have no answer documents are searched; a question that
    can mean several things is asked back. As the second step of a plan: about what the documents named. Where documents are looked
    at, too, they come next, whether the data answer or ask back.
    """
    step = run.subtask(TOOL)
    named = ""
    arguments = {"question": step.question if step else run.state.input.normalized_query}
    if step and step.leans_on_first:
        named = await _named_by_documents(run)
        if not named:
            yield Goto(_without_data(run))
            return
    began = time.monotonic()
    ctx = ToolContext.of(run, named_in=named)
    called = await call_tool(TOOL, json.dumps(arguments, ensure_ascii=False), allowed=[TOOL], ctx=ctx)
    keep(run, called, ms=round((time.monotonic() - began) * 1000))
    data_not_asked(run, called)
    if not run.is_by_words:
        yield Goto(State.ACT)
        return
    readings = called.result.data.get("readings", [])
    if called.result.findings or (readings and not step):
        also = await sync_to_async(looks_at_documents)(run)
        yield Goto(State.RETRIEVE if also else State.CLARIFY if readings else State.VALIDATE_EVIDENCE)
    elif step:
        yield Goto(_without_data(run))
    else:
        yield Goto(State.RETRIEVE)


async def _named_by_documents(run: Run) -> str:
    """The sentence that answers the first step best; "" where none does that this person may read. Further sentences may
    name what is not meant.
    """
    if run.found is None:
        return ""
    await sync_to_async(keep_visible)(run)
    embedder = await sync_to_async(sentence_embedder)()
    quotes, verdict = await sync_to_async(extractive.read_and_judge)(run.asked_of_documents, run.found, embedder)
    if not verdict.ok:
        return ""
    best = max(quotes, key=lambda quote: quote.score)
    run.named_by = run.found.hits[best.passage].passage.chunk_id
    return best.text[:NAMED_CHARACTERS]


def _without_data(run: Run) -> State:
    """The documents alone answer, and that is said."""
    with override(run.language):
        run.tell(_("The part about business data cannot be answered from the data you may ask."))
    return State.VALIDATE_EVIDENCE
