"""The lease of a version's worker: it is in the version's row, renewed during work, and fences every write.

A queue may hand a task out twice, late or never. Claiming is one UPDATE that succeeds for one worker; a worker that was too slow
finds its lease gone at its next write and stops without having written anything. The row names the worker's process, too: what a
process of this machine held when it ended is free at once, and what one of another machine held when its lease runs out, by the
clock of the database.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from uuid import UUID, uuid4

import structlog
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from copilot_site.lib.database import open_prepared_cursor
from copilot_site.lib.process_names import find_process_name, has_process_ended
from knowledge.models import DocumentVersion, ParseStatus

LEASE = timedelta(seconds=45)  # renewed three times as often while work goes on
RENEW_S = LEASE.total_seconds() / 3
MAX_S = 3600  # the longest renewal: a hanging worker loses its lease, too
MAX_ATTEMPTS = 3

log = structlog.get_logger(__name__)


class LeaseLost(Exception):
    """Another worker took over; the work since the last write is dropped."""


# Asynchronous commits: work lost in a crash of the database is claimed, or done, again. One prepared statement each.
_UNHURRIED = "set_config('synchronous_commit', 'off', true)"
_UNTIL = f"statement_timestamp() + interval '{LEASE.total_seconds()} s'"
_CLAIM = f"""
UPDATE knowledge_documentversion
SET parse_status = '{ParseStatus.PROCESSING}', lease = %(lease)s::uuid, lease_expires_at = {_UNTIL},
    lease_holder = %(holder)s, queued_at = NULL, attempts = attempts + 1
WHERE id = %(version)s::uuid AND attempts < {MAX_ATTEMPTS} AND (
    parse_status = '{ParseStatus.PENDING}'
    OR parse_status = '{ParseStatus.PROCESSING}' AND lease_expires_at < statement_timestamp()
)
RETURNING {_UNHURRIED}"""  # noqa: S608 - made of constants
_RENEW = f"""
UPDATE knowledge_documentversion SET lease_expires_at = {_UNTIL} WHERE id = %s::uuid AND lease IS NOT DISTINCT FROM %s::uuid
RETURNING {_UNHURRIED}"""  # noqa: S608 - made of constants


def claim_version(version_id: UUID) -> DocumentVersion | None:
    """Take the version for this worker, counting the attempt; None when it is finished, gone, or somebody else's."""
    return _claim_by_statement(version_id, _CLAIM)


def _claim_by_statement(version_id: UUID, statement: str) -> DocumentVersion | None:
    if not _try_claim(version_id, statement) and not (
        expire_abandoned_leases(pk=version_id) and _try_claim(version_id, statement)
    ):
        return None
    return DocumentVersion.unscoped.select_related("document__folder", "document__knowledge_base").get(pk=version_id)


def _try_claim(version_id: UUID, statement: str) -> bool:
    values: dict[str, UUID | str] = {"lease": uuid4(), "holder": find_process_name(os.getpid()), "version": version_id}
    with open_prepared_cursor(connection) as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone() is not None


def expire_abandoned_leases(**which: UUID) -> int:
    """Let the leases run out whose process has ended on this machine; return how many. which: of all versions."""
    held = DocumentVersion.unscoped.filter(lease_expires_at__gt=Now(), **which).values_list("lease", "lease_holder")
    ended = [lease for lease, holder in held if has_process_ended(holder)]
    return DocumentVersion.unscoped.filter(lease__in=ended).update(lease_expires_at=Now()) if ended else 0


_CLAIM_READ = f"""
UPDATE knowledge_documentversion SET lease = %(lease)s::uuid, lease_expires_at = {_UNTIL},
    lease_holder = %(holder)s
WHERE id = %(version)s::uuid AND parse_status = '{ParseStatus.COMPLETED}'
    AND (lease IS NULL OR lease_expires_at < statement_timestamp())
RETURNING {_UNHURRIED}"""  # noqa: S608 - made of constants


def claim_read_version(version_id: UUID) -> DocumentVersion | None:
    """Take a read version, which goes on answering, for work on its passages; None when it is unread, gone, or taken.
    `release_version` gives it back.
    """
    return _claim_by_statement(version_id, _CLAIM_READ)


def release_version(version: DocumentVersion) -> None:
    """Give back a version taken by `claim_read_version`, unless another worker took over."""
    DocumentVersion.unscoped.filter(pk=version.pk, lease=version.lease).update(lease=None, lease_expires_at=None)


@contextmanager
def open_fenced_transaction(version: DocumentVersion) -> Iterator[None]:
    """Yield a transaction that holds only while the lease does, and renews it. Raises LeaseLost."""
    with transaction.atomic():
        with open_prepared_cursor(connection) as cursor:
            cursor.execute(_RENEW, [version.pk, version.lease])
            if not cursor.fetchone():
                raise LeaseLost(str(version.pk))
        yield


@contextmanager
def hold_lease(version: DocumentVersion) -> Iterator[None]:
    """Renew the lease from a thread while the body works, for at most MAX_S seconds."""
    done = Event()
    thread = Thread(target=_renew_lease, args=(version, done), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _renew_lease(version: DocumentVersion, done: Event) -> None:
    try:
        for _beat in range(int(MAX_S / RENEW_S)):
            if done.wait(RENEW_S):
                return
            try:
                held = DocumentVersion.unscoped.filter(pk=version.pk, lease=version.lease)
                held.update(lease_expires_at=Now() + LEASE)
            except DatabaseError:  # it may answer at the next beat
                log.warning("ingestion.lease_not_renewed", version=str(version.pk), exc_info=True)
                connection.close()
    finally:
        connection.close()


def release_without_attempt(version: DocumentVersion) -> None:
    """Give the version back after an interruption: the file is not to blame, so the attempt does not count."""
    DocumentVersion.unscoped.filter(pk=version.pk, lease=version.lease).update(attempts=F("attempts") - 1)
    release_for_retry(version)


def return_to_queue(version: DocumentVersion) -> bool:
    """Give the version back to wait in the queue of imports; False where another worker took it meanwhile."""
    moved = DocumentVersion.unscoped.filter(pk=version.pk, lease=version.lease).update(queue="bulk")
    release_without_attempt(version)
    return bool(moved)


def release_for_retry(version: DocumentVersion) -> None:
    """Give the version back for another attempt, after a temporary error."""
    DocumentVersion.unscoped.filter(pk=version.pk, lease=version.lease).update(
        parse_status=ParseStatus.PENDING, lease=None, lease_expires_at=None, queued_at=timezone.now()
    )
