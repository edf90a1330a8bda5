"""Start a run, walk it, store what came of it. Streamed and unstreamed callers consume the same generator."""

import time
from asyncio import CancelledError
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from uuid import UUID

import structlog
from asgiref.sync import sync_to_async

from agent.events import Complete, Error, Event, SessionTitle
from agent.profiles import Options
from agent.records import begin, fail, finish
from agent.revocation import guarded
from agent.state import Run
from agent.states import STATES
from agent.workflow import walk
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError
from knowledge.retrieval.search import Scope

log = structlog.get_logger(__name__)


async def ask(
    principal: Principal,
    *,
    session_id: UUID,
    question: str,
    scope: Scope | None = None,
    language: str = "en",
    options: Options | None = None,
) -> AsyncIterator[Event]:
    """Answer one question in a conversation of this person, yielding events with gapless `seq`; the last is Complete or Error.

    language: of the words that are ours (refusals, errors), `en` or `zh-hans`. options: profile, model, title. The audit has
    the question before the first event, and the stored answer before the last one. Raises NotFound (not their conversation, no
    such profile) and InvalidInput (no question, too long, no such model) before anything is stored.
    """
    run = await sync_to_async(begin)(
        principal, session_id, question, scope=scope or Scope(), language=language, options=options or Options()
    )
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
        async for event in guarded(run, walk(run, STATES)):
            yield event
        title = await sync_to_async(finish)(run, began)
        if title:
            yield SessionTitle(content=title, done=True)
        yield Complete(done=True, data=_ending(run))
    except Exception as error:
        if not isinstance(error, CopilotError):
            log.exception("run.failed", run=str(run.message_id))
        yield Error(content=await sync_to_async(fail)(run, began, error), done=True)
    except (GeneratorExit, CancelledError) as gone:  # whoever listened went away: the answer must not spin for ever
        await sync_to_async(fail)(run, began, gone)
        raise
    finally:
        if run.model:
            await run.model.aclose()


def _ending(run: Run) -> dict[str, object]:
    """What the last event says of a run; notices only where there are any."""
    ending: dict[str, object] = {"stop_reason": run.stop_reason.value}
    return ending | ({"notices": run.notices} if run.notices else {})
