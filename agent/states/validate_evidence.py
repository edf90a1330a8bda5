from collections.abc import AsyncIterator

from agent.events import Event
from agent.state import Goto, Run, State


async def validate_evidence(run: Run) -> AsyncIterator[Event | Goto]:
    """Without any passage there is nothing to answer from."""
    ok = bool(run.state.evidence_items)
    run.state.plan["validation"] = {"ok": ok, "reason": None if ok else "no_evidence"}
    yield Goto(State.SYNTHESIZE if ok else State.REFUSE)
