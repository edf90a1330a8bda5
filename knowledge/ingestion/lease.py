"""Who works on a version: a lease in its row, renewed while work goes on, that fences every write.

A queue may hand a task out twice, late or never. Claiming is one UPDATE that succeeds for one worker; a worker that was too slow
finds its lease gone at its next write and stops without having written anything.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from knowledge.models import DocumentVersion, ParseStatus

LEASE = timedelta(
    seconds=45
)  # a dead worker's version is taken up after this; renewed three times as often while work goes on
RENEW_S = LEASE.total_seconds() / 3
LONGEST_S = 3600  # nothing is kept alive longer than this: a worker that hangs loses its lease, too
MAX_ATTEMPTS = 3


class LeaseLost(Exception):
    """Another worker took over; what this one did since its last write is dropped."""


def claim(version_id: UUID) -> DocumentVersion | None:
    """Take the version for this worker, counting the attempt; None when it is finished, gone, or somebody else's."""
    now = timezone.now()
    lease = uuid4()
    free = Q(parse_status=ParseStatus.PENDING) | Q(parse_status=ParseStatus.PROCESSING, lease_expires_at__lt=now)
    claimed = DocumentVersion.unscoped.filter(free, pk=version_id, attempts__lt=MAX_ATTEMPTS).update(
        parse_status=ParseStatus.PROCESSING,
        lease=lease,
        lease_expires_at=now + LEASE,
        queued_at=None,
        attempts=F("attempts") + 1,
    )
    if not claimed:
        return None
    return DocumentVersion.unscoped.select_related("document__folder", "document__knowledge_base").get(pk=version_id)


@contextmanager
def fenced(version: DocumentVersion) -> Iterator[None]:
    """A transaction that holds only while the lease does, and renews it. Raises LeaseLost.

    It does not wait for the disk: what a crash of the database takes back is done again when the lease has run out.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit = off")
        held = DocumentVersion.unscoped.filter(pk=version.pk, lease=version.lease).update(
            lease_expires_at=timezone.now() + LEASE
        )
        if not held:
            raise LeaseLost(str(version.pk))
        yield


@contextmanager
def kept(version: DocumentVersion) -> Iterator[None]:
    """Renew the lease from a thread while the body works, for at most LONGEST_S seconds."""
    done = Event()
    thread = Thread(target=_renew, args=(version, done), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _renew(version: DocumentVersion, done: Event) -> None:
    try:
        for _beat in range(int(LONGEST_S / RENEW_S)):
            if done.wait(RENEW_S):
                return
            DocumentVersion.unscoped.filter(pk=version.pk, lease=version.lease).update(
                lease_expires_at=timezone.now() + LEASE
            )
    finally:
        connection.close()


def let_go(version: DocumentVersion) -> None:
    """Give the version back for another attempt, after a temporary error."""
    DocumentVersion.unscoped.filter(pk=version.pk, lease=version.lease).update(
        parse_status=ParseStatus.PENDING, lease=None, lease_expires_at=None, queued_at=timezone.now()
    )
