from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent.budget import HARD
from agent.events import Answer, Event
from agent.models import StopReason
from agent.revocation import changed
from agent.state import Goto, Output, Route, Run, State, Validation
from knowledge.retrieval.plan import is_nothing_in
from knowledge.selectors import discoverable_for


async def refuse(run: Run) -> AsyncIterator[Event | Goto]:
    """Say honestly that there is no answer here. The same words whether a document is missing or not theirs; only a folder
    whose name may be told is named.
    """
    run.stop_reason, text = await sync_to_async(_said)(run)
    if run.stop_reason is not StopReason.REFUSED:
        denied = run.stop_reason is StopReason.PERMISSION_DENIED
        run.state.plan.validation = Validation(ok=False, reason="permission_denied" if denied else "no_evidence")
    run.state.output = Output(final_answer=text, stop_reason=run.stop_reason)
    yield Answer(content=text, done=True)
    yield Goto(State.DONE)


def _said(run: Run) -> tuple[StopReason, str]:
    with override(run.language):
        if run.state.plan.route is Route.REFUSE:
            return StopReason.REFUSED, _(
                "I do not help with that: I answer questions about documents and data that you may read, and change nothing."
            )
        if is_nothing_in(run.principal, run.scope):
            return StopReason.NO_EVIDENCE, _(
                "There is nothing in the chosen scope that you may read. Choose another one, or none."
            )
        found = run.state.plan.validation
        if found is not None and found.reason == "permission_denied":  # all of it was theirs when it was found
            return StopReason.PERMISSION_DENIED, changed(run.language)
        nothing = _("I cannot confirm this from the documents you may read.")
        folders = discoverable_for(run.principal, run.state.input.normalized_query)
        if folders:
            names = ", ".join(f"“{folder.name}”" for folder in folders)
            more = _("These folders may hold it, and you may ask for access to them: %(names)s.") % {"names": names}
            return StopReason.PERMISSION_DENIED, f"{nothing} {more}"
        if run.spent.stopped_by in HARD:
            more = _("A limit was reached before the search was done; a narrower question may help.")
            return StopReason.BUDGET_EXHAUSTED, f"{nothing} {more}"
        return StopReason.NO_EVIDENCE, nothing
