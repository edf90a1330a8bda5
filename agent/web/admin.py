"""Web search services and web hosts in the admin, with write-only keys."""

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agent.admin.base import KeyedAdmin, KeyedForm, SettingsAdmin, read_entered_row
from agent.connections.service_keys import save_web_search
from agent.models import WebHost, WebSearchProvider
from agent.web.hosts import HostRules
from agent.web.search_kinds import KINDS
from agent.web.searching import SearchFailed, build_search_service, search_web
from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import admin_page
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, PermissionDenied

QUERY = "PostgreSQL documentation"  # found by every web search, and reveals nothing about the company


def _list_kind_choices() -> list[tuple[str, str]]:
    """Return the kinds, those that need no key first."""
    return [(kind.name, kind.label) for kind in sorted(KINDS.values(), key=lambda kind: (kind.needs_key, kind.label))]


def _format_usual_addresses() -> str:
    return ", ".join(f"{kind.label}: {kind.address}" for kind in KINDS.values() if kind.address)


class WebSearchProviderForm(KeyedForm):
    kind = forms.ChoiceField(label=capfirst(_("kind")), choices=_list_kind_choices)

    class Meta:
        model = WebSearchProvider
        fields = ("name", "kind", "base_url", "api_key", "most_results", "asks_first", "is_used")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as Django gives them
        self.fields["base_url"].help_text = _("Where your own SearXNG is; or %(usual)s") % {
            "usual": _format_usual_addresses()
        }

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        kind, key = cleaned.get("kind"), cleaned.get("api_key")
        moved = "base_url" in self.changed_data
        if kind and KINDS[str(kind)].needs_key and not key and (moved or not self.instance.encrypted_key):
            self.add_error("api_key", _("This service needs a key: enter it."))
        return cleaned


@admin.register(WebSearchProvider)
class WebSearchProviderAdmin(KeyedAdmin):
    form = WebSearchProviderForm
    empty_sentence = _("Nothing is searched outside. Add a service, and assistants may search the web.")
    list_display = ("name", "kind", "base_url", "asks_first", "is_used")
    action_recorded = Action.WEB_SETTING_CHANGED
    save_keyed = staticmethod(save_web_search)


@admin.register(WebHost)
class WebHostAdmin(SettingsAdmin):
    list_display = ("entry", "is_allowed", "note")
    list_filter = ("is_allowed",)
    search_fields = ("entry",)
    action_recorded = Action.WEB_SETTING_CHANGED


@require_POST
@admin_page
def try_search(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Try a service before it is saved. Raises PermissionDenied without the right to change web search services."""
    if not request.user.has_perm("agent.change_websearchprovider"):
        raise PermissionDenied(gettext("Only system administrators set up web searches."))
    try:
        row = read_entered_row(request, WebSearchProvider, WebSearchProviderForm)
    except InvalidInput as problem:
        return render(request, "admin/_tried.html", {"ok": False, "sentence": str(problem)})
    record_action(principal, Action.WEB_SEARCH_TESTED, detail={"address": row.base_url})
    return render(request, "admin/_tried.html", _try_search(row))


def _try_search(row: WebSearchProvider) -> dict[str, object]:
    """Search once; return whether that works, a sentence, and the service's own words in English."""
    try:
        found = search_web(build_search_service(row), QUERY, HostRules())
    except SearchFailed as problem:
        return {"ok": False, "sentence": gettext("It does not respond properly."), "detail": str(problem)}
    if not found:
        return {"ok": False, "sentence": gettext("It works, but finds nothing for “%(query)s”.") % {"query": QUERY}}
    counted = ngettext("%(count)d page", "%(count)d pages", len(found)) % {"count": len(found)}
    sentence = gettext("It works: %(pages)s for “%(query)s”. Save it now.") % {"pages": counted, "query": QUERY}
    return {"ok": True, "sentence": sentence}
