"""The page about ingestion: queues, failures with their reasons, another try."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from authz.admin_pages import admin_page, show
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError
from knowledge.governance.health import failed_versions, health
from knowledge.services.documents import retry_document

PAGE_SIZE = 50


@require_GET
@admin_page
def ingestion(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    page = Paginator(failed_versions(principal), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"title": _("Ingestion"), "health": health(principal), "page": page}
    return show(request, "admin/ingestion.html", context)


@require_POST
@admin_page
def try_again(request: HttpRequest, principal: Principal, document_id: UUID) -> HttpResponseBase:
    """Needs the right to change the document, as on its own page."""
    try:
        retry_document(principal, document_id=document_id)
        messages.success(request, _("It is queued again."))
    except CopilotError as problem:
        messages.error(request, str(problem))
    return redirect("ingestion")
