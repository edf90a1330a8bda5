"""The page of roles: how many people have each, and which pages of the administration it opens."""

from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.db.models import Count
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from authz.admin_pages import admin_page, show
from authz.principal import Principal
from copilot_site.lib.errors import PermissionDenied


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
        raise PermissionDenied(_("Only system administrators manage roles."))
    asked = request.GET.get("q", "").strip()
    groups = Group.objects.filter(org_unit=None, name__icontains=asked).order_by("name")
    rows = list(
        groups.select_related("role")
        .prefetch_related("permissions__content_type")
        .annotate(people=Count("user", distinct=True))
    )
    context = {
        "title": _("Roles"),
        "asked": asked,
        "roles": [_line(row, "admin:authz_role_change") for row in rows if hasattr(row, "role")],
        "others": [_line(row, "admin:auth_group_change") for row in rows if not hasattr(row, "role")],
    }
    return show(request, "admin/rights/roles.html", context)


def _line(group: Group, page: str) -> RoleLine:
    kinds = {capfirst(permission.content_type.name) for permission in group.permissions.all()}
    people: int = group.people  # type: ignore[attr-defined]  # of the queryset
    return RoleLine(group.name, reverse(page, args=[group.pk]), people, tuple(sorted(kinds)))
