"""Models, profiles and what people have used, in the admin. A key goes in and is never shown again."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from agent.budget import Budget
from agent.mcp.client.admin import McpServiceAdmin
from agent.mcp.client.tool import outside_tools
from agent.model_keys import save_language_model
from agent.models import AgentProfile, DayOfUse, LanguageModel, WebHost, WebSearchProvider
from agent.profile_choice import MOST_OPENINGS, lines_of
from agent.tools.base import current_name, in_order
from agent.web.forms import WebSearchProviderForm
from agent.web.services import save_provider
from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.outgoing import AddressRefused, parsed_url, require_plausible, services_at
from copilot_site.lib.read_only import ReadOnlyAdmin

__all__ = ["AgentProfileAdmin", "DayOfUseAdmin", "LanguageModelAdmin", "McpServiceAdmin"]  # registered where they stand
OPENINGS = ("questions_en", "questions_zh")


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


def _tools() -> list[tuple[str, str]]:
    """Every tool with what it does, in the reader's language."""
    language = get_language() or "en"
    return [
        (tool.name, f"{tool.label.within(language)} ({tool.name}): {tool.description.within(language)}")
        for tool in (*in_order(), *outside_tools())
    ]


class AgentProfileForm(forms.ModelForm[AgentProfile]):
    allowed_tools = forms.MultipleChoiceField(
        label=capfirst(_("allowed tools")),
        required=False,
        choices=_tools,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen: those that are on by default."),
    )

    class Meta:
        model = AgentProfile
        fields = (
            "name", "description", "icon", "questions_en", "questions_zh", "groups", "is_default", "knowledge_bases",
            "allowed_tools", "uses_tools", "language_model", "tone", "judge", "is_strict", "most_steps", "most_tool_calls",
            "most_tokens", "most_seconds", "most_cost",
        )  # fmt: skip
        widgets: ClassVar = {name: forms.Textarea(attrs={"rows": 6}) for name in OPENINGS}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["allowed_tools"] = [current_name(name) for name in self.instance.allowed_tools or ()]
        product = Budget()
        limits = {
            "most_steps": product.steps,
            "most_tool_calls": product.tool_calls,
            "most_tokens": product.tokens,
            "most_seconds": round(product.seconds),
        }
        for name, limit in limits.items():
            self.fields[name].help_text = _("Empty: %(limit)s.") % {"limit": limit}

    def clean_allowed_tools(self) -> list[str] | None:
        return self.cleaned_data["allowed_tools"] or None

    def clean_questions_en(self) -> str:
        return _few_lines(self.cleaned_data["questions_en"])

    def clean_questions_zh(self) -> str:
        return _few_lines(self.cleaned_data["questions_zh"])

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if given.get("is_default") and given.get("groups"):
            said = _("The one that is used where nobody chooses is for everybody: take the groups away, or the tick.")
            self.add_error("groups", said)
        return given


def _few_lines(text: str) -> str:
    lines = lines_of(text)
    if len(lines) > MOST_OPENINGS:
        raise forms.ValidationError(_("At most %(most)s questions, one a line.") % {"most": MOST_OPENINGS})
    return "\n".join(lines)


class SettingsAdmin(admin.ModelAdmin[Any]):
    """Settings of the agent: every change is recorded, by names of fields, never by their values."""

    action_recorded = Action.AGENT_CHANGED

    def save_model(self, request: HttpRequest, obj: Any, form: forms.ModelForm[Any], change: bool) -> None:
        super().save_model(request, obj, form, change)
        record(Principal.of(request.user), self.action_recorded, obj, detail={"fields": form.changed_data})

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        record(Principal.of(request.user), self.action_recorded, obj, detail={"deleted": True})
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.delete_model(request, row)


@admin.register(LanguageModel)
class LanguageModelAdmin(SettingsAdmin):
    form = LanguageModelForm
    empty_sentence = _(
        "No model is set up: answers are quoted from documents. Add one and test it, and it writes them."
    )
    list_display = ("name", "model", "base_url", "is_enabled", "is_default")

    def save_model(self, request: HttpRequest, obj: Any, form: forms.ModelForm[Any], change: bool) -> None:
        by, key = Principal.of(request.user), form.cleaned_data["api_key"]
        if save_language_model(by, obj, key=key, fields=form.changed_data):
            said = _("The stored key was for the old address and is forgotten: enter the one for the new address.")
            messages.warning(request, said)


@admin.register(AgentProfile)
class AgentProfileAdmin(SettingsAdmin):
    form = AgentProfileForm
    empty_sentence = _("Everybody asks the assistant for everything. Add one for a subject or a team.")
    list_display = ("name", "description", "language_model", "is_default")
    filter_horizontal = ("groups", "knowledge_bases")
    fieldsets = (
        (None, {"fields": ("name", "description", "icon", *OPENINGS)}),
        (_("Who and where"), {"fields": ("groups", "is_default", "knowledge_bases")}),
        (
            _("What it does"),
            {"fields": ("allowed_tools", "uses_tools", "language_model", "tone", "judge", "is_strict")},
        ),
        (
            _("How far it goes"),
            {"fields": ("most_steps", "most_tool_calls", "most_tokens", "most_seconds", "most_cost")},
        ),
    )


@admin.register(WebSearchProvider)
class WebSearchProviderAdmin(SettingsAdmin):
    form = WebSearchProviderForm
    empty_sentence = _("Nothing is searched outside. Add a service, and assistants may search the web.")
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


@admin.register(DayOfUse)
class DayOfUseAdmin(ReadOnlyAdmin):
    list_display = ("day", "user", "runs", "input_tokens", "output_tokens", "cost")
    list_filter = ("day",)
    search_fields = ("user__username",)
    list_select_related = ("user",)
