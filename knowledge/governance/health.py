"""The health of ingestion: versions waiting in each queue, in progress, and failed, with reasons."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Min, Q, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.http.forms import show_problem_as_message
from knowledge.models import ATTACHMENTS, DocumentVersion, ParseStatus
from knowledge.services.documents import retry_document

DAY = timedelta(days=1)
PATIENCE = timedelta(hours=1)  # a document that waits longer is stuck, or the workers are too few


@dataclass(frozen=True)
class Queue:
    """One queue. oldest: since when its first version waits; None when nothing does. late: in work with a lease that ran out."""

    name: str
    waiting: int
    in_work: int
    late: int
    oldest: datetime | None


@dataclass(frozen=True)
class Health:
    """published, failed: within the last day. retried: failed or unfinished versions that were tried more than once."""

    queues: tuple[Queue, ...]
    published: int
    failed: int
    retried: int

    @property
    def waiting(self) -> int:
        return sum(queue.waiting for queue in self.queues)

    @property
    def in_work(self) -> int:
        return sum(queue.in_work for queue in self.queues)

    @property
    def oldest(self) -> datetime | None:
        return min((queue.oldest for queue in self.queues if queue.oldest), default=None)


def measure_ingestion_health(principal: Principal) -> Health:
    rows = filter_governed_rows(DocumentVersion, principal)
    waiting, working = Q(parse_status=ParseStatus.PENDING), Q(parse_status=ParseStatus.PROCESSING)
    by_queue = (
        rows.filter(waiting | working)
        .order_by()
        .values("queue")
        .annotate(
            waiting=Count("pk", filter=waiting),
            in_work=Count("pk", filter=working),
            late=Count("pk", filter=working & Q(lease_expires_at__lt=timezone.now())),
            oldest=Min("created_at", filter=waiting),
        )
    )
    since = timezone.now() - DAY
    return Health(
        tuple(Queue(row["queue"], row["waiting"], row["in_work"], row["late"], row["oldest"]) for row in by_queue),
        published=rows.filter(published_at__gte=since).count(),
        failed=list_failed_versions(principal).filter(created_at__gte=since).count(),
        retried=rows.exclude(parse_status=ParseStatus.COMPLETED).filter(attempts__gt=1).count(),
    )


def list_failed_versions(principal: Principal) -> QuerySet[DocumentVersion]:
    """Return failed versions that this person governs, latest first; a conversation's file only for its own person."""
    rows = filter_governed_rows(DocumentVersion, principal).filter(parse_status=ParseStatus.FAILED)
    rows = rows.exclude(document__knowledge_base=ATTACHMENTS)
    return rows.select_related("document", "document__folder").order_by("-created_at")


def list_stalled_versions(principal: Principal) -> QuerySet[DocumentVersion]:
    """Return versions that this person governs and that have waited unread for longer than PATIENCE."""
    waiting = filter_governed_rows(DocumentVersion, principal).filter(parse_status=ParseStatus.PENDING)
    return waiting.filter(created_at__lt=timezone.now() - PATIENCE)


PAGE_SIZE = 50


@require_safe
@admin_page
def ingestion(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    page = Paginator(list_failed_versions(principal), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"title": _("Ingestion"), "health": measure_ingestion_health(principal), "page": page}
    return render_admin_page(request, "admin/ingestion.html", context)


@require_POST
@admin_page
def try_again(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponseBase:
    """Retry a failed version. Needs the right to change the document, as on its own page."""
    with show_problem_as_message(request, CopilotError):
        retry_document(principal, document_id=document_id)
        messages.success(request, _("Queued again."))
    return redirect("ingestion")
