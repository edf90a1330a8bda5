"""Language models, their usage per person, and the budgets of units, in the admin. Keys are write-only."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agent.admin.base import KeyedAdmin, KeyedForm, SettingsAdmin
from agent.connections.local_models import find_local_address, needs_address_permission, require_allowable_address
from agent.connections.service_keys import save_language_model
from agent.models import DayOfUse, LanguageModel, UnitBudget
from agent.providers.presets import Preset
from agent.usage import initialise_budget_use
from authz.principal import Principal
from copilot_site.lib.http.forms import PickedInput
from copilot_site.lib.http.read_only_admin import ReadOnlyAdmin
from copilot_site.lib.outgoing.addresses import AddressRefused


class LanguageModelForm(KeyedForm):
    class Meta:
        model = LanguageModel
        fields = (
            "name", "base_url", "model", "api_key", "context_tokens", "price_input", "price_output", "is_enabled",
            "is_default",
        )  # fmt: skip


@admin.register(LanguageModel)
class LanguageModelAdmin(KeyedAdmin):
    form = LanguageModelForm
    empty_sentence = _(
        "No model is set up: answers are quoted from documents. Add one and test it, and it writes them."
    )
    list_display = ("name", "model", "base_url", "is_enabled", "is_default")
    save_keyed = staticmethod(save_language_model)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Make the first model the default."""
        is_first = not LanguageModel.objects.filter(is_default=True).exists()
        return {"is_default": is_first, **super().get_changeform_initial_data(request)}


@admin.register(DayOfUse)
class DayOfUseAdmin(ReadOnlyAdmin):
    empty_sentence = _("No language model was asked yet: answers without one cost nothing, and are not listed here.")
    list_display = ("day", "user", "runs", "input_tokens", "output_tokens", "cost")
    list_filter = ("day",)
    search_fields = ("user__username",)
    list_select_related = ("user",)


@admin.register(UnitBudget)
class UnitBudgetAdmin(SettingsAdmin):
    empty_sentence = _(
        "No unit has a budget. Add one: when it is used up, answers quote documents until the month is over."
    )
    list_display = ("unit", "tokens", "cost", "used_this_month")
    list_select_related = ("unit",)

    def get_readonly_fields(self, request: HttpRequest, obj: UnitBudget | None = None) -> Any:
        return ("unit", "used_this_month") if obj else ()

    @admin.display(description=_("used this month"))
    def used_this_month(self, row: UnitBudget) -> str:
        tokens, cost = row.used
        return _("%(percent)d %%: %(tokens)s tokens, cost %(cost)s") % {
            "percent": row.share * 100,
            "tokens": number_format(tokens, force_grouping=True),
            "cost": number_format(cost, 2),
        }

    def save_model(self, request: HttpRequest, obj: UnitBudget, form: Any, change: bool) -> None:
        if not change:
            initialise_budget_use(obj)
        super().save_model(request, obj, form, change)


ADVANCED = ("context_tokens", "price_input", "price_output", "is_enabled", "is_default")


class ModelForm(LanguageModelForm):
    """The form as a person fills it in; `is_default` takes the place of the default so far.

    allow_here: lets this server connect to itself for this model; superusers are asked where the address needs it.
    """

    allow_here = forms.BooleanField(label=_("Allow this model on this machine"), required=False)
    is_default = forms.BooleanField(label=capfirst(_("default model")), required=False)
    field_order = ("allow_here", "name", "model", "api_key", "base_url", *ADVANCED)

    class Meta:
        model = LanguageModel
        fields = ("name", "base_url", "model", "api_key", "context_tokens", "price_input", "price_output", "is_enabled")
        help_texts: ClassVar = {"name": _("As people see it."), "model": _("As the service calls it."), "base_url": ""}

    def __init__(self, *args: Any, by: Principal, preset: Preset | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._by = by
        row: LanguageModel = self.instance
        if preset is not None:
            self.initial.update(
                {"name": preset.name, "base_url": preset.base_url, "context_tokens": preset.context_tokens}
            )
            self.fields["model"].widget = PickedInput([(name, "") for name in preset.models])
            self.fields["model"].widget.attrs["placeholder"] = ", ".join(preset.models)
        self.initial.update({"allow_here": bool(row.local_address), "is_default": row.is_default})
        if not row.pk:
            self.fields["api_key"].help_text = _("Stored encrypted, for this address alone.")
        self.fields["base_url"].widget.attrs |= {"inputmode": "url", "placeholder": "https://…/v1"}

    def clean_base_url(self) -> str:
        url: str = self.cleaned_data["base_url"]
        row = LanguageModel(base_url=url)
        try:
            if not needs_address_permission(row):
                return super().clean_base_url()
            require_allowable_address(url)
        except AddressRefused as error:
            raise forms.ValidationError(str(error)) from error
        is_known = self.instance.local_address == find_local_address(url)
        if not self.cleaned_data["allow_here"]:
            message = gettext("%(address)s is this machine itself. Tick “Allow this model on this machine” to use it.")
            raise forms.ValidationError(message % {"address": find_local_address(url)})
        if not is_known and not self._by.is_superuser:
            raise forms.ValidationError(gettext("Only a superuser may allow a language model on this machine."))
        return url

    @property
    def essential(self) -> list[forms.BoundField]:
        return [self[name] for name in ("name", "model", "api_key")]

    @property
    def advanced(self) -> list[forms.BoundField]:
        return [self[name] for name in ADVANCED]

    @property
    def is_unfolded(self) -> bool:
        """Tell whether a folded field has a fault."""
        return any(self[name].errors for name in ADVANCED)
