"""Wait until versions are read: by the workers of the running system, and where no worker serves their queue, here."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from uuid import UUID

import structlog
from celery import current_app
from django.db import connection
from django.db.models import Q
from django.db.models.functions import Now
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from copilot_site.lib.database import open_prepared_cursor
from knowledge.ingestion.lease import MAX_ATTEMPTS
from knowledge.ingestion.pipeline import TEMPORARY, fail_exhausted_version, run_ingestion
from knowledge.models import DocumentVersion, ParseStatus

POLL_S = 1.0
ASK_S = 20.0  # between two looks for workers, while there are none
PING_S = 2.0  # how long they may take to answer
FINISHED = frozenset((ParseStatus.COMPLETED.value, ParseStatus.FAILED.value))

log = structlog.get_logger(__name__)


def wait_for_versions(ids: Sequence[UUID], *, queue: str, done: Callable[[int], object]) -> Counter[str]:
    """Wait until every version is completed or failed; return the count of each state, without deleted versions.

    queue: where they wait. done: told how many are finished, whenever that may have changed. Whoever starts or stops a system
    meanwhile only changes who reads: a version has one reader at a time (`lease`), and what a killed one left is taken up here.
    """
    looked_at, has_workers = 0.0, False
    while True:
        counts = _count_by_state(ids)
        done(sum(counts[status] for status in FINISHED))
        if not counts.keys() - FINISHED:
            return counts
        if time.monotonic() - looked_at >= ASK_S:
            has_workers, looked_at = is_queue_served(queue), time.monotonic()
        version = None if has_workers else _find_waiting_version(ids)
        if version is None:
            time.sleep(POLL_S)
        elif version.attempts >= MAX_ATTEMPTS:
            fail_exhausted_version(version)
        else:
            _ingest_version(version)


def is_queue_served(queue: str) -> bool:
    """Tell whether a worker that serves this queue answers."""
    try:
        workers = current_app.control.inspect(timeout=PING_S).active_queues() or {}
    except (KombuError, RedisError, OSError):
        return False
    return any(item["name"] == queue for queues in workers.values() for item in queues)


def _ingest_version(version: DocumentVersion) -> None:
    try:
        run_ingestion(version.pk)
    except TEMPORARY:  # it was given back, with its attempt counted
        log.warning("ingestion.tried_again", version=str(version.pk))
        time.sleep(POLL_S)


def _find_waiting_version(ids: Sequence[UUID]) -> DocumentVersion | None:
    """Return the next version that is unclaimed or was abandoned."""
    left = Q(parse_status=ParseStatus.PROCESSING, lease_expires_at__lt=Now())
    free = DocumentVersion.unscoped.filter(Q(parse_status=ParseStatus.PENDING) | left)
    return free.filter(pk__in=ids).order_by("created_at").first()


def _count_by_state(ids: Sequence[UUID]) -> Counter[str]:
    """Count versions by state. The ids are one array: thousands of parameters each second would slow the workers down."""
    with open_prepared_cursor(connection, binary=True) as cursor:
        cursor.execute(
            "SELECT parse_status, count(*) FROM knowledge_documentversion WHERE id = ANY(%s::uuid[]) GROUP BY 1",
            [list(ids)],
        )
        return Counter(dict(cursor.fetchall()))
