from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async

from agent.events import Event
from agent.revocation import remove_unreadable_evidence
from agent.run_state.run import Goto, Run
from agent.run_state.state import State, Validation
from agent.workflow import add_trace_step


async def validate_evidence(run: Run) -> AsyncIterator[Event | Goto]:
    """Check that there is evidence this person may still read; rights can change while a model runs."""
    hidden = await sync_to_async(remove_unreadable_evidence)(run) if run.spent.steps else 0
    ok = bool(run.findings)
    denied = not ok and any(item.authz.result == "filtered" for item in run.state.evidence_items)
    run.state.plan.validation = Validation(
        ok=ok, reason=None if ok else "permission_denied" if denied else "no_evidence"
    )
    add_trace_step(
        run, State.VALIDATE_EVIDENCE, action="validate", out={"note": f"usable={len(run.findings)} filtered={hidden}"}
    )
    asks_back = bool(run.state.plan.clarifying_questions)
    yield Goto(State.SYNTHESIZE if ok else State.CLARIFY if asks_back else State.REFUSE)
