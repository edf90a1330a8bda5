"""The page of the admin where a draft of a semantic layer is followed, and looked through table by table."""

from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from authz.admin_pages import admin_page, show
from authz.principal import Principal
from business.connection_rights import managed_source
from business.draft_readers import ReadersForm
from business.layer_drafts import discard, draft_of, proposed, take_over
from business.models import DataSource
from business.semantic_layer.model import SemanticModel
from business.source_checks import unchecked
from business.table_edits import called
from copilot_site.lib.errors import CopilotError

PAGE_SIZE = 20


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def layer_draft(request: HttpRequest, by: Principal, source_id: UUID) -> HttpResponseBase:
    """How far a draft is, and its tables that are not described yet.

    `q` finds some of them. A POST takes over one (`take`), those that are ticked (`ticked` with `table`) or `all` that were found, or
    puts the draft away (`discard`).
    """
    source = managed_source(by, source_id)
    row = draft_of(source)
    if row is None:
        return redirect("source-layer", source.pk)
    asked = request.GET.get("q", "")
    if request.method == "POST":
        return _done(request, by, source, called(proposed(source, row), asked))
    tables = proposed(source, row)
    found = called(tables, asked)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    form = ReadersForm(None, page)
    context = {
        "title": _("Draft of the semantic layer of %(name)s") % {"name": source.name},
        "source": source,
        "draft": row,
        "percent": round(100 * row.done / row.count) if row.count else None,
        "page": page,
        "page_query": f"&{urlencode({'q': asked})}" if asked else "",
        "asked": asked,
        "form": form,
        "found": len(found),
        "left": len(tables),
        "is_saved": False,
    }
    return show(request, "admin/business/draft.html", context)


def _done(request: HttpRequest, by: Principal, source: DataSource, found: list[SemanticModel]) -> HttpResponseBase:
    if "discard" in request.POST:
        discard(by, source)
        return redirect("source-layer", source.pk)
    names = request.POST.getlist("table") if "ticked" in request.POST else request.POST.getlist("take")
    tables = [model for model in found if "all" in request.POST or model.name in names]
    if "ticked" in request.POST and not tables:
        messages.error(request, _("Tick the tables that you want to take over; nothing was changed."))
        return redirect(request.get_full_path())
    try:
        is_known = take_over(by, source, ReadersForm(request.POST, tables).opened(at_once="take" not in request.POST))
    except CopilotError as error:
        messages.error(request, str(error))
        return redirect("source-draft", source.pk)
    said = ngettext("Taken over: %(n)d table.", "Taken over: %(n)d tables.", len(tables))
    messages.success(request, said % {"n": len(tables)})
    if not is_known:
        messages.warning(request, unchecked())
    return redirect(request.path if "all" in request.POST else request.get_full_path())
