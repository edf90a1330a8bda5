"""The page of content gaps. Questions are people's own words: each reading of them is audited."""

from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agent.oversight.gaps import Gap, gaps
from agent.oversight.rating_views import PERIODS
from audit.actions import Action
from audit.record import record
from authz.admin_pages import admin_page, show
from authz.governing import require_oversight
from authz.principal import Principal

PAGE_SIZE = 50
USUAL_DAYS = 30


@require_safe
@admin_page
def gap_list(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """List unanswered questions; `?days=` is one of PERIODS, else the default.

    Only a replay tells who asked, and is audited too.
    """
    require_oversight(request.user)
    given = request.GET.get("days", "")
    days = int(given) if given in map(str, PERIODS) else USUAL_DAYS
    page = Paginator(gaps(days), PAGE_SIZE).get_page(request.GET.get("page"))
    lines = list(page.object_list)
    _record_look(principal, lines)
    context = {
        "title": _("What should be written next"),
        "page": page,
        "page_query": f"&days={days}",
        "lines": lines,
        "days_chosen": days,
        "periods": PERIODS,
    }
    return show(request, "admin/oversight/gaps.html", context)


@transaction.atomic
def _record_look(principal: Principal, lines: list[Gap]) -> None:
    """Audit whose words are about to be shown; nothing for an empty list."""
    if lines:
        record(principal, Action.QUESTIONS_READ, detail={"answers": [str(gap.answers[0]) for gap in lines]})
