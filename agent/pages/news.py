"""News for a person: the dot in the rail, and the lines of the start page and the account menu."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.functional import SimpleLazyObject
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agent.privacy import visible_views
from authz.models import RequestState
from authz.principal import Principal
from knowledge.services.access_requests import list_unread_decisions, list_waiting_requests

MAX_VIEWS = 3


@dataclass(frozen=True)
class News:
    """icon: of `partials/icon.html`."""

    icon: str
    text: str
    url: str


def news_in_templates(request: HttpRequest) -> dict[str, object]:
    """Return the context of every template: `news`, read when a template shows it."""
    return {"news": SimpleLazyObject(lambda: collect_news(request))}


def collect_news(request: HttpRequest) -> list[News]:
    """Return what waits for this person or has changed for them; what they have opened is not new any more."""
    if not request.user.is_authenticated:
        return []
    principal = Principal.of(request.user)
    waiting = list_waiting_requests(principal).count()
    found = [News("alert", _format_waiting_requests(waiting), reverse("access-requests"))] if waiting else []
    return [*found, *_iterate_decision_news(principal), *_iterate_view_news(principal)]


def _format_waiting_requests(count: int) -> str:
    message = ngettext("One access request is waiting for you", "%(n)s access requests are waiting for you", count)
    return message % {"n": count}


def _iterate_decision_news(principal: Principal) -> Iterator[News]:
    states = list(list_unread_decisions(principal).values_list("state", flat=True))
    if RequestState.GRANTED in states:
        yield News("check", _("You were given access to a folder"), reverse("my-requests"))
    if RequestState.REFUSED in states:
        yield News("lock", _("Your request for access was refused"), reverse("my-requests"))


def _iterate_view_news(principal: Principal) -> Iterator[News]:
    message = _("An auditor or administrator viewed a conversation of yours on %(day)s")
    views = visible_views(principal).filter(seen_at=None).order_by("session_id", "-viewed_at").distinct("session_id")
    for view in views[:MAX_VIEWS]:
        day = date_format(localtime(view.viewed_at), "SHORT_DATE_FORMAT")
        yield News("person", message % {"day": day}, reverse("conversation", args=[view.session_id]))
