"""Close the runs whose process died, so that no answer stays unfinished for ever."""

from datetime import timedelta
from threading import Thread
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from django.utils.translation import override
from redis import Redis
from redis.exceptions import RedisError

from agent import texts
from agent.events import Error, StopReason
from agent.models import Message, MessageRole
from agent.revocation import Grounds
from agent.runs.leases import LEASE_S, build_lease_key, build_missing_key
from agent.runs.log import close_log, read_log_grounds
from audit.actions import Action, Outcome
from audit.record import record_action
from business.results.visibility import Queried
from copilot_site.lib.process_names import has_process_ended
from knowledge.text.language import detect_language

log = structlog.get_logger(__name__)
MAX = 1000  # at a time; the next beat takes the rest
CERTAIN_S = 5  # by then a delayed process has renewed its lease
FORGOTTEN_S = 60  # lifetime of the note that a lease was missing


def close_abandoned_runs() -> int:
    """End every run without a process as an error, in its row and in its log; return their number.

    Of a process of this machine that is known at once, also when a web process starts after another was killed.
    """
    still_open = list(
        Message.objects.filter(role=MessageRole.ASSISTANT, is_complete=False).order_by("created_at")[:MAX]
    )
    if not still_open:
        return 0
    with Redis.from_url(settings.REDIS_URL, protocol=2, decode_responses=True) as valkey:
        # Valkey that has just started may have lost leases
        knows_all = valkey.info("server")["uptime_in_seconds"] >= LEASE_S
        began_before = timezone.now() - timedelta(seconds=LEASE_S)
        holders = valkey.mget([build_lease_key(message.pk) for message in still_open])
        abandoned = []
        for message, holder in zip(still_open, holders, strict=True):
            if holder is not None:
                valkey.delete(build_missing_key(message.pk))
                is_over = has_process_ended(holder)
            else:
                is_over = knows_all and message.created_at < began_before and _is_lease_long_missing(valkey, message.pk)
            if is_over:
                abandoned.append(message)
        for message in abandoned:
            if sentence := _close_run(message, read_log_grounds(valkey, message.pk)):
                close_log(valkey, message.pk, Error(content=sentence, done=True), message.session_id)
    return len(abandoned)


def close_abandoned_runs_at_start() -> None:
    """Close what a killed process left, in a thread, so that its readers do not wait for the next round of the reaper."""
    Thread(target=_close_quietly, name="reaper", daemon=True).start()


def _close_quietly() -> None:
    try:
        close_abandoned_runs()
    except (DatabaseError, RedisError):  # the reaper's round takes it
        log.warning("runs.not_closed_at_start", exc_info=True)
    finally:
        connection.close()


def _is_lease_long_missing(valkey: Redis, run_id: UUID) -> bool:
    """Return whether its lease was already missing some time ago: a process may be unable to renew it for a moment."""
    if valkey.set(build_missing_key(run_id), "1", ex=FORGOTTEN_S, nx=True):
        return False
    return int(valkey.ttl(build_missing_key(run_id))) <= FORGOTTEN_S - CERTAIN_S


@transaction.atomic
def _close_run(message: Message, shown: Grounds) -> str:
    """Store the end of the run and audit it with what its log had shown by then.

    Returns the sentence for the person, "" where another process closed it first.
    """
    asked = message.parent
    with override("zh-hans" if asked and detect_language(asked.content) == "zh" else "en"):
        sentence = str(texts.SERVER_STOPPED)
    closed = Message.objects.filter(pk=message.pk, is_complete=False).update(
        content=sentence, is_complete=True, stop_reason=StopReason.TOOL_ERROR
    )
    if not closed:
        return ""
    detail: dict[str, object] = {
        "chunks": sorted(map(str, shown.chunk_ids)),
        "sources": sorted({Queried.model_validate_json(key).source for key in shown.sources}),
    }
    run_id = str(message.pk)
    record_action(
        None, Action.QUESTION_ANSWERED, outcome=Outcome.ERROR, reason="Abandoned", run_id=run_id, detail=detail
    )
    return sentence
