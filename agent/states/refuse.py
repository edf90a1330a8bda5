from collections.abc import AsyncIterator

from django.utils.translation import gettext as _
from django.utils.translation import override

from agent.events import Answer, Event
from agent.models import StopReason
from agent.state import Goto, Run, State


async def refuse(run: Run) -> AsyncIterator[Event | Goto]:
    """Say honestly that nothing this person may read confirms it. The same words whether it is missing or not theirs."""
    with override(run.language):
        text = _("I cannot confirm this from the documents you may read.")
    run.stop_reason = StopReason.NO_EVIDENCE
    run.state.plan["validation"] = {"ok": False, "reason": "no_evidence"}
    run.state.output = {"final_answer": text, "final_citations": [], "stop_reason": run.stop_reason.value}
    yield Answer(content=text, done=True)
    yield Goto(State.DONE)
