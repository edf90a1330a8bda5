from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async

from agent.events import Answer, Event, References
from agent.evidence import reference
from agent.providers import extractive
from agent.state import Goto, Run, State
from agent.workflow import trace
from knowledge.engine import engine


async def synthesize(run: Run) -> AsyncIterator[Event | Goto]:
    """Write the answer from the evidence alone, or go and say that it does not confirm the matter."""
    assert run.found is not None
    embedder = (await sync_to_async(engine)()).embedder
    answer, verdict = await sync_to_async(extractive.quote)(run.question, run.found, embedder)
    run.state.trace_steps.append(
        trace(
            run, State.SYNTHESIZE, action="quote", out={"confidence": round(verdict.score, 4), "doubt": verdict.doubt}
        )
    )
    if answer is None:
        yield Goto(State.REFUSE)
        return
    run.answer = answer
    cited = [{"evidence_id": span.evidence_id, "start": span.start, "end": span.end} for span in answer.citations]
    run.state.draft = {"answer": answer.text, "citations": cited, "confidence": round(verdict.score, 4)}
    run.state.output = {
        "final_answer": answer.text,
        "final_citations": cited,
        "stop_reason": run.stop_reason.value,
    }
    hits = {hit.passage.chunk_id: hit for hit in run.found.hits}
    references = [reference(s.number, hits[s.chunk_id], start=s.start, end=s.end) for s in answer.citations]
    yield References(knowledge_references=references, done=True)
    for place, sentence in enumerate(answer.sentences):
        marks = "".join(f"[{number}]" for number in sentence.citations)
        last = place == len(answer.sentences) - 1
        yield Answer(
            content=f"{sentence.text}{marks}{'' if last else ' '}", done=last, data={"provider": answer.provider}
        )
    yield Goto(State.DONE)
