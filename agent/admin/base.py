"""Base classes shared by the agent's settings in the admin."""

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from agent.connections.service_keys import Keyed, require_row_address, set_service_key
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.http.forms import find_first_fault
from copilot_site.lib.outgoing.addresses import AddressRefused


class SettingsAdmin(admin.ModelAdmin[Any]):
    """Base admin for the agent's settings; audits the names of changed fields, never their values."""

    action_recorded = Action.AGENT_CHANGED

    def save_model(self, request: HttpRequest, obj: Any, form: forms.ModelForm[Any], change: bool) -> None:
        super().save_model(request, obj, form, change)
        record_action(Principal.of(request.user), self.action_recorded, obj, detail={"fields": form.changed_data})

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        record_action(Principal.of(request.user), self.action_recorded, obj, detail={"deleted": True})
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.delete_model(request, row)


class KeyedForm(forms.ModelForm[Any]):
    """Form for a service with an address and a key. The key is write-only."""

    api_key = forms.CharField(
        label=capfirst(_("key")),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_(
            "Stored encrypted, for this address only. Leave empty to keep it while the address stays the same."
        ),
    )

    def clean_base_url(self) -> str:
        url: str = self.cleaned_data["base_url"]
        row = copy(self.instance)
        row.base_url = url
        try:
            require_row_address(row)
        except AddressRefused as error:
            raise forms.ValidationError(str(error)) from error
        return url


class KeyedAdmin(SettingsAdmin):
    """Admin for a service with a key. save_keyed: one of the functions of `agent.connections.service_keys`."""

    save_keyed: ClassVar[Callable[..., bool]]

    def save_model(self, request: HttpRequest, obj: Any, form: forms.ModelForm[Any], change: bool) -> None:
        by, key = Principal.of(request.user), form.cleaned_data["api_key"]
        if type(self).save_keyed(by, obj, key=key, fields=form.changed_data):
            why = _("The stored key was for the old address and has been removed. Enter the one for the new address.")
            messages.warning(request, why)


def read_entered_row(request: HttpRequest, kind: type[Any], form_of: Callable[..., forms.ModelForm[Any]]) -> Any:
    """Return the row as entered, not saved. Raises InvalidInput with the first fault.

    Where no key is entered and the address is unchanged, it has the stored key of the row `id`.
    """
    given = request.POST.get("id", "")
    stored: Keyed | None = kind.objects.filter(pk=given).first() if given.isdecimal() else None
    before = stored.base_url if stored else ""
    form = form_of(request.POST, instance=stored)
    if not form.is_valid():
        raise InvalidInput(find_first_fault(form))
    row: Keyed = form.save(commit=False)
    set_service_key(row, form.cleaned_data["api_key"], address_before=before)
    return row
