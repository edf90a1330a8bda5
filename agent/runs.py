"""Start a run, walk it, store what came of it. Streamed and unstreamed callers consume the same generator."""

import time
from asyncio import CancelledError
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from uuid import UUID

import structlog
from asgiref.sync import sync_to_async
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent.events import Complete, Error, Event, SessionTitle
from agent.models import Citation, Message, Role, Session, StopReason
from agent.sessions import get_session, title_from
from agent.state import Run
from agent.states import STATES
from agent.workflow import walk
from audit.actions import Action, Outcome
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, InvalidInput
from knowledge.ingestion.normalise import normalise
from knowledge.retrieval.search import Scope

log = structlog.get_logger(__name__)

QUESTION_LENGTH = 4_000  # characters: about four pages; what is longer is a document


async def ask(
    principal: Principal, *, session_id: UUID, question: str, scope: Scope | None = None, language: str = "en"
) -> AsyncIterator[Event]:
    """Answer one question in a conversation of this person, yielding events with gapless `seq`; the last is Complete or Error.

    language: of the words that are ours (refusals, errors), `en` or `zh-hans`. The audit has the question before the first
    event, and the stored answer before the last one. Raises NotFound (not their conversation) and InvalidInput (no question,
    too long) before anything is stored.
    """
    run = await sync_to_async(_begin)(principal, session_id, question, scope or Scope(), language)
    seq = 0
    async with aclosing(_events(run)) as events:
        async for event in events:
            yield event.model_copy(
                update={
                    "seq": seq,
                    "id": str(run.message_id),
                    "session_id": str(run.session_id),
                    "assistant_message_id": str(run.message_id),
                }
            )
            seq += 1


async def _events(run: Run) -> AsyncGenerator[Event, None]:
    began = time.monotonic()
    try:
        async for event in walk(run, STATES):
            yield event
        title = await sync_to_async(_finish)(run, began)
        if title:
            yield SessionTitle(content=title, done=True)
        yield Complete(done=True, data={"stop_reason": run.stop_reason.value})
    except Exception as error:
        if not isinstance(error, CopilotError):
            log.exception("run.failed", run=str(run.message_id))
        yield Error(content=await sync_to_async(_fail)(run, began, error), done=True)
    except (GeneratorExit, CancelledError) as gone:  # whoever listened went away: the answer must not spin for ever
        await sync_to_async(_fail)(run, began, gone)
        raise


@transaction.atomic
def _begin(principal: Principal, session_id: UUID, question: str, scope: Scope, language: str) -> Run:
    session = get_session(principal, session_id)
    asked = check_question(question)
    Message.objects.create(session=session, role=Role.USER, content=asked)
    answer = Message.objects.create(session=session, role=Role.ASSISTANT, is_complete=False)
    record(principal, Action.QUESTION_ASKED, session, run_id=str(answer.pk), detail={"characters": len(asked)})
    return Run(
        session_id=session.pk,
        message_id=answer.pk,
        principal=principal,
        question=asked,
        scope=scope,
        language=language,
    )


def check_question(question: str) -> str:
    """The question as it is stored; raises InvalidInput when there is none, or too much of it."""
    asked = normalise(question).strip()
    if not asked:
        raise InvalidInput(_("Ask a question: the text is empty."))
    if len(asked) > QUESTION_LENGTH:
        raise InvalidInput(
            _("A question has at most %(most)s characters; this one has %(count)s. Upload long texts as documents.")
            % {"most": QUESTION_LENGTH, "count": len(asked)}
        )
    return asked


@transaction.atomic
def _finish(run: Run, began: float) -> str:
    """Store the answer; returns the conversation's new title, or "" when it had one."""
    answer = run.answer
    Message.objects.filter(pk=run.message_id).update(
        content=run.state.output.get("final_answer", ""),
        sentences=[{"text": s.text, "citations": list(s.citations)} for s in answer.sentences] if answer else [],
        stop_reason=run.stop_reason,
        provider=answer.provider if answer else "",
        state=run.state.stored(),
        is_complete=True,
        duration_ms=_since(began),
    )
    citations = answer.citations if answer else []
    Citation.objects.bulk_create(Citation(message_id=run.message_id, **vars(citation)) for citation in citations)
    session = Session.objects.get(pk=run.session_id)
    title = "" if session.title else title_from(run.question)
    session.title = session.title or title
    session.save(update_fields=["title", "updated_at"])
    evidence = [item.evidence_id for item in run.state.evidence_items]
    record(
        run.principal,
        Action.QUESTION_ANSWERED,
        session,
        outcome=Outcome.ALLOW if run.stop_reason == StopReason.OK else Outcome.DENY,
        reason=run.stop_reason,
        run_id=str(run.message_id),
        detail={"evidence": evidence, "cited": [citation.evidence_id for citation in citations]},
    )
    return title


@transaction.atomic
def _fail(run: Run, began: float, error: BaseException) -> str:
    """Close the answer as failed, unless it is stored already; returns the sentence for the person."""
    with override(run.language):
        text = (
            str(error)
            if isinstance(error, CopilotError)
            else _("Something failed on our side; your question is kept. Ask it again in a moment.")
        )
    closed = Message.objects.filter(pk=run.message_id, is_complete=False).update(
        content=text,
        stop_reason=StopReason.TOOL_ERROR,
        state=run.state.stored(),
        is_complete=True,
        duration_ms=_since(began),
    )
    if closed:
        record(
            run.principal,
            Action.QUESTION_ANSWERED,
            outcome=Outcome.ERROR,
            reason=type(error).__name__,
            run_id=str(run.message_id),
        )
    return text


def _since(began: float) -> int:
    """Milliseconds."""
    return round((time.monotonic() - began) * 1000)
