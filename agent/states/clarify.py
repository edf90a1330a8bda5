from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent.events import Answer, Event
from agent.models import StopReason
from agent.rule_routing.intents import GREETING, UNCLEAR
from agent.state import Goto, Output, Run, State
from knowledge.tool_selectors import documents_within

MOST = 3


async def clarify(run: Run) -> AsyncIterator[Event | Goto]:
    """Ask back, with complete questions to choose from."""
    is_unclear = run.state.plan.intent == UNCLEAR
    if not run.state.plan.clarifying_questions and not is_unclear:
        run.state.plan.clarifying_questions = await sync_to_async(_of_documents)(run)
    readings = run.state.plan.clarifying_questions
    with override(run.language):
        if run.state.plan.intent == GREETING:
            text = _("I answer from the documents and data that you may read, and show what each answer stands on.")
        elif is_unclear:
            text = _("I am not sure how this goes on from the question before it. Ask it in a whole sentence.")
        elif readings:
            text = _("What do you mean?")
        else:
            text = _("What would you like to know? Ask it in a whole sentence.")
    run.stop_reason = StopReason.NEED_CLARIFY
    run.state.output = Output(final_answer=text, stop_reason=run.stop_reason)
    yield Answer(content=text, done=True, data={"readings": readings})
    yield Goto(State.DONE)


def _of_documents(run: Run) -> list[str]:
    """Questions about the latest documents that this person may read."""
    titles = documents_within(run.principal, run.scope).order_by("-updated_at").values_list("title", flat=True)[:MOST]
    with override(run.language):
        return [_("What does “%(title)s” say?") % {"title": title} for title in titles]
