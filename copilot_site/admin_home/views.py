"""The first page of the administration, its lights (are the servers well?), what takes long, and the list of every table."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agent.oversight.statistics import (
    DAYS,
    ENDING_WORDS,
    SLOW_MS,
    compute_costs,
    compute_speed,
    count_questions_by_day,
    first_day_of_period,
    list_answers_since,
)
from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from authz.rights.governing import may_oversee
from copilot_site.admin_home.lights import list_lights
from copilot_site.admin_home.log import build_log_home
from copilot_site.admin_home.waiting import list_waiting_work
from copilot_site.lib.errors import PermissionDenied
from copilot_site.lib.slow_statements import SLOW_S, list_slow_statements
from knowledge.governance.health import measure_ingestion_health

SHOWN = 50  # slow answers


def add_numbers(index: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Show the admin's own first page with the numbers that this person may see."""

    @wraps(index)
    def page(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        return index(request, {**(extra_context or {}), **_build_numbers(request)})

    return page


def _build_numbers(request: HttpRequest) -> dict[str, Any]:
    found: dict[str, Any] = {
        "title": _("Overview"),
        "waiting": list_waiting_work(request.user),
        "ingestion": measure_ingestion_health(Principal.of(request.user)),
        "is_keeper": request.user.is_superuser,
        "days_shown": DAYS,
    }
    if may_oversee(request.user):
        found |= {"days": count_questions_by_day(), "endings": list(ENDING_WORDS.items()), "speed": compute_speed()}
    if request.user.has_perm("agent.view_dayofuse"):
        found["costs"] = compute_costs()
    if request.user.has_perm("audit.view_entry"):
        found["log"] = build_log_home()
    return found


@require_safe
@admin_page
def system_health(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Return the lights as HTML, for the script of the first page; `?again=1` bypasses the cache.

    Raises PermissionDenied unless a superuser asks: names of servers are shown.
    """
    _require_superuser(principal)
    found = list_lights(again=request.GET.get("again") == "1")
    context = {"lights": found, "is_well": not any(light.is_urgent for light in found)}
    return render(request, "admin/_lights.html", context)


@require_safe
@admin_page
def slow_work(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show durations and statements, without any question. Raises PermissionDenied unless a superuser asks."""
    _require_superuser(principal)
    slow = (
        list_answers_since(first_day_of_period())
        .filter(duration_ms__gte=SLOW_MS)
        .order_by("-duration_ms")
        .select_related(None)
    )
    context = {
        "title": _("What takes long"),
        "days": DAYS,
        "answer_s": SLOW_MS // 1000,
        "statement_s": SLOW_S,
        "answers": [
            (row, (row.duration_ms or 0) / 1000)
            for row in slow.only("created_at", "duration_ms", "stop_reason")[:SHOWN]
        ],
        "statements": [
            {**row, "at": datetime.fromisoformat(row["at"]), "seconds": row["duration_ms"] / 1000}
            for row in list_slow_statements()
        ],
    }
    return render_admin_page(request, "admin/slow_work.html", context)


@require_safe
@admin_page
def expert(request: HttpRequest, _principal: Principal) -> HttpResponseBase:
    """List every table of Django's admin that this person may use."""
    return render_admin_page(
        request, "admin/expert.html", {"title": _("Expert"), "app_list": admin.site.get_app_list(request)}
    )


def _require_superuser(principal: Principal) -> None:
    if not principal.is_superuser:
        raise PermissionDenied(_("Only system administrators see how its parts are doing."))
