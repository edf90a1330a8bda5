"""The base of every admin page over protected rows, and the grants shown in them."""

from typing import Any, TypeVar

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import Group, Permission, User
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from authz.grants import give, take_back
from authz.models import (
    ApiToken,
    FolderGroupGrant,
    FolderUserGrant,
    KnowledgeBaseGroupGrant,
    KnowledgeBaseUserGrant,
)
from authz.permissions import Right
from authz.principal import Principal
from authz.tokens import withdraw_token
from copilot_site.lib.errors import CopilotError

M = TypeVar("M", bound=models.Model)


class GuardedModelAdmin(admin.ModelAdmin[M]):
    """Staff manage the rows on which they hold `manage`; a superuser governs all of them, which grants no reading of content.

    Changes go through services: a subclass overrides `save_model` and `delete_model` with one call each.
    """

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        model: Any = self.model
        managed = model.objects.reachable_by(Principal.of(request.user), Right.MANAGE)
        rows: QuerySet[M] = model.unscoped.all() if request.user.is_superuser else managed
        return rows.order_by(*self.get_ordering(request))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return self._manages(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return self._manages(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._manages(request, None)

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return self._manages(request, obj)

    def _manages(self, request: HttpRequest, obj: M | None) -> bool:
        if not (request.user.is_active and request.user.is_staff):
            return False
        rows = self.get_queryset(request)
        return request.user.is_superuser or (rows.filter(pk=obj.pk) if obj else rows).exists()

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Grants are given and taken back by their service, which records them."""
        by = Principal.of(request.user)
        formset.save(commit=False)
        for grant in formset.deleted_objects:
            take_back(by, [_right(grant)], form.instance, of=_holder(grant))
        for grant in formset.new_objects:
            give(by, [_right(grant)], form.instance, to=_holder(grant))

    def refused(self, request: HttpRequest, error: CopilotError) -> None:
        messages.error(request, str(error))


def _holder(grant: Any) -> User | Group:
    return grant.group if hasattr(grant, "group_id") else grant.user  # type: ignore[no-any-return]


def _right(grant: Any) -> Right:
    return Right(grant.permission.codename.partition("_")[0])


class RightField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A choice among the five rights, in words."""

    def __init__(self, names: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._names = names

    def label_from_instance(self, obj: Permission) -> str:
        return str(self._names[obj.codename])


class GrantInline(admin.TabularInline[Any, Any]):
    """The rights given on this very row. One line is one right; to change a line, delete it and add another."""

    extra = 1

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True  # the page itself is only reached by whoever manages the row

    has_add_permission = has_delete_permission = has_view_permission

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name != "permission":
            return super().formfield_for_foreignkey(db_field, request, **kwargs)
        names = {f"{right.value}_{self.parent_model._meta.model_name}": right.label for right in Right}
        kwargs["queryset"] = Permission.objects.filter(
            content_type__app_label=self.parent_model._meta.app_label, codename__in=names
        )
        return RightField(names, label=_("right"), **kwargs)


class FolderGroupGrantInline(GrantInline):
    model = FolderGroupGrant
    fields = ("group", "permission")


class FolderUserGrantInline(GrantInline):
    model = FolderUserGrant
    fields = ("user", "permission")


class KnowledgeBaseGroupGrantInline(GrantInline):
    model = KnowledgeBaseGroupGrant
    fields = ("group", "permission")


class KnowledgeBaseUserGrantInline(GrantInline):
    model = KnowledgeBaseUserGrant
    fields = ("user", "permission")


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin[ApiToken]):
    """Tokens are made by their owners; here they are seen and revoked."""

    list_display = ("name", "prefix", "user", "created_at", "expires_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("name", "prefix", "user__username")
    readonly_fields = ("name", "prefix", "user", "created_at", "expires_at", "last_used_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def delete_model(self, request: HttpRequest, obj: ApiToken) -> None:
        withdraw_token(Principal.of(request.user), obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        for token in queryset:
            self.delete_model(request, token)
