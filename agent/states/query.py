import json
import time
from collections.abc import AsyncIterator

from agent.events import Event
from agent.state import Goto, Run, State
from agent.states.act import keep
from agent.tools.base import ToolContext
from agent.tools.calling import call_tool

TOOL = "database_query"


async def query(run: Run) -> AsyncIterator[Event | Goto]:
    """Ask the business data without a model's choosing; documents are searched where it has no answer."""
    began = time.monotonic()
    ctx = ToolContext(run.principal, run.scope, run.language)
    arguments = json.dumps({"question": run.state.input.normalized_query}, ensure_ascii=False)
    called = await call_tool(TOOL, arguments, allowed=[TOOL], ctx=ctx)
    keep(run, called, ms=round((time.monotonic() - began) * 1000))
    yield Goto(State.VALIDATE_EVIDENCE if called.result.findings else State.RETRIEVE)
