"""The first page of the administration, and the part of it that asks servers whether they are well."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agent.oversight.statistics import DAYS, ENDING_WORDS, costs, days_of_questions, speed
from authz.admin_pages import admin_page, show
from authz.principal import Principal
from authz.rights.governing import may_oversee
from copilot_site.admin_home.lights import lights
from copilot_site.admin_home.log import log_home
from copilot_site.admin_home.waiting import waiting_for
from copilot_site.lib.errors import PermissionDenied
from knowledge.governance.health import health


def with_numbers(index: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Show the admin's own first page with the numbers that this person may see."""

    @wraps(index)
    def page(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        return index(request, {**(extra_context or {}), **_numbers(request)})

    return page


def _numbers(request: HttpRequest) -> dict[str, Any]:
    found: dict[str, Any] = {
        "title": _("Overview"),
        "waiting": waiting_for(request.user),
        "ingestion": health(Principal.of(request.user)),
        "is_keeper": request.user.is_superuser,
        "days_shown": DAYS,
    }
    if may_oversee(request.user):
        found |= {"days": days_of_questions(), "endings": list(ENDING_WORDS.items()), "speed": speed()}
    if request.user.has_perm("agent.view_dayofuse"):
        found["costs"] = costs()
    if request.user.has_perm("audit.view_entry"):
        found["log"] = log_home()
    return found


@require_safe
@admin_page
def system_health(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Return the lights as HTML, for the script of the first page; `?again=1` bypasses the cache.

    Raises PermissionDenied unless a superuser asks: names of servers are shown.
    """
    if not principal.is_superuser:
        raise PermissionDenied(_("Only system administrators see how its parts are doing."))
    found = lights(again=request.GET.get("again") == "1")
    context = {"lights": found, "is_well": not any(light.is_urgent for light in found)}
    return render(request, "admin/_lights.html", context)


@require_safe
@admin_page
def expert(request: HttpRequest, _principal: Principal) -> HttpResponseBase:
    """List every table of Django's admin that this person may use."""
    return show(request, "admin/expert.html", {"title": _("Expert"), "app_list": admin.site.get_app_list(request)})
