"""The page of questions without a good answer. They are people's own words: each reading of them is audited."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agent.oversight.gaps import USUAL_DAYS, not_shown_first, nothing_found, record_look
from agent.oversight.rating_views import PERIODS
from authz.admin_pages import admin_page, show
from authz.principal import Principal
from authz.rights.governing import require_oversight

PAGE_SIZE = 50


@require_safe
@admin_page
def gap_list(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """List the questions that found nothing; `?list=first`: those whose answer exists but was not shown first.

    `?days=` is one of PERIODS, else the default. Only a replay tells who asked, and is audited too.
    """
    require_oversight(request.user)
    given = request.GET.get("days", "")
    days = int(given) if given in map(str, PERIODS) else USUAL_DAYS
    is_first = request.GET.get("list") == "first"
    found = not_shown_first(days) if is_first else nothing_found(days)
    page = Paginator(found.shown, PAGE_SIZE).get_page(request.GET.get("page"))
    lines = list(page.object_list)
    record_look(principal, lines)
    context = {
        "title": _("Questions without a good answer"),
        "page": page,
        "page_query": f"&days={days}{'&list=first' if is_first else ''}",
        "lines": lines,
        "withheld": found.withheld,
        "is_first": is_first,
        "days_chosen": days,
        "periods": PERIODS,
    }
    return show(request, "admin/oversight/gaps.html", context)
