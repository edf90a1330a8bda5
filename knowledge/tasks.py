"""The tasks of workers. Arguments are ids, each makes one service call; progress and failures are on the rows."""

from datetime import timedelta
from uuid import UUID

from celery import shared_task
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from redis import Redis

from copilot_site.lib.load.queues import send_on_commit
from knowledge.graph.building import AT_ONCE_S, fill_base_graph, is_filling_due, is_graph_outdated
from knowledge.graph.queueing import queue_base_on_commit
from knowledge.ingestion.lease import MAX_ATTEMPTS, expire_abandoned_leases
from knowledge.ingestion.pipeline import TEMPORARY, WorkShare, fail_exhausted_version, run_ingestion
from knowledge.ingestion.publish import refresh_statistics
from knowledge.ingestion.recutting import find_versions_to_cut, recut_base
from knowledge.models import DocumentVersion, KnowledgeBase, ParseStatus
from knowledge.services import indexes, mails, trash
from knowledge.services.reindex import begin_rereading, list_outdated_versions

# A version that waits longer may have lost its message; one that waits a minute for an empty queue has. A second message is refused.
OVERDUE = {"interactive": timedelta(minutes=1), "bulk": timedelta(minutes=20)}
# For which one upload keeps others waiting: seconds of reading, ten for two pictures, fifteen of embedding. The rest waits with imports.
SHARE = WorkShare(size_bytes=5_000_000, pictures=2, passages=500)
REMINDED_AT = (1, 7)  # day of the week, hour: Monday morning
INGEST = "knowledge.ingest_version"
MAX_AHEAD = 10  # versions of one person ahead of other people's


@shared_task(name=INGEST, autoretry_for=TEMPORARY, retry_backoff=2, retry_backoff_max=30, max_retries=3)
def ingest_version(version_id: str) -> None:
    if run_ingestion(UUID(version_id), share=SHARE):
        queue_ingestion(DocumentVersion.unscoped.get(pk=version_id))


@shared_task(name="knowledge.reap_ingestion")
def reap_ingestion() -> None:
    """Requeue versions of dead workers and lost messages: the guarantee behind the queue's speed."""
    expire_abandoned_leases()
    now = timezone.now()
    waited = Q(queued_at=None) | Q(queued_at__lt=now - OVERDUE["interactive"])  # once a minute, not at each beat
    left = Q(parse_status=ParseStatus.PROCESSING, lease_expires_at__lt=Now()) & waited
    with Redis.from_url(settings.REDIS_URL, protocol=2) as valkey:
        for queue, overdue in OVERDUE.items():
            sent_before = now - (overdue if valkey.llen(queue) else OVERDUE["interactive"])
            left |= Q(parse_status=ParseStatus.PENDING, queue=queue, queued_at__lt=sent_before)
    stale = DocumentVersion.unscoped.filter(left)
    for version in stale.filter(attempts__gte=MAX_ATTEMPTS):
        fail_exhausted_version(version)
    for version in stale.filter(attempts__lt=MAX_ATTEMPTS):
        queue_ingestion(version)


def choose_queue(person_id: int | None) -> str:
    """Return the queue: `interactive` for a person's first few files; further ones wait with the imports and delay nobody."""
    waiting = DocumentVersion.unscoped.filter(
        uploaded_by_id=person_id, queue="interactive", parse_status__in=[ParseStatus.PENDING, ParseStatus.PROCESSING]
    )
    return "bulk" if person_id is not None and waiting[MAX_AHEAD - 1 : MAX_AHEAD].exists() else "interactive"


def queue_ingestion(version: DocumentVersion) -> None:
    """Hand a version to its queue when the transaction commits."""
    DocumentVersion.unscoped.filter(pk=version.pk).update(queued_at=timezone.now())
    send_on_commit(INGEST, version.pk, queue=version.queue)


@shared_task(name="knowledge.reread_base")
def reread_base(base_id: str) -> None:
    """Read documents again after a change of a base's settings; those of older parsers wait for `manage.py reread`."""
    base = KnowledgeBase.unscoped.get(pk=base_id)
    for version in list_outdated_versions(base):
        with transaction.atomic():
            if begin_rereading(version.pk):
                queue_ingestion(version)


@shared_task(name="knowledge.empty_trash")
def empty_old_trash() -> None:
    """Delete for good what has been in the trash long enough."""
    trash.empty_trash()


@shared_task(name="knowledge.remind_of_reviews")
def remind_of_reviews() -> None:
    """Send reminders once a week: the task runs every hour and acts in one of them."""
    now = timezone.localtime()
    if (now.isoweekday(), now.hour) == REMINDED_AT:
        mails.send_review_reminders()


@shared_task(name="knowledge.fill_graph")
def fill_graph(base_id: str) -> None:
    """Read newly published documents for the graph of a base, after its imports; again if some are left."""
    if not is_filling_due(UUID(base_id)):
        return  # each document that is published asks again
    count = fill_base_graph(UUID(base_id), at_most_s=AT_ONCE_S)
    if count and is_graph_outdated(KnowledgeBase.unscoped.get(pk=base_id)):
        queue_base_on_commit(UUID(base_id))


@shared_task(name="knowledge.tend_graphs")
def tend_graphs() -> None:
    """Fill the graphs whose message was lost, and those whose base's settings changed."""
    for base in KnowledgeBase.unscoped.all():
        if is_graph_outdated(base):
            queue_base_on_commit(base.pk)


@shared_task(name="knowledge.cut_passages")
def cut_passages(base_id: str) -> None:
    """Re-cut the documents of a base for a while; the rest goes to the end of the queue."""
    if recut_base(UUID(base_id)):
        queue_cutting(UUID(base_id))


def queue_cutting(base_id: UUID) -> None:
    """Queue the cutting of a base's documents when the transaction commits; `build_search_indexes` makes up for a lost message."""
    send_on_commit("knowledge.cut_passages", base_id, queue="bulk")


@shared_task(name="knowledge.tend_indexes")
def tend_indexes() -> None:
    """Update statistics and indexes as the collection grows, and passages to the settings of their base."""
    for base in KnowledgeBase.unscoped.all():
        refresh_statistics(base)
        if find_versions_to_cut(base).exists():
            queue_cutting(base.pk)
    indexes.build_search_indexes()


@shared_task(name="knowledge.mail_about_request")
def mail_about_request(request_id: int) -> None:
    mails.send_request_mails(request_id)
