"""Django's own accounts and groups in the admin, changed through services; memberships are changed on the page of a person.

For superusers alone: whoever changes accounts could make themselves one.
"""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from authz import roles, units
from authz.accounts import change_account, create_account, delete_account, password_was_set, set_permissions
from authz.admin_pages import SuperusersOnly
from authz.models import OrgUnit, Role
from authz.principal import Principal

for model in (User, Group):
    admin.site.unregister(model)  # Django's pages change memberships and record nothing


@admin.register(User)
class AccountAdmin(SuperusersOnly[User], UserAdmin[User]):
    """Who may sign in, and with which powers over the system."""

    filter_horizontal = ("user_permissions",)
    list_filter = ("is_staff", "is_superuser", "is_active")
    readonly_fields = ("memberships", "last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Personal info"), {"fields": ("first_name", "last_name", "email")}),
        (_("Permissions"), {"fields": ("is_active", "is_staff", "is_superuser", "user_permissions")}),
        (_("Belongs to"), {"fields": ("memberships",)}),
        (_("Important dates"), {"fields": ("last_login", "date_joined")}),
    )

    @admin.display(description=_("groups, units and roles"))
    def memberships(self, user: User) -> SafeString:
        names = format_html_join(", ", "{}", ((group.name,) for group in user.groups.order_by("name"))) or "—"
        return format_html('{} <a href="{}">{}</a>', names, reverse("person", args=[user.pk]), _("Show and change"))

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        by = Principal.of(request.user)
        if change:
            change_account(by, obj, changed=set(form.changed_data) - {"user_permissions"})
        else:
            create_account(by, obj)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        if "user_permissions" in form.changed_data:
            set_permissions(Principal.of(request.user), form.instance, form.cleaned_data["user_permissions"])

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        delete_account(Principal.of(request.user), obj)

    @transaction.atomic
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        before = User.objects.filter(pk=id).values_list("password", flat=True).first()
        answer = super().user_change_password(request, id, form_url)
        user = User.objects.filter(pk=id).first()
        if user is not None and user.password != before:
            password_was_set(Principal.of(request.user), user)
        return answer


@admin.register(Group)
class PlainGroupAdmin(SuperusersOnly[Group], GroupAdmin):
    """Groups, and which pages of the admin their members may use. Units and roles are renamed and deleted on pages of their own."""

    def get_readonly_fields(self, request: HttpRequest, obj: Group | None = None) -> Any:
        return ("name",) if obj and _carries_something(obj) else ()

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not (obj and _carries_something(obj))

    def save_model(self, request: HttpRequest, obj: Group, form: Any, change: bool) -> None:
        by = Principal.of(request.user)
        if not change:
            obj.pk = roles.create_group(by, name=obj.name).pk
            obj._state.adding = False
        elif "name" in form.changed_data:
            given, obj.name = obj.name, form.initial["name"]  # the service compares with what is stored
            units.rename(by, obj, name=given)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        set_permissions(Principal.of(request.user), form.instance, form.cleaned_data["permissions"])

    def delete_model(self, request: HttpRequest, obj: Group) -> None:
        roles.delete_group(Principal.of(request.user), obj)


def _carries_something(group: Group) -> bool:
    return OrgUnit.objects.filter(group=group).exists() or Role.objects.filter(group=group).exists()
