"""The pages of ratings and of questions without a good answer. They show people's own words: each reading of them is audited."""

from datetime import timedelta
from typing import Any

from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agent.models import Message, QuestionSet, Rating
from agent.oversight.gaps import USUAL_DAYS, list_misranked_topics, list_unanswered_topics, record_questions_read
from agent.oversight.replay import list_all_answers
from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from authz.rights.governing import require_oversight

PAGE_SIZE = 50
PERIODS = (7, 30, 90)  # days to choose from


@require_safe
@admin_page
def rating_list(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """List ratings.

    `?rating=` helpful or not_helpful, `?user=` a username, `?days=` age of the answer, `?comment=1` with comments only.

    Unknown filter values are ignored. Questions and answers are shown in a replay only, as for all answers.
    """
    require_oversight(request.user)
    chosen = _parse_filters(request)
    rows = _filter_ratings(chosen)
    counts = rows.order_by().aggregate(
        helpful=Count("pk", filter=Q(rating=Rating.HELPFUL)),
        not_helpful=Count("pk", filter=Q(rating=Rating.NOT_HELPFUL)),
    )
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    lines = list(page.object_list)
    _record_comments_read(principal, lines)
    context = {
        "title": _("Ratings of answers"),
        "page": page,
        "page_query": f"&{urlencode(chosen)}" if chosen else "",
        "lines": lines,
        "counts": counts,
        "chosen": chosen,
        "ratings": Rating.choices,
        "periods": PERIODS,
        "sets": QuestionSet.objects.all(),
    }
    return render_admin_page(request, "admin/oversight/ratings.html", context)


def _parse_filters(request: HttpRequest) -> dict[str, Any]:
    given = {name: request.GET.get(name, "").strip() for name in ("rating", "user", "days", "comment")}
    known = {
        "rating": given["rating"] if given["rating"] in Rating.values else "",
        "user": given["user"],
        "days": given["days"] if given["days"] in map(str, PERIODS) else "",
        "comment": given["comment"] if given["comment"] == "1" else "",
    }
    return {name: value for name, value in known.items() if value}


def _filter_ratings(chosen: dict[str, Any]) -> QuerySet[Message]:
    rows = list_all_answers().exclude(rating="").defer("content", "sentences", "state")
    if "rating" in chosen:
        rows = rows.filter(rating=chosen["rating"])
    if "user" in chosen:
        rows = rows.filter(session__user__username=chosen["user"])
    if "days" in chosen:
        rows = rows.filter(created_at__gte=timezone.now() - timedelta(days=int(chosen["days"])))
    return rows.exclude(comment="") if "comment" in chosen else rows


@transaction.atomic
def _record_comments_read(principal: Principal, lines: list[Message]) -> None:
    """Audit whose words are about to be shown; nothing without comments."""
    if read := [str(row.pk) for row in lines if row.comment]:
        record_action(principal, Action.RATINGS_READ, detail={"answers": read})


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
    found = list_misranked_topics(days) if is_first else list_unanswered_topics(days)
    page = Paginator(found.shown, PAGE_SIZE).get_page(request.GET.get("page"))
    lines = list(page.object_list)
    record_questions_read(principal, lines)
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
    return render_admin_page(request, "admin/oversight/gaps.html", context)
