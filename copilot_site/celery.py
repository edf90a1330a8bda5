"""The Celery app. Queues: interactive (a person waits), bulk (imports), maintenance (indexes), watch (reapers, signing, heartbeat)."""

import gc
import os
import time
from typing import Any

from celery import Celery
from celery.signals import (
    setup_logging,
    task_postrun,
    task_prerun,
    worker_before_create_process,
    worker_init,
    worker_ready,
)
from django.conf import settings
from django.db import connections
from django_structlog.celery.steps import DjangoStructLogInitStep

from copilot_site.embedded.services import export_service_addresses
from copilot_site.lib.traces import send_ended_span

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")

HEARTBEAT_KEY = "beat-heartbeat"
HEARTBEAT_TTL_S = 120  # four missed beats
BULK_RELEASE_S = 15.0  # an idle embedder of imports is released

if not settings.configured:  # a worker started by hand beside a running `up`
    export_service_addresses()

app = Celery("copilot")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["knowledge.sources", "knowledge.webhooks"])
app.steps["worker"].add(DjangoStructLogInitStep)


@app.task(name="copilot_site.heartbeat")
def heartbeat() -> None:
    """Record a heartbeat, sent by beat and run on `watch`: a fresh one shows that beat, broker and worker are alive."""
    from django.core.cache import cache

    cache.set(HEARTBEAT_KEY, time.time(), HEARTBEAT_TTL_S)


@task_prerun.connect
def _leave_broken_connections(**_: Any) -> None:
    """Close connections that failed a statement; others are kept from task to task (`CELERY_DB_REUSE_MAX`)."""
    for connection in connections.all(initialized_only=True):
        if connection.errors_occurred:
            connection.close()


@task_prerun.connect
def _note_begin(task: Any, **_: Any) -> None:
    task.request.began_at = time.monotonic()


@task_postrun.connect
def _report(task: Any, state: str | None = None, **_: Any) -> None:
    """Send the span of a task, in the trace of the request that queued it."""
    began = getattr(task.request, "began_at", None)
    if began is not None:
        info = task.request.delivery_info or {}
        attributes = {"celery.task": task.name, "celery.queue": str(info.get("routing_key", ""))}
        is_failed = state == "FAILURE"
        send_ended_span(f"run {task.name}", time.monotonic() - began, attributes, "task_failed" if is_failed else "")


@worker_init.connect
def _share_cores(sender: Any, **_: Any) -> None:
    """Divide the cores among the processes of a worker; let those of imports drop an idle embedder."""
    options = settings.EMBEDDER_OPTIONS
    options["threads"] = -(-options["threads"] // sender.concurrency)
    if "bulk" in sender.app.amqp.queues.consume_from:
        options["release_after"] = BULK_RELEASE_S


@worker_ready.connect
def _take_over(sender: Any, **_: Any) -> None:
    """Have what a killed worker left taken up at once, and not at the next round of beat."""
    for task in ("knowledge.reap_ingestion", "knowledge.run_due_sources"):
        sender.app.send_task(task)


@worker_before_create_process.connect
def _share_what_is_loaded(**_: Any) -> None:
    """Keep what a worker loaded out of its children's garbage collection, which would give each a copy of its own."""
    gc.collect()
    gc.freeze()


@setup_logging.connect
def _logging_is_django_s(**_: Any) -> None:
    """Keep Celery from replacing the logging that Django has set up."""
