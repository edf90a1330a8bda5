"""Language models, their usage per person, and the budgets of units, in the admin. Keys are write-only."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.translation import gettext_lazy as _

from agent.admin.base import KeyedAdmin, KeyedForm, SettingsAdmin
from agent.connections.service_keys import save_language_model
from agent.models import DayOfUse, LanguageModel, UnitBudget
from agent.usage import begin_budget
from copilot_site.lib.http.read_only_admin import ReadOnlyAdmin


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
            begin_budget(obj)
        super().save_model(request, obj, form, change)
