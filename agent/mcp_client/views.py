"""Sign in to a service with tools, and sign out: from its page in the admin to its token issuer and back."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from agent.mcp_client.admin import report_fetched_tools
from agent.mcp_client.sign_in import begin_sign_in, finish_sign_in, sign_out
from agent.models import McpService
from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, NotFound, PermissionDenied
from copilot_site.lib.site import find_site_address

LIST = "admin:agent_mcpservice_changelist"


@require_POST
@admin_page
def connect(request: HttpRequest, _principal: Principal, service_id: int) -> HttpResponseBase:
    """Show the sign-in address before the redirect, because the service chose it."""
    row = _find_service(request, service_id)
    callback = find_site_address(request) + reverse("mcp-callback")
    try:
        begun = begin_sign_in(row, callback=callback, session=_read_session_key(request))
    except CopilotError as error:
        messages.error(request, str(error))
        return _redirect_to_service_page(row)
    context = {"title": _("Connect “%(name)s”") % {"name": row.name}, "service": row, "begun": begun}
    return render_admin_page(request, "admin/agent/mcpservice/connect.html", context)


@require_GET
@admin_page
def callback(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Handle the issuer's response: a code or a refusal."""
    _require_service_right(request)
    try:
        row = finish_sign_in(principal, request.GET.dict(), session=_read_session_key(request))
    except CopilotError as error:
        messages.error(request, str(error))
        return redirect(LIST)
    messages.success(request, _("Signed in to “%(name)s”.") % {"name": row.name})
    report_fetched_tools(request, row)
    return _redirect_to_service_page(row)


@require_POST
@admin_page
def disconnect(request: HttpRequest, principal: Principal, service_id: int) -> HttpResponseBase:
    row = _find_service(request, service_id)
    sign_out(principal, row)
    messages.success(request, _("Signed out of “%(name)s”: its tokens are forgotten here.") % {"name": row.name})
    return _redirect_to_service_page(row)


def _find_service(request: HttpRequest, service_id: int) -> McpService:
    _require_service_right(request)
    row = McpService.objects.filter(pk=service_id).first()
    if row is None:
        raise NotFound(_("There is no such page, or you cannot see it."))
    return row


def _require_service_right(request: HttpRequest) -> None:
    """Require the right to change services. Raises PermissionDenied."""
    if not request.user.has_perm("agent.change_mcpservice"):
        raise PermissionDenied(_("Only system administrators connect services."))


def _read_session_key(request: HttpRequest) -> str:
    return request.session.session_key or ""


def _redirect_to_service_page(row: McpService) -> HttpResponse:
    return redirect("admin:agent_mcpservice_change", row.pk)
