import json
import time
from collections.abc import AsyncIterator

from agent.events import Answer, Event
from agent.run_state.cited_answer import CitedAnswer, CitedSentence, Draft, Output
from agent.run_state.run import Goto, Run
from agent.run_state.state import State
from agent.tools.base import ToolContext
from agent.tools.calling import call_tool
from agent.tools.keeping import store_call_result

TOOL = "calculate"


async def calculate(run: Run) -> AsyncIterator[Event | Goto]:
    """Evaluate the question; search for it where it cannot be evaluated."""
    began = time.monotonic()
    ctx = ToolContext.of(run)
    arguments = json.dumps({"expression": (run.expression or run.state.input.normalized_query)[:500]})
    called = await call_tool(TOOL, arguments, allowed=[TOOL], ctx=ctx)
    store_call_result(run, called, ms=round((time.monotonic() - began) * 1000))
    if not called.result.success:
        yield Goto(State.RETRIEVE)
        return
    text = called.result.output
    run.answer = CitedAnswer(TOOL, (CitedSentence(text, ()),), ())
    run.state.draft = Draft(answer=text, confidence=1.0)
    run.state.output = Output(final_answer=text, stop_reason=run.stop_reason)
    yield Answer(content=text, done=True, data={"provider": TOOL})
    yield Goto(State.DONE)
