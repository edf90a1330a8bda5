"""Write the answer from the evidence alone: by the model, sentence by checked sentence, or out of the documents' own ones."""

from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async

from agent.events import Answer, Event, References
from agent.evidence import reference
from agent.notices import broken_off, model_failed
from agent.providers import extractive
from agent.providers.base import ModelError
from agent.revocation import keep_visible
from agent.state import Goto, Run, State
from agent.workflow import add_trace
from agent.writing import Writer
from knowledge.engine import engine
from knowledge.retrieval.search import search


async def synthesize(run: Run) -> AsyncIterator[Event | Goto]:
    """The answer, or the way to say that the evidence does not confirm the matter."""
    if run.model and not run.model_gave_up:
        embedder = (await sync_to_async(engine)()).embedder
        await sync_to_async(keep_visible)(run)  # last of all: nothing is read between this look and the model's
        writer = Writer(run, embedder)
        try:
            async for event in writer.written():
                yield event
        except ModelError as error:
            if writer.has_sentences:
                broken_off(run, error)
            else:
                model_failed(run, error, State.SYNTHESIZE)
        if not run.model_gave_up:
            for last in writer.closing():
                yield last
            writer.record()
            yield Goto(State.DONE if run.answer else State.REFUSE)
            return
    for notice in run.fresh_notices():
        yield notice
    async for item in _quoted(run):
        yield item


async def _quoted(run: Run) -> AsyncIterator[Event | Goto]:
    """Sentences of the documents themselves."""
    if run.found is None:  # a model read documents without searching
        query = run.state.input.normalized_query
        run.found = await sync_to_async(search)(run.principal, query, scope=run.scope, top_k=8)
    embedder = (await sync_to_async(engine)()).embedder
    await sync_to_async(keep_visible)(run)
    question = run.state.input.normalized_query if run.is_follow_up else run.question
    answer, verdict = await sync_to_async(extractive.quote)(question, run.found, embedder)
    confidence = round(verdict.score, 4)
    add_trace(run, State.SYNTHESIZE, action="quote", out={"confidence": confidence, "doubt": verdict.doubt})
    if answer is None:
        yield Goto(State.REFUSE)
        return
    hits = {hit.passage.chunk_id: hit for hit in run.found.hits}
    references = [
        reference(span.number, hits[span.chunk_id].passage, span.score, start=span.start, end=span.end)
        for span in answer.citations
    ]
    run.deliver(answer, confidence)
    yield References(knowledge_references=references, done=True)
    for place, sentence in enumerate(answer.sentences):
        last = place == len(answer.sentences) - 1
        yield Answer(content=f"{sentence.marked}{'' if last else ' '}", done=last, data={"provider": answer.provider})
    yield Goto(State.DONE)
