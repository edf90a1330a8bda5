"""Language models, and what people have used of them, in the admin. A key goes in and is never shown again."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from agent.admin.base import SettingsAdmin
from agent.models import DayOfUse, LanguageModel
from agent.providers.keys import save_language_model
from authz.principal import Principal
from copilot_site.lib.outgoing import AddressRefused, parsed_url, require_plausible, services_at
from copilot_site.lib.read_only import ReadOnlyAdmin


class LanguageModelForm(forms.ModelForm[LanguageModel]):
    api_key = forms.CharField(
        label=capfirst(_("key")),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_("Stored encrypted, for this address alone. Empty: it stays as it is, as long as the address does."),
    )

    class Meta:
        model = LanguageModel
        fields = (
            "name", "base_url", "model", "api_key", "context_tokens", "price_input", "price_output", "is_enabled",
            "is_default",
        )  # fmt: skip

    def clean_base_url(self) -> str:
        url: str = self.cleaned_data["base_url"]
        try:
            require_plausible(parsed_url(url)[0], services_at(url))
        except AddressRefused as error:
            raise forms.ValidationError(str(error)) from error
        return url


@admin.register(LanguageModel)
class LanguageModelAdmin(SettingsAdmin):
    form = LanguageModelForm
    list_display = ("name", "model", "base_url", "is_enabled", "is_default")

    def save_model(self, request: HttpRequest, obj: Any, form: forms.ModelForm[Any], change: bool) -> None:
        by, key = Principal.of(request.user), form.cleaned_data["api_key"]
        if save_language_model(by, obj, key=key, fields=form.changed_data):
            said = _("The stored key was for the old address and is forgotten: enter the one for the new address.")
            messages.warning(request, said)


@admin.register(DayOfUse)
class DayOfUseAdmin(ReadOnlyAdmin):
    list_display = ("day", "user", "runs", "input_tokens", "output_tokens", "cost")
    list_filter = ("day",)
    search_fields = ("user__username",)
    list_select_related = ("user",)
