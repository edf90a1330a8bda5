"""What all settings of the agent share in the admin."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from audit.actions import Action
from audit.record import record
from authz.principal import Principal


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
