"""Runs of sources and their lease: one run at a time; a run that lost it, or whose process has ended, writes nothing more."""

import os
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.process_names import find_process_name, has_process_ended
from knowledge.models import Source, SourceRun, SourceRunState, Trigger, WebhookEvent
from knowledge.models.sources import MAX_PROBLEMS
from knowledge.webhooks.announcing import announce_event

LEASE = timedelta(minutes=15)  # longer than any one step: an answer takes 2 minutes at most, a fetch of git some more
KEEP_S = 60.0  # between two times that a run keeps its lease while it asks
COUNTS = ("seen", "added", "changed", "moved", "unchanged", "withdrawn", "failed")


class SourceLeaseLost(Exception):
    """The run lost its lease, and another one may be under way."""


@transaction.atomic
def start_source_run(source: Source, trigger: Trigger, *, by: Principal | None = None) -> SourceRun | None:
    """Start a run that holds the source; None while another one does. by: who asked for it, None for the schedule."""
    Source.unscoped.select_for_update().get(pk=source.pk)
    running = SourceRun.objects.filter(source=source, state=SourceRunState.RUNNING).first()
    if running is not None:
        if not _is_abandoned(running):
            return None
        _close_abandoned_run(running)
    run = SourceRun.objects.create(
        source=source,
        trigger=trigger,
        lease_expires_at=timezone.now() + LEASE,
        lease_holder=find_process_name(os.getpid()),
    )
    record_action(by, Action.DOCUMENT_SOURCE_READ, source, detail={"run": run.pk, "trigger": str(trigger)})
    return run


def close_abandoned_source_runs() -> list[Source]:
    """Close the runs that lost their process; return their sources."""
    closed = []
    for seen in SourceRun.objects.filter(state=SourceRunState.RUNNING):
        if _is_abandoned(seen):
            with transaction.atomic():
                source = Source.unscoped.select_for_update().get(pk=seen.source_id)
                if run := SourceRun.objects.filter(pk=seen.pk, state=SourceRunState.RUNNING).first():
                    _close_abandoned_run(run)
                    closed.append(source)
    return closed


def _is_abandoned(run: SourceRun) -> bool:
    is_held = run.lease_expires_at is not None and run.lease_expires_at > timezone.now()
    return not is_held or has_process_ended(run.lease_holder)


def _close_abandoned_run(run: SourceRun) -> None:
    run.problem = _("Its worker ended too early.")
    _close_run(run, SourceRunState.FAILED)


def store_run_progress(run: SourceRun) -> None:
    """Store a run's progress, and keep its lease. Raises Overtaken."""
    counts = {name: getattr(run, name) for name in COUNTS}
    held = SourceRun.objects.filter(pk=run.pk, state=SourceRunState.RUNNING)
    if not held.update(lease_expires_at=timezone.now() + LEASE, problems=run.problems, **counts):
        raise SourceLeaseLost


def build_leased_pace(run: SourceRun, pace: Callable[[], None]) -> Callable[[], None]:
    """Return a pace that also keeps the run's lease: reading rights takes a request for each of thousands of pages. Raises Overtaken."""
    told_at = time.monotonic()

    def wait() -> None:
        nonlocal told_at
        pace()
        if time.monotonic() - told_at > KEEP_S:
            store_run_progress(run)
            told_at = time.monotonic()

    return wait


def lock_held_run(run: SourceRun) -> None:
    """Lock a run that still holds its source, inside the caller's transaction. Raises Overtaken."""
    if not SourceRun.objects.select_for_update().filter(pk=run.pk, state=SourceRunState.RUNNING).exists():
        raise SourceLeaseLost


def record_run_failure(run: SourceRun, what: str, why: str) -> None:
    """Count a failure, and keep the first ones with their reasons."""
    run.failed += 1
    if len(run.problems) < MAX_PROBLEMS:
        run.problems.append({"what": clean_foreign_text(what)[:300], "why": clean_foreign_text(why)[:500]})


def clean_foreign_text(text: str) -> str:
    """Return a foreign text that the database accepts: without NUL characters and lone surrogates."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "?")


@transaction.atomic
def finish_source_run(run: SourceRun, *, problem: str = "") -> None:
    """End a run: done, in part where something failed, failed where nothing was read. Raises Overtaken."""
    lock_held_run(run)
    run.problem = clean_foreign_text(problem)[:500]
    touched = run.added + run.changed + run.moved + run.unchanged + run.withdrawn
    if problem and not touched:
        _close_run(run, SourceRunState.FAILED)
    else:
        _close_run(run, SourceRunState.PARTIAL if problem or run.failed else SourceRunState.DONE)


def _close_run(run: SourceRun, state: SourceRunState) -> None:
    run.state, run.finished_at, run.lease_expires_at = state, timezone.now(), None
    run.save()
    path = reverse("source-of-documents", args=[run.source_id])
    announce_event(WebhookEvent.SOURCE_ENDED, path, source_id=str(run.source_id), run_id=run.pk, state=str(state))
    record_action(
        None,
        Action.DOCUMENT_SOURCE_READ,
        run.source,
        detail={"run": run.pk, "state": str(state), **{name: getattr(run, name) for name in COUNTS}},
    )


def count_consecutive_failures(source: Source) -> int:
    """Return how many of the newest runs failed, in a row."""
    states = (
        SourceRun.objects.filter(source=source).order_by("-started_at", F("pk").desc()).values_list("state", flat=True)
    )
    count = 0
    for state in states[:10]:
        if state not in {SourceRunState.FAILED, SourceRunState.PARTIAL}:
            break
        count += 1
    return count
