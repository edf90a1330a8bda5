"""The base of every admin page over protected rows. Rights are governed on pages of their own: `knowledge.governance`."""

from typing import Any, TypeVar

from django.contrib import admin, messages
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest

from authz import account_admin  # noqa: F401  # Django looks for admin pages in this file alone
from authz.directory import admin as directory_admin  # noqa: F401
from authz.people import unit_admin  # noqa: F401  # Django looks for admin pages in this file alone
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows
from authz.sign_in import claim_admin  # noqa: F401  # Django looks for admin pages in this file alone
from authz.tokens import admin as token_admin  # noqa: F401  # Django looks for admin pages in this file alone
from copilot_site.lib.errors import CopilotError

M = TypeVar("M", bound=models.Model)


class GuardedModelAdmin(admin.ModelAdmin[M]):
    """Staff manage the rows on which they hold `manage`; a superuser governs all of them, which grants no reading of content.

    Changes go through services: a subclass overrides `save_model` and `delete_model` with one call each.
    """

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        return filter_governed_rows(self.model, Principal.of(request.user)).order_by(*self.get_ordering(request))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return self._may_manage_row(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return self._may_manage_row(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._may_manage_row(request, None)

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return self._may_manage_row(request, obj)

    def _may_manage_row(self, request: HttpRequest, obj: M | None) -> bool:
        if not (request.user.is_active and request.user.is_staff):
            return False
        if request.user.is_superuser:  # called for every model on every page: avoid building a query
            return True
        rows = self.get_queryset(request)
        return (rows.filter(pk=obj.pk) if obj else rows).exists()

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer only the protected rows that this person sees in the admin: by default a field offers every row."""
        model = db_field.remote_field.model
        others = self.admin_site.get_model_admin(model) if self.admin_site.is_registered(model) else None
        if isinstance(others, GuardedModelAdmin):
            kwargs["queryset"] = others.get_queryset(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def refused(self, request: HttpRequest, error: CopilotError) -> None:
        messages.error(request, str(error))
