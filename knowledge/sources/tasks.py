"""Tasks for sources. Arguments are ids; a run's progress is on its row."""

from uuid import UUID

import structlog
from celery import shared_task
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from authz.principal import Principal
from copilot_site.lib.errors import NotFound
from knowledge.models import Source, Trigger
from knowledge.sources.reading import read_source
from knowledge.sources.runs import close_abandoned_source_runs, count_consecutive_failures
from knowledge.sources.schedule import SOON, compute_next_run

log = structlog.get_logger(__name__)
QUEUE = "bulk"


@shared_task(name="knowledge.run_source")
def run_source(source_id: str, trigger: str, user_id: int = 0) -> None:
    """Read a source. user_id: of whoever asked for it, 0 for nobody; deleted people count as nobody."""
    if not Source.unscoped.filter(pk=source_id).exists():
        return
    try:
        by = Principal.load(user_id) if user_id else None
    except NotFound:
        by = None
    if read_source(UUID(source_id), Trigger(trigger), by=by) is None:
        log.info("source.busy", source=source_id)
        if trigger == Trigger.WEBHOOK:  # the change may be too late for the running run
            Source.unscoped.filter(pk=source_id).update(next_at=timezone.now() + SOON)


@shared_task(name="knowledge.run_due_sources")
def run_due_sources() -> None:
    """Queue due sources. Each is rescheduled before it is sent: a lost message costs one turn; nothing is sent twice.

    A run whose worker was killed is begun again at once, the first time.
    """
    now = timezone.now()
    for source in close_abandoned_source_runs():
        failures = count_consecutive_failures(source)
        at = now if failures == 1 else compute_next_run(source, now, failures=failures)
        Source.unscoped.filter(pk=source.pk, is_active=True).update(next_at=at)
    due = Source.unscoped.filter(Q(next_at__lte=now), is_active=True).order_by(F("next_at"))
    for source in due:
        with transaction.atomic():
            mine = Source.unscoped.select_for_update(skip_locked=True).filter(pk=source.pk, next_at=source.next_at)
            if mine.update(next_at=compute_next_run(source, now)):
                queue_source_run(source, Trigger.SCHEDULE)


def queue_source_run(source: Source, trigger: Trigger, *, by: Principal | None = None) -> None:
    """Queue the reading of a source when the transaction commits."""
    args = (str(source.pk), str(trigger), by.user_id if by else 0)
    transaction.on_commit(lambda: run_source.apply_async(args=args, queue=QUEUE), robust=True)
