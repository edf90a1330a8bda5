"""Searches of the web, and hosts that may be read, in the admin. A key goes in and is never shown again."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from agent.admin.base import SettingsAdmin
from agent.models import WebHost, WebSearchProvider
from agent.web.providers.base import SearchKind, kinds
from agent.web.services import require_address, save_provider
from audit.actions import Action
from authz.principal import Principal
from copilot_site.lib.outgoing import AddressRefused


def _kinds() -> list[tuple[str, str]]:
    return [(kind.name, kind.label) for kind in sorted(kinds, key=_self_run_first)]


def _self_run_first(kind: SearchKind) -> tuple[bool, str]:
    return kind.needs_key, kind.label


def _usual() -> str:
    """Where each service is, for whoever has no address of their own."""
    return ", ".join(f"{kind.label}: {kind.address}" for kind in kinds if kind.address)


class WebSearchProviderForm(forms.ModelForm[WebSearchProvider]):
    kind = forms.ChoiceField(label=capfirst(_("kind")), choices=_kinds)
    api_key = forms.CharField(
        label=capfirst(_("key")),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_("Stored encrypted, for this address alone. Empty: it stays as it is, as long as the address does."),
    )

    class Meta:
        model = WebSearchProvider
        fields = ("name", "kind", "base_url", "api_key", "most_results", "is_used")

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as Django gives them
        self.fields["base_url"].help_text = _("Where your own SearXNG is; or %(usual)s") % {"usual": _usual()}

    def clean_base_url(self) -> str:
        url: str = self.cleaned_data["base_url"]
        try:
            require_address(url)
        except AddressRefused as error:
            raise forms.ValidationError(str(error)) from error
        return url

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        kind, key = cleaned.get("kind"), cleaned.get("api_key")
        moved = "base_url" in self.changed_data
        if kind and kinds.get(str(kind)).needs_key and not key and (moved or not self.instance.encrypted_key):
            self.add_error("api_key", _("This service answers nobody without a key: enter it."))
        return cleaned


@admin.register(WebSearchProvider)
class WebSearchProviderAdmin(SettingsAdmin):
    form = WebSearchProviderForm
    list_display = ("name", "kind", "base_url", "is_used")
    action_recorded = Action.WEB_SETTING_CHANGED

    def save_model(self, request: HttpRequest, obj: Any, form: forms.ModelForm[Any], change: bool) -> None:
        by, key = Principal.of(request.user), form.cleaned_data["api_key"]
        if save_provider(by, obj, key=key, fields=form.changed_data):
            said = _("The stored key was for the old address and is forgotten: enter the one for the new address.")
            messages.warning(request, said)


@admin.register(WebHost)
class WebHostAdmin(SettingsAdmin):
    list_display = ("entry", "is_allowed", "note")
    list_filter = ("is_allowed",)
    search_fields = ("entry",)
    action_recorded = Action.WEB_SETTING_CHANGED
