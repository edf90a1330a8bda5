from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.utils.translation import override

from agent import texts
from agent.events import Answer, Event, StopReason
from agent.passages.rules import GREETING, UNCLEAR
from agent.run_state.cited_answer import Output
from agent.run_state.run import Goto, Run
from agent.run_state.state import State
from knowledge.tool_selectors import list_documents_in_scope

MAX = 3


async def clarify(run: Run) -> AsyncIterator[Event | Goto]:
    """Ask back, with complete questions to choose from, or with a request to approve a call."""
    if approval := run.state.plan.approval:
        with override(run.language):
            text = str(texts.MAY_I_CALL) % {"tool": approval.title}
        run.stop_reason = StopReason.NEED_CLARIFY
        run.state.output = Output(final_answer=text, stop_reason=run.stop_reason)
        yield Answer(content=text, done=True, data={"approval": approval.model_dump(mode="json")})
        yield Goto(State.DONE)
        return
    has_lost_thread = run.state.plan.intent == UNCLEAR and run.is_follow_up
    if not run.state.plan.clarifying_questions and not has_lost_thread:
        run.state.plan.clarifying_questions = await sync_to_async(_suggest_document_questions)(run)
    readings = run.state.plan.clarifying_questions
    with override(run.language):
        if run.state.plan.intent == GREETING:
            text = str(texts.WHO_I_AM)
        elif has_lost_thread:
            text = str(texts.LOST_THREAD)
        elif readings:
            text = str(texts.WHICH_READING)
        else:
            text = str(texts.ASK_A_QUESTION)
    run.stop_reason = StopReason.NEED_CLARIFY
    run.state.output = Output(final_answer=text, stop_reason=run.stop_reason)
    yield Answer(content=text, done=True, data={"readings": readings})
    yield Goto(State.DONE)


def _suggest_document_questions(run: Run) -> list[str]:
    """Return questions about the latest documents that this person may read."""
    titles = (
        list_documents_in_scope(run.principal, run.scope).order_by("-updated_at").values_list("title", flat=True)[:MAX]
    )
    with override(run.language):
        return [str(texts.ABOUT_A_DOCUMENT) % {"title": title} for title in titles]
