"""A search of the web is tried before it is saved: a button of its form says whether it answers, and if not, what is missing."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from agent.admin.web_search import WebSearchProviderForm
from agent.models import WebSearchProvider
from agent.providers.keys import sealed
from agent.web.hosts import HostRules
from agent.web.searching import SearchFailed, search, service_of
from audit.actions import Action
from audit.record import record
from authz.admin_pages import admin_page
from authz.principal import Principal
from copilot_site.lib.errors import PermissionDenied
from copilot_site.lib.forms import first_fault

QUERY = "PostgreSQL documentation"  # something that every search of the web finds, and that tells nothing of who asks


@require_POST
@admin_page
def try_search(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """What the form says, with the stored key of the row `id` where none is entered and the address is the same. Nothing is saved.

    Raises PermissionDenied for whoever may not change searches of the web.
    """
    if not request.user.has_perm("agent.change_websearchprovider"):
        raise PermissionDenied(_("Only administrators of the system set up searches of the web."))
    given = request.POST.get("id", "")
    stored = WebSearchProvider.objects.filter(pk=given).first() if given.isdecimal() else None
    before = stored.base_url if stored else ""
    form = WebSearchProviderForm(request.POST, instance=stored)
    if not form.is_valid():
        return _said(request, ok=False, sentence=first_fault(form))
    row = form.save(commit=False)
    if key := form.cleaned_data["api_key"]:
        row.encrypted_key = sealed(key, row.base_url)
    elif row.base_url != before:
        row.encrypted_key = ""
    record(principal, Action.WEB_SEARCH_TESTED, detail={"address": row.base_url})
    return _said(request, **_outcome(row))


def _outcome(row: WebSearchProvider) -> dict[str, object]:
    try:
        found = search(service_of(row), QUERY, HostRules())
    except SearchFailed as problem:
        return {"ok": False, "sentence": _("It does not answer as it should."), "detail": str(problem)}
    if not found:
        return {"ok": False, "sentence": _("It answers, and finds nothing for “%(query)s”.") % {"query": QUERY}}
    counted = ngettext("%(count)d page", "%(count)d pages", len(found)) % {"count": len(found)}
    sentence = _("It answers: %(pages)s for “%(query)s”. Save it now.") % {"pages": counted, "query": QUERY}
    return {"ok": True, "sentence": sentence}


def _said(request: HttpRequest, *, ok: object, sentence: object, detail: object = "") -> HttpResponseBase:
    """detail: in English, for whoever looks after the service."""
    return render(request, "admin/_tried.html", {"ok": ok, "sentence": sentence, "detail": detail})
