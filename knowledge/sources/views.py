"""Pages of the administration for sources: all of them, a new one, and one with its runs; and the address of its webhook."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows
from copilot_site.lib.errors import CopilotError, NotFound, PermissionDenied
from copilot_site.lib.http.body_limit import read_hook_body
from copilot_site.lib.registry import UnknownName
from knowledge.models import KnowledgeBase, Source, SourceItem, SourceRun, Trigger
from knowledge.services.folders import ensure_path, find_root_folder, split_folder_path
from knowledge.sources.base import connectors, load_connectors
from knowledge.sources.forms import SourceForm
from knowledge.sources.reading import SourcePreview, find_connector_type
from knowledge.sources.services import (
    authenticate_webhook_call,
    create_webhook_secret,
    delete_source,
    find_managed_source,
    find_newest_runs,
    list_managed_sources,
    list_nameable_pages,
    list_nameable_problems,
    may_connect_sources,
    save_source,
    try_source,
)
from knowledge.sources.tasks import queue_source_run

RUNS_SHOWN = 20


@require_safe
@admin_page
def sources(request: HttpRequest, by: Principal) -> HttpResponseBase:
    rows = list(list_managed_sources(by, request.user))
    may = may_connect_sources(request.user)
    if not rows and not may:
        raise NotFound(_("You look after no source of documents."))
    runs = find_newest_runs(rows)
    load_connectors()
    context = {
        "title": _("Sources"),
        "rows": [(row, find_connector_type(row.kind).label, runs.get(row.pk)) for row in rows],
        "kinds": [(name, item.label, item.about) for name in connectors.names() for item in [connectors.get(name)]]
        if may
        else [],
    }
    return render_admin_page(request, "admin/sources/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def new_source(request: HttpRequest, by: Principal, kind: str) -> HttpResponseBase:
    if not may_connect_sources(request.user):
        raise NotFound(_("You look after no source of documents."))
    try:
        connector = find_connector_type(kind)
    except UnknownName:
        raise NotFound(_("There is no such kind of source.")) from None
    posted = request.POST if request.method == "POST" else None
    form = SourceForm(
        posted, instance=Source(kind=kind), bases=filter_governed_rows(KnowledgeBase, by).order_by("name")
    )
    found: SourcePreview | None = None
    if form.is_valid():
        try:
            if "try" in request.POST:
                found = try_source(_require_user(request), form.instance, secret=form.secret)
            else:
                return _create_source(request, by, form)
        except CopilotError as error:
            form.add_error(None, str(error))
    context = {
        "title": _("New source: %(kind)s") % {"kind": connector.label},
        "form": form,
        "found": found,
        "about": connector.about,
    }
    return render_admin_page(request, "admin/sources/new.html", context, status=400 if form.errors else 200)


def _create_source(request: HttpRequest, by: Principal, form: SourceForm) -> HttpResponse:
    """Create a source, start its first run and show its page. Raises CopilotError, leaving no folder behind."""
    with transaction.atomic():
        top = find_root_folder(form.cleaned_data["base"])
        form.instance.folder = ensure_path(by, top, split_folder_path(form.cleaned_data["path"]))
        save_source(_require_user(request), form.instance, secret=form.secret)
        if form.instance.is_active:
            queue_source_run(form.instance, Trigger.HAND, by=by)
    messages.success(request, _("The source is created, and its first run has started."))
    return redirect("source-of-documents", form.instance.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def one_source(request: HttpRequest, by: Principal, kept_id: UUID) -> HttpResponseBase:
    """Show a source with its runs, editable for whoever may connect sources."""
    source = find_managed_source(by, request.user, kept_id)
    may = may_connect_sources(request.user)
    if request.method == "POST" and not may:
        raise PermissionDenied(_("Only administrators set where documents come from."))
    form = SourceForm(request.POST if request.method == "POST" else None, instance=source) if may else None
    found: SourcePreview | None = None
    if form is not None and form.is_valid():
        try:
            if "try" not in request.POST:
                return _save_source(request, form)
            found = try_source(_require_user(request), form.instance, secret=form.secret)
        except CopilotError as error:
            form.add_error(None, str(error))
    status = 400 if form is not None and form.errors else 200
    return render_admin_page(
        request, "admin/sources/one.html", _build_page_context(request, by, kept_id, form, found), status=status
    )


def _save_source(request: HttpRequest, form: SourceForm) -> HttpResponse:
    if save_source(_require_user(request), form.instance, secret=form.secret):
        messages.warning(
            request,
            _("The stored secret was for the old address and has been removed. Enter the one for the new address."),
        )
    messages.success(request, _("The source is saved."))
    return redirect("source-of-documents", form.instance.pk)


def _build_page_context(
    request: HttpRequest, by: Principal, kept_id: UUID, form: SourceForm | None, found: SourcePreview | None
) -> dict[str, object]:
    source = Source.unscoped.select_related("folder__knowledge_base").get(pk=kept_id)  # as it is stored
    items = SourceItem.unscoped.filter(source=source)
    gone = list_nameable_pages(by, request.user, source).exclude(gone_at=None).select_related("document")
    runs = list(SourceRun.objects.filter(source=source).select_related("source")[:RUNS_SHOWN])
    return {
        "title": source,
        "source": source,
        "kind": find_connector_type(source.kind).label,
        "form": form,
        "found": found,
        "runs": runs,
        "problems": list_nameable_problems(by, request.user, runs[0]) if runs else [],
        "kept": items.filter(gone_at=None).exclude(document=None).count(),
        "gone": gone.order_by("-gone_at")[:RUNS_SHOWN],
        "hook_url": request.build_absolute_uri(reverse("source-hook", args=[source.pk])),
        "has_hook": bool(source.encrypted_hook_secret),
        "governs": filter_governed_rows(Source, by).filter(pk=source.pk).exists(),
    }


@require_POST
@admin_page
def run_now(request: HttpRequest, by: Principal, kept_id: UUID) -> HttpResponseBase:
    """Start a run, for whoever manages the source or its folder."""
    source = find_managed_source(by, request.user, kept_id)
    queue_source_run(source, Trigger.HAND, by=by)
    messages.success(request, _("The run has started; this page shows its progress."))
    return redirect("source-of-documents", source.pk)


@require_POST
@admin_page
def new_hook(request: HttpRequest, by: Principal, kept_id: UUID) -> HttpResponseBase:
    """Make a secret for the webhook, shown on the next page and never again."""
    source = find_managed_source(by, request.user, kept_id)
    secret = create_webhook_secret(_require_user(request), source)
    messages.warning(request, _("The secret of the webhook, shown this once: %(secret)s") % {"secret": secret})
    return redirect("source-of-documents", source.pk)


@require_POST
@admin_page
def remove_source(request: HttpRequest, by: Principal, kept_id: UUID) -> HttpResponseBase:
    """Delete a source; with `withdraw` its documents answer no more, else they stay as they are."""
    source = find_managed_source(by, request.user, kept_id)
    delete_source(_require_user(request), source, withdraw="withdraw" in request.POST)
    messages.success(request, _("The source “%(name)s” is deleted.") % {"name": source.name})
    return redirect("sources-of-documents")


@csrf_exempt  # it is signed, and no browser sends it
@require_POST
def hook(request: HttpRequest, kept_id: UUID) -> HttpResponse:
    """Receive the news of a change and read the source soon. Only the call's signature is checked; its body is ignored."""
    names = ("X-Hub-Signature-256", "X-Gitea-Signature", "X-Copilot-Signature")
    signatures = [request.headers.get(name, "") for name in names]
    body = read_hook_body(request)
    source = authenticate_webhook_call(kept_id, body, signatures, request.headers.get("X-Gitlab-Token", ""))
    queue_source_run(source, Trigger.WEBHOOK)
    return HttpResponse(status=202)


def _require_user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # whom the admin lets in
    return request.user
