"""The path from a question to an answer with evidence, or to a refusal.

    with a model     Preprocess → LoadAuthz → Route → DocRAGTool → Act → Done
    without one      Preprocess → LoadAuthz → Route → DocRAGTool | SQLTool → ValidateEvidence → Synthesize → Done
                                                    ↘ CalcTool | Clarify | Refuse → Done

With a model, documents are searched first. Act is the conversation in which the model then writes the answer, checked
sentence by sentence, or calls tools, asks back or declines. Without a model, or when it fails, the run goes through the
tool states by rule.

A state is an async generator: it yields events, with those sent together as one item, and last one `Goto`. It sends and
stores nothing itself; the runner does (`agent.runs.run`). The live events and the stored answer come from the same walk.

To read on: `agent/states/`, one file per state; `agent/run_state/run.py`, the run in memory, and `agent/run_state/state.py`, its stored
state; `agent/tools/`, one file per tool; `agent/revocation.py`, which checks rights again before anything is sent;
`agent/runs/`, which starts, keeps and ends a run.
"""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from agent.events import Event
from agent.run_state.run import Goto, Run
from agent.run_state.state import State, TraceStep

Together = tuple[Event, ...]
"""Events between which nothing is read or waited for: rights are looked at once for all of them."""
Step = Callable[[Run], AsyncIterator[Event | Together | Goto]]

NEXT: Mapping[State, frozenset[State]] = {
    State.PREPROCESS: frozenset({State.LOAD_AUTHZ}),
    State.LOAD_AUTHZ: frozenset({State.ROUTE}),
    State.ROUTE: frozenset({State.RETRIEVE, State.QUERY, State.CALCULATE, State.CLARIFY, State.REFUSE}),
    State.RETRIEVE: frozenset({State.ACT, State.VALIDATE_EVIDENCE, State.QUERY}),
    State.QUERY: frozenset({State.ACT, State.VALIDATE_EVIDENCE, State.RETRIEVE, State.CLARIFY}),
    State.ACT: frozenset(
        {
            State.DONE,
            State.CLARIFY,
            State.REFUSE,
            State.CALCULATE,
            State.VALIDATE_EVIDENCE,
            State.SYNTHESIZE,
            State.ROUTE,
        },
    ),
    State.CALCULATE: frozenset({State.DONE, State.RETRIEVE}),
    State.VALIDATE_EVIDENCE: frozenset({State.SYNTHESIZE, State.CLARIFY, State.REFUSE}),
    State.SYNTHESIZE: frozenset({State.DONE, State.CLARIFY, State.REFUSE}),
    State.CLARIFY: frozenset({State.DONE}),
    State.REFUSE: frozenset({State.DONE}),
}


class IllegalTransition(Exception):
    """A transition that is not in the table."""


def require_allowed_state(state: State, after: State | None) -> State:
    """Return `after` where the table allows it from `state`. Raises IllegalTransition."""
    if after is None or after not in NEXT[state]:
        raise IllegalTransition(f"{state} → {after}")
    return after


async def walk_states(run: Run, states: Mapping[State, Step]) -> AsyncIterator[Event | Together]:
    """Walk a run to its end, yielding its states' events in order and tracing each state's time."""
    state = State.PREPROCESS
    while state is not State.DONE:
        began, after, traced = time.time_ns(), None, len(run.state.trace_steps)
        async for item in states[state](run):
            if isinstance(item, Goto):
                after = item.state
            else:
                yield item
        _close_step(run, state, began, traced)
        state = require_allowed_state(state, after)


def _close_step(run: Run, state: State, began: int, traced: int) -> None:
    """Set the duration of the state's step; steps of its tool calls have theirs already.

    began: of the wall clock, in ns.
    """
    own = [step for step in run.state.trace_steps[traced:] if step.node == state and not step.timing_ms]
    step = own[-1] if own else add_trace_step(run, state, action=state.lower())
    step.ts_ms, step.timing_ms = began // 1_000_000, (time.time_ns() - began) // 1_000_000


def add_trace_step(run: Run, node: State, *, action: str, **parts: Any) -> TraceStep:
    """Append a step that ends now to this run's trace.

    Where it has no duration yet, it gets the state's when that ends.
    """
    number = len(run.state.trace_steps) + 1
    parts.setdefault("timing_ms", 0)
    began = time.time_ns() // 1_000_000 - parts["timing_ms"]
    step = TraceStep(step_id=f"step_{number:04d}", ts_ms=began, node=node, action=action, **parts)
    run.state.trace_steps.append(step)
    return step
