"""An answer as it grows, for whoever tells it in another protocol than ours."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import structlog
from django.utils.translation import gettext as _
from redis.exceptions import RedisError

from agent.openai_api.answers import Answer
from agent.revocation import changed
from agent.runs.follow import follow
from agent.runs.leases import ask_to_stop
from agent.runs.run import launch
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError

log = structlog.get_logger(__name__)


async def pieces(principal: Principal, answer: Answer, *, is_sent: bool) -> AsyncGenerator[str | None, None]:
    """What the answer grows by; None for each moment in which nothing came. Whoever leaves before its end stops the run.

    is_sent: what was said cannot be taken back. An answer that is told anew, because a right has ended or its log is lost, ends with an
    error then; else it begins again.
    """
    run, is_over = answer.run, False
    try:
        launch(run)
        followed = follow(principal, session_id=run.session_id, message_id=run.message_id, is_own=True)
        async with aclosing(followed) as entries:
            async for entry in entries:
                if entry is not None and entry.seq == 0 and answer.text:
                    if is_sent:
                        answer.error = changed(run.language)
                        return
                    answer.begin_again()
                is_over = entry is not None and entry.is_terminal
                yield answer.took(json.loads(entry.body)) if entry else None
    except CopilotError as problem:  # the account was disabled
        answer.error, is_over = str(problem), True
    except RedisError:
        log.exception("openai_api.log_lost", run=str(run.message_id))
        answer.error = _("Something failed on our side. Ask again in a moment.")
    finally:
        if not is_over:
            with suppress(RedisError):
                await ask_to_stop(run.message_id)
