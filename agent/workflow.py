"""How a question becomes an answer with evidence, or an honest no.

    Preprocess → LoadAuthz → DocRAGTool → ValidateEvidence → Synthesize → Done
                                                          ↘ Refuse ↗

A state is an async generator: it yields events, and last of all one `Goto`. It sends nothing and stores nothing; whoever walks the
run does (`agent.runs`). What a client sees live and what is stored come from the same walk.
"""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from agent.events import Event
from agent.state import Goto, Run, State, TraceStep

Step = Callable[[Run], AsyncIterator[Event | Goto]]

NEXT: Mapping[State, frozenset[State]] = {
    State.PREPROCESS: frozenset({State.LOAD_AUTHZ}),
    State.LOAD_AUTHZ: frozenset({State.RETRIEVE}),
    State.RETRIEVE: frozenset({State.VALIDATE_EVIDENCE}),
    State.VALIDATE_EVIDENCE: frozenset({State.SYNTHESIZE, State.REFUSE}),
    State.SYNTHESIZE: frozenset({State.DONE, State.REFUSE}),
    State.REFUSE: frozenset({State.DONE}),
}


class IllegalTransition(Exception):
    """A state went where the table does not lead."""


def allowed_next(state: State, after: State | None) -> State:
    """`after`, if the table leads there from `state`; raises IllegalTransition."""
    if after is None or after not in NEXT[state]:
        raise IllegalTransition(f"{state} → {after}")
    return after


async def walk(run: Run, states: Mapping[State, Step]) -> AsyncIterator[Event]:
    """Walk a run to its end, yielding the events of its states in order and tracing each state's time."""
    state = State.PREPROCESS
    while state is not State.DONE:
        began, after = time.monotonic(), None
        async for item in states[state](run):
            if isinstance(item, Goto):
                after = item.state
            else:
                yield item
        _close_step(run, state, began)
        state = allowed_next(state, after)


def _close_step(run: Run, state: State, began: float) -> None:
    steps = run.state.trace_steps
    if not steps or steps[-1].node != state:  # a state that has nothing to add to its trace
        run.state.trace_steps.append(trace(run, state, action=state.lower()))
    steps[-1].timing_ms = round((time.monotonic() - began) * 1000)


def trace(run: Run, state: State, *, action: str, **parts: Any) -> TraceStep:
    """A step of this run's trace; its time is filled in when the state ends."""
    number = len(run.state.trace_steps) + 1
    return TraceStep(
        step_id=f"step_{number:04d}", ts_ms=time.time_ns() // 1_000_000, node=state, action=action, timing_ms=0, **parts
    )
