"""Org units and roles in the admin, changed through their services by superusers: a membership gives rights."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import FilteredSelectMultiple
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from authz.admin_pages import OnOwnPage, SuperusersOnly, admin_page, render_admin_page
from authz.models import OrgUnit, Role, UnitKind
from authz.people.accounts import list_checked_permissions, set_permissions
from authz.people.roles import create_role, delete_role
from authz.people.units import add_member, create_unit, delete_unit, move_unit, remove_member, rename_unit_or_role
from authz.principal import Principal
from copilot_site.lib.errors import PermissionDenied

M = TypeVar("M", OrgUnit, Role)
VERBS = {  # of the permissions that Django makes for every model
    "view": _("view"),
    "add": _("add"),
    "change": _("change"),
    "delete": _("delete"),
}


class MembersForm(forms.ModelForm[Any]):
    """A unit or role with the people who are in it by name."""

    members = forms.ModelMultipleChoiceField(
        User.objects.order_by("username"),
        required=False,
        label=capfirst(_("members")),
        widget=FilteredSelectMultiple(_("members"), is_stacked=False),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["members"].label_from_instance = lambda user: f"{user.get_full_name()} {user}".lstrip()  # type: ignore[attr-defined]
        if self.instance.pk:
            self.fields["members"].initial = self.instance.group.user_set.all()


class CarriedByGroupAdmin(OnOwnPage[M], SuperusersOnly[M]):
    """The shared part of units and roles: their members by name."""

    form = MembersForm
    list_display: Any = ("name", "members_count")
    search_fields = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        rows: QuerySet[M] = super().get_queryset(request).annotate(people=Count("group__user"))
        return rows

    @admin.display(description=_("members"), ordering="people")
    def members_count(self, row: Any) -> int:
        return int(row.people)

    def set_members(self, by: Principal, row: M, members: QuerySet[User]) -> None:
        """Add new members, and remove those no longer named."""
        before, after = set(row.group.user_set.all()), set(members)
        for user in after - before:
            add_member(by, row, user=user)
        for user in before - after:
            remove_member(by, row, user=user)


@admin.register(OrgUnit)
class OrgUnitAdmin(CarriedByGroupAdmin[OrgUnit]):
    """Departments and projects; their members count as members of every unit above."""

    own_page = "people"

    list_display = ("name", "kind", "parent", "members_count")
    fields = ("name", "kind", "parent", "members")

    def get_readonly_fields(self, request: HttpRequest, obj: OrgUnit | None = None) -> Any:
        return ("kind",) if obj else ()

    def save_model(self, request: HttpRequest, obj: OrgUnit, form: Any, change: bool) -> None:
        by, given = Principal.of(request.user), form.cleaned_data
        if not change:
            made = create_unit(by, name=given["name"], kind=UnitKind(given["kind"]), parent=given["parent"])
            obj.pk, obj.group = made.pk, made.group
            obj._state.adding = False
        else:
            _rename_if_changed(by, obj, form)
            if "parent" in form.changed_data:
                move_unit(by, obj, parent=given["parent"])
        self.set_members(by, obj, given["members"])

    def delete_model(self, request: HttpRequest, obj: OrgUnit) -> None:
        delete_unit(Principal.of(request.user), obj)


class PagePermissions(forms.ModelMultipleChoiceField[Permission]):
    """The permissions on rows that have a page in the admin, and those of our own, each as “Documents: view”."""

    def label_from_instance(self, permission: Permission) -> str:
        model = permission.content_type.model_class()
        kind = model._meta.verbose_name_plural if model else permission.content_type.name
        verb, _of, row = permission.codename.partition("_")
        return f"{capfirst(kind)}: {VERBS.get(verb, permission.name) if row == permission.content_type.model else permission.name}"

    def shown(self, held: Iterable[Permission]) -> QuerySet[Permission]:
        """Return the permissions to choose from; those that a role has already stay in sight."""
        kinds = ContentType.objects.get_for_models(*admin.site._registry).values()
        is_own = ~Q(codename__regex=f"^({'|'.join(VERBS)})_")
        is_held = Q(pk__in=[permission.pk for permission in held])
        return list_checked_permissions().filter(Q(content_type__in=kinds) | is_own | is_held)


class RoleForm(MembersForm):
    """A role with its members, and the pages of the administration that it opens."""

    permissions = PagePermissions(
        Permission.objects.none(),
        required=False,
        label=capfirst(_("permissions")),
        widget=FilteredSelectMultiple(_("permissions"), is_stacked=False),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        held = self.instance.group.permissions.all() if self.instance.pk else Permission.objects.none()
        field = cast("PagePermissions", self.fields["permissions"])
        field.queryset, field.initial = field.shown(held), held


@admin.register(Role)
class RoleAdmin(CarriedByGroupAdmin[Role]):
    """Roles: functions of people, in any unit."""

    form = RoleForm
    own_page = "roles"
    fieldsets = (
        (None, {"fields": ("name", "members")}),
        (_("Opens these admin pages"), {"fields": ("permissions",), "classes": ("collapse",)}),
    )

    def save_model(self, request: HttpRequest, obj: Role, form: Any, change: bool) -> None:
        by = Principal.of(request.user)
        if not change:
            made = create_role(by, name=form.cleaned_data["name"])
            obj.pk, obj.group = made.pk, made.group
            obj._state.adding = False
        else:
            _rename_if_changed(by, obj, form)
        self.set_members(by, obj, form.cleaned_data["members"])
        set_permissions(by, obj.group, form.cleaned_data["permissions"])

    def delete_model(self, request: HttpRequest, obj: Role) -> None:
        delete_role(Principal.of(request.user), obj)


def _rename_if_changed(by: Principal, row: OrgUnit | Role, form: Any) -> None:
    if "name" in form.changed_data:
        given, row.name = row.name, form.initial["name"]  # the service compares with what is stored
        rename_unit_or_role(by, row, name=given)


@dataclass(frozen=True)
class RoleLine:
    """opens: the kinds of rows that the role's permissions are about, in words."""

    name: str
    url: str
    people: int
    opens: tuple[str, ...]


@require_safe
@admin_page
def role_list(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """List roles, and groups that are neither role nor unit; `?q=` searches their names.

    Raises PermissionDenied unless a superuser asks.
    """
    if not principal.is_superuser:
        raise PermissionDenied(gettext("Only system administrators manage roles."))
    asked = request.GET.get("q", "").strip()
    groups = Group.objects.filter(org_unit=None, name__icontains=asked).order_by("name")
    rows = list(
        groups.select_related("role")
        .prefetch_related("permissions__content_type")
        .annotate(people=Count("user", distinct=True))
    )
    context = {
        "title": gettext("Roles"),
        "asked": asked,
        "roles": [_build_role_line(row, "admin:authz_role_change") for row in rows if hasattr(row, "role")],
        "others": [_build_role_line(row, "admin:auth_group_change") for row in rows if not hasattr(row, "role")],
    }
    return render_admin_page(request, "admin/rights/roles.html", context)


def _build_role_line(group: Group, page: str) -> RoleLine:
    kinds = {capfirst(permission.content_type.name) for permission in group.permissions.all()}
    people: int = group.people  # type: ignore[attr-defined]  # of the queryset
    return RoleLine(group.name, reverse(page, args=[group.pk]), people, tuple(sorted(kinds)))
