from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from audit.models import Entry


@admin.register(Entry)
class EntryAdmin(admin.ModelAdmin[Entry]):
    """Reading room of the audit log: nothing here adds, changes or deletes."""

    list_display = ("at", "actor_name", "action", "outcome", "target_name", "address")
    list_filter = ("action", "outcome", ("at", admin.DateFieldListFilter))
    search_fields = ("actor_name", "target_name", "target_id", "run_id", "request_id")
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
