"""Verified answers in the admin: where they are and who verified them.

Their texts are shown on their keepers' pages only.
"""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from agent.models import VerifiedAnswer
from audit.actions import Action
from audit.record import record_action
from authz.admin import GuardedModelAdmin
from authz.principal import Principal

FIELDS = ("folder", "source", "verified_by", "verified_at", "expires_on", "flag")


@admin.register(VerifiedAnswer)
class VerifiedAnswerAdmin(GuardedModelAdmin[VerifiedAnswer]):
    """A superuser can manage all answers but read none; an answer whose folder or sources are lost can be deleted here."""

    list_display = ("id", *FIELDS)
    list_filter = ("flag",)
    list_select_related = ("folder", "source", "verified_by")
    fields = readonly_fields = FIELDS

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def delete_model(self, request: HttpRequest, obj: VerifiedAnswer) -> None:
        record_action(Principal.of(request.user), Action.VERIFIED_RETIRED, obj)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.delete_model(request, row)
