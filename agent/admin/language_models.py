"""Language models and their usage per person, in the admin. Keys are write-only."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agent.admin.base import KeyedAdmin, KeyedForm
from agent.models import DayOfUse, LanguageModel
from agent.service_keys import save_language_model
from copilot_site.lib.read_only_admin import ReadOnlyAdmin


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
