"""The administration's page of what takes long: answers by their duration, and statements on the database."""

from datetime import datetime

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agent.oversight.statistics import DAYS, SLOW_MS, answered_since, first_day
from authz.admin_pages import admin_page, show
from authz.principal import Principal
from copilot_site.lib.errors import PermissionDenied
from copilot_site.lib.slow_statements import SLOW_S, slow_statements

SHOWN = 50


@require_safe
@admin_page
def slow_work(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show durations and statements, without any question. Raises PermissionDenied unless a superuser asks."""
    if not principal.is_superuser:
        raise PermissionDenied(_("Only system administrators see how its parts are doing."))
    slow = answered_since(first_day()).filter(duration_ms__gte=SLOW_MS).order_by("-duration_ms").select_related(None)
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
            for row in slow_statements()
        ],
    }
    return show(request, "admin/slow_work.html", context)
