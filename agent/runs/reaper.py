"""Close the runs whose process died, so that no answer stays unfinished for ever."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import override
from redis import Redis

from agent import texts
from agent.events import Error, StopReason
from agent.models import Message, Role
from agent.revocation import Grounds
from agent.runs.leases import LEASE_S, lease_key, missing_key
from agent.runs.log import close_log, grounds_in
from audit.actions import Action, Outcome
from audit.record import record
from business.results.visibility import Queried
from knowledge.text.language import language_of

MOST = 1000  # at a time; the next beat takes the rest
CERTAIN_S = 5  # by then a delayed process has renewed its lease
FORGOTTEN_S = 60  # lifetime of the note that a lease was missing


def close_abandoned() -> int:
    """End every run without a process as an error, in its row and in its log; return their number."""
    began_before = timezone.now() - timedelta(seconds=LEASE_S)
    rows = Message.objects.filter(role=Role.ASSISTANT, is_complete=False, created_at__lt=began_before)
    still_open = list(rows.order_by("created_at")[:MOST])
    if not still_open:
        return 0
    with Redis.from_url(settings.REDIS_URL, protocol=2, decode_responses=True) as valkey:
        if valkey.info("server")["uptime_in_seconds"] < LEASE_S:
            return 0  # Valkey has just started, so leases may be missing
        leases = valkey.mget([lease_key(message.pk) for message in still_open])
        abandoned = []
        for message, lease in zip(still_open, leases, strict=True):
            if lease is not None:
                valkey.delete(missing_key(message.pk))
            elif _is_certain(valkey, message.pk):
                abandoned.append(message)
        for message in abandoned:
            if sentence := _close(message, grounds_in(valkey, message.pk)):
                close_log(valkey, message.pk, Error(content=sentence, done=True), message.session_id)
    return len(abandoned)


def _is_certain(valkey: Redis, run_id: UUID) -> bool:
    """Return whether its lease was already missing some time ago: a process may be unable to renew it for a moment."""
    if valkey.set(missing_key(run_id), "1", ex=FORGOTTEN_S, nx=True):
        return False
    return int(valkey.ttl(missing_key(run_id))) <= FORGOTTEN_S - CERTAIN_S


@transaction.atomic
def _close(message: Message, shown: Grounds) -> str:
    """Store the end of the run and audit it with what its log had shown by then.

    Returns the sentence for the person, "" where another process closed it first.
    """
    asked = message.parent
    with override("zh-hans" if asked and language_of(asked.content) == "zh" else "en"):
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
    record(None, Action.QUESTION_ANSWERED, outcome=Outcome.ERROR, reason="Abandoned", run_id=run_id, detail=detail)
    return sentence
