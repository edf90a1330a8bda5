"""The page of what should be written next. Questions are people's own words: that somebody reads them is recorded."""

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
    """`?days=` is one of PERIODS; anything else is the usual one. Who asked is told in a replay only, which is recorded, too."""
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
    """Whose words are about to be shown; nothing where there are none."""
    if lines:
        record(principal, Action.QUESTIONS_READ, detail={"answers": [str(gap.answers[0]) for gap in lines]})
