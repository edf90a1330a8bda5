"""Try a data source before it is saved: server, account, tables and a sandbox, each fault with its fix."""

from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from audit.actions import Action
from audit.record import record
from authz.admin_pages import admin_page
from authz.principal import Principal
from business.admin import ConnectionForm, DataSourceForm
from business.connections.account_faults import AccountFault
from business.models import DataSource
from business.sources.checks import faults_with
from business.sources.connection_rights import may_connect, seen_sources
from copilot_site.lib.errors import CopilotError, PermissionDenied
from copilot_site.lib.http.forms import first_fault


@require_POST
@admin_page
def try_source(request: HttpRequest, by: Principal) -> HttpResponseBase:
    """Try what the form says, with the stored password of the row `id` where none is entered and the address is the same.
    Nothing is saved.

    Raises PermissionDenied for whoever may not say where data sources are.
    """
    if not may_connect(request.user):
        raise PermissionDenied(_("Only administrators can change the connection of a data source."))
    stored = _stored(request, by)
    before = stored.where if stored else ""
    form = (ConnectionForm if stored else DataSourceForm)(request.POST, instance=stored, is_tried=False)
    if not form.is_valid():
        return _reply(request, [first_fault(form)])
    source = form.save(commit=False)
    if password := form.cleaned_data.get("password"):
        source.set_password(password)
    elif source.where != before:
        source.encrypted_password = b""
    faults: list[AccountFault | str]
    try:
        faults = [*faults_with(source)]
    except CopilotError as error:
        faults = [str(error)]
    record(by, Action.SOURCE_CHECKED, detail={"address": source.where, "faults": len(faults)}, target_name=source.name)
    return _reply(request, faults)


def _stored(request: HttpRequest, by: Principal) -> DataSource | None:
    """Return the row `id`; None for a new one, and for a database that the product made, which has no address to try."""
    try:
        source_id = UUID(request.POST.get("id", ""))
    except ValueError:
        return None
    return seen_sources(by, request.user).filter(pk=source_id, is_embedded=False).first()


def _reply(request: HttpRequest, faults: list[AccountFault | str] | list[str]) -> HttpResponseBase:
    well = _("Server, account, tables and a test sandbox: everything works. Save it now.")
    found = [fault if isinstance(fault, AccountFault) else AccountFault(fault, "") for fault in faults]
    return render(request, "admin/_tried.html", {"ok": not found, "sentence": well, "faults": found})
