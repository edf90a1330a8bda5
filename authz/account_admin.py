"""Django's own accounts and groups in the admin, changed through services; memberships are changed on the page of a person.

Only superusers may use these pages: changing accounts could make anyone a superuser.
"""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import IS_POPUP_VAR
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from authz.admin_pages import OnOwnPage, SuperusersOnly
from authz.models import OrgUnit, Role
from authz.people import roles, units
from authz.people.accounts import (
    change_account,
    create_account,
    delete_account,
    list_checked_permissions,
    record_password_change,
    set_permissions,
)
from authz.people.units import add_member
from authz.principal import Principal
from authz.tokens.forms import clean_name

for model in (User, Group):
    admin.site.unregister(model)  # Django's pages change memberships and record nothing


class NewPersonForm(AdminUserCreationForm[User]):
    """A form for a new account with its units and roles, on one page."""

    groups = forms.ModelMultipleChoiceField(
        queryset=Group.objects.order_by("name"),
        label=_("groups, units and roles"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def clean_username(self) -> str:
        return clean_name(self.cleaned_data["username"])


@admin.register(User)
class AccountAdmin(OnOwnPage[User], SuperusersOnly[User], UserAdmin[User]):
    """Accounts: who may sign in, and with which powers over the system."""

    own_page = "people"

    filter_horizontal = ("user_permissions",)
    list_filter = ("is_staff", "is_superuser", "is_active")
    readonly_fields = ("memberships", "last_login", "date_joined")
    add_form = NewPersonForm
    add_form_template = "admin/authz/account/add_form.html"
    add_fieldsets = (
        (None, {"fields": ("username", "first_name", "last_name", "email")}),
        (_("Password"), {"fields": ("usable_password", "password1", "password2")}),
        (_("Belongs to"), {"fields": ("groups",)}),
    )
    fieldsets = (
        (None, {"fields": ("username", "first_name", "last_name", "email", "password", "memberships")}),
        (_("Permissions"), {"fields": ("is_active", "is_staff", "is_superuser")}),
        (_("Advanced"), {"fields": ("user_permissions", "last_login", "date_joined"), "classes": ("collapse",)}),
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
        for group in form.cleaned_data.get("groups", ()):
            add_member(Principal.of(request.user), _find_carried_row(group), user=form.instance)
        if "user_permissions" in form.changed_data:
            set_permissions(Principal.of(request.user), form.instance, form.cleaned_data["user_permissions"])

    def response_add(self, request: HttpRequest, obj: User, post_url_continue: str | None = None) -> HttpResponse:
        """Show the new person's access after the plain save button."""
        if {"_addanother", "_continue", IS_POPUP_VAR} & request.POST.keys():
            return super().response_add(request, obj, post_url_continue)
        messages.success(
            request,
            _("Account created. This is what %(name)s can see.") % {"name": obj.get_full_name() or obj},
        )
        return redirect("person", obj.pk)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> Any:
        return super().add_view(request, form_url, {"title": _("Add a person")} | (extra_context or {}))

    def formfield_for_manytomany(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        """Offer only permissions that something checks."""
        if db_field.name == "user_permissions":
            kwargs["queryset"] = list_checked_permissions()
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        delete_account(Principal.of(request.user), obj)

    @transaction.atomic
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002
        before = User.objects.filter(pk=id).values_list("password", flat=True).first()
        answer = super().user_change_password(request, id, form_url)
        user = User.objects.filter(pk=id).first()
        if user is not None and user.password != before:
            record_password_change(Principal.of(request.user), user)
        return answer


@admin.register(Group)
class PlainGroupAdmin(OnOwnPage[Group], SuperusersOnly[Group], GroupAdmin):
    """Groups that are neither unit nor role, opened from the page of roles alone: no list leads to Django's table of groups."""

    own_page = "roles"

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Group | None = None) -> Any:
        return ("name",) if obj and _has_carried_row(obj) else ()

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not (obj and _has_carried_row(obj))

    def save_model(self, request: HttpRequest, obj: Group, form: Any, change: bool) -> None:
        by = Principal.of(request.user)
        if not change:
            obj.pk = roles.create_group(by, name=obj.name).pk
            obj._state.adding = False
        elif "name" in form.changed_data:
            given, obj.name = obj.name, form.initial["name"]  # the service compares with what is stored
            units.rename_unit_or_role(by, obj, name=given)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        set_permissions(Principal.of(request.user), form.instance, form.cleaned_data["permissions"])

    def delete_model(self, request: HttpRequest, obj: Group) -> None:
        roles.delete_group(Principal.of(request.user), obj)


def _find_carried_row(group: Group) -> OrgUnit | Role | Group:
    return OrgUnit.objects.filter(group=group).first() or Role.objects.filter(group=group).first() or group


def _has_carried_row(group: Group) -> bool:
    return OrgUnit.objects.filter(group=group).exists() or Role.objects.filter(group=group).exists()
