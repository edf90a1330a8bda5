"""Template tags and filters for conversations."""

import re
from datetime import datetime

from django import template
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agent.conversations.presentation.answer_html import render_answer
from agent.conversations.presentation.message import ShownMessage
from agent.conversations.sessions import search_sessions
from agent.models import Session
from agent.runs.report import NAMES
from authz.principal import Principal
from business.templatetags.results import script

register = template.Library()

_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
RECENT = 40  # conversations in the rail; all of them are on a page of their own


@register.filter
def made_by(provider: str) -> str:
    """Return the author of an answer for display; a model by its own name."""
    return str(NAMES.get(provider, provider)) or "–"


@register.simple_tag
def recent_conversations(request: HttpRequest) -> QuerySet[Session]:
    """Return the pinned and the latest conversations of the current user, without empty ones."""
    return search_sessions(Principal.of(request.user))[:RECENT]


@register.filter
def day(at: datetime) -> str:
    """Format a time briefly: the time for today, the day for this year, or the whole date."""
    local, now = localtime(at), localtime()
    if local.date() == now.date():
        return date_format(local, "H:i")
    return date_format(local, "MONTH_DAY_FORMAT" if local.year == now.year else "SHORT_DATE_FORMAT")


@register.filter
def age(at: datetime) -> str:
    """Format briefly how long ago a day was."""
    days = max((localtime().date() - localtime(at).date()).days, 0)
    if days < 2:
        return _("yesterday") if days else _("today")
    if days < 31:
        return ngettext("%(count)d day ago", "%(count)d days ago", days) % {"count": days}
    if days < 365:
        return ngettext("%(count)d month ago", "%(count)d months ago", days // 30) % {"count": days // 30}
    return ngettext("%(count)d year ago", "%(count)d years ago", days // 365) % {"count": days // 365}


@register.simple_tag
def prose(message: ShownMessage) -> SafeString:
    """Render the words of an answer."""
    return render_answer(message)


@register.filter
def plain(quoted: str) -> str:
    """Format a quoted span in one line: the cells of a table side by side, without the rule below its header."""
    rows = (row for row in quoted.splitlines() if not _RULE.fullmatch(row))
    return " ".join(
        " · ".join(cell.strip() for cell in row.split("|") if cell.strip())
        if row.lstrip().startswith("|")
        else row.strip()
        for row in rows
    )


register.filter(script)
