"""Outside services in the admin, with write-only secrets. Tools are fetched from the service, then allowed one by one."""

import json
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from agent.admin.base import SettingsAdmin
from agent.mcp_client.services import check_service_address, fetch_service_tools, save_service
from agent.models import McpService
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError
from copilot_site.lib.site import find_site_address
from copilot_site.lib.text.plain_text import show_invisible_characters


class McpServiceForm(forms.ModelForm[McpService]):
    secret = forms.CharField(
        label=capfirst(_("key")),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_(
            "As the header has it, e.g. “Bearer …”, or the secret of the client id. Stored encrypted, for this address alone."
            " Empty: it stays as it is."
        ),
    )
    allowed_tools = forms.MultipleChoiceField(
        label=capfirst(_("allowed tools")),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("No tool is allowed until you say so. Assistants then switch them on."),
    )
    unasked_tools = forms.MultipleChoiceField(
        label=capfirst(_("tools that run without asking")),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("For tools that only read. Before any other call, people are asked and see what is sent."),
    )

    class Meta:
        model = McpService
        fields = (
            "name", "transport", "url", "header_name", "oauth_grant", "oauth_issuer", "oauth_client_id", "oauth_scope", "secret",
            "is_enabled", "allowed_tools", "unasked_tools",
        )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["name"].disabled = True
        for name in ("allowed_tools", "unasked_tools"):
            field = self.fields[name]
            assert isinstance(field, forms.MultipleChoiceField)
            field.choices = [(tool["name"], _format_tool_summary(tool)) for tool in self.instance.tools]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        stray = set(given.get("unasked_tools", ())) - set(given.get("allowed_tools", ()))
        if stray:
            raise ValidationError({"unasked_tools": _("To run a tool without asking, allow it first.")})
        return given

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # of Django, without types
        if not self.errors:
            try:
                check_service_address(self.instance, self.cleaned_data["secret"])
            except CopilotError as error:
                self.add_error("url", str(error))


def _format_tool_summary(tool: dict[str, Any]) -> str:
    """Return the complete description of a tool that models get, for the administrator's review."""
    reads = _("says that it only reads") if tool["is_read_only"] else _("may change something")
    schema = json.dumps(tool["schema"], ensure_ascii=False)
    return show_invisible_characters(f"{tool['title']} ({tool['name']}; {reads}): {tool['description']} {schema}")


@admin.register(McpService)
class McpServiceAdmin(SettingsAdmin):
    form = McpServiceForm
    empty_sentence = _("No service is connected. Add one, and assistants may use its tools.")
    list_display = ("name", "transport", "url", "is_enabled", "read_at")
    actions = ("read_again",)
    fieldsets = (
        (None, {"fields": ("name", "transport", "url", "secret", "is_enabled", "allowed_tools", "unasked_tools")}),
        (
            _("Advanced"),
            {
                "fields": ("header_name", "oauth_grant", "oauth_issuer", "oauth_client_id", "oauth_scope"),
                "classes": ("collapse",),
            },
        ),
    )

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        more = {"callback": find_site_address(request) + reverse("mcp-callback")}
        return super().change_view(request, object_id, form_url, {**more, **(extra_context or {})})

    def save_model(self, request: HttpRequest, obj: McpService, form: forms.ModelForm[Any], change: bool) -> None:
        by = Principal.of(request.user)
        if save_service(by, obj, secret=form.cleaned_data["secret"], fields=form.changed_data):
            why = _("The stored key was for the old address and has been removed. Enter the one for the new address.")
            messages.warning(request, why)
        if obj.is_signed_in_to and not obj.encrypted_sign_in:
            messages.info(
                request, _("Nobody is signed in to “%(name)s” yet: connect it on its page.") % {"name": obj.name}
            )
        elif obj.read_at is None:
            report_fetched_tools(request, obj)

    @admin.action(description=_("Read the tools of the chosen services again"), permissions=["change"])
    def read_again(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            report_fetched_tools(request, row)


def report_fetched_tools(request: HttpRequest, row: McpService) -> None:
    """Fetch the tools of a service and report their number or the error."""
    try:
        count = fetch_service_tools(Principal.of(request.user), row)
    except CopilotError as error:
        messages.error(request, str(error))
        return
    message = ngettext(
        "“%(name)s” has %(count)d tool. Allow what may be used.",
        "“%(name)s” has %(count)d tools. Allow what may be used.",
        count,
    )
    messages.success(request, message % {"name": row.name, "count": count})
