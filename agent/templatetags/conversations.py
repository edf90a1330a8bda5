"""What templates need to know about conversations."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django import template
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from agent.business.cells import is_number, is_year, spoken, told_row
from agent.business.models import DataSource
from agent.business.session import Rows
from agent.models import Session
from agent.query_results.result import ResultTable
from agent.sessions import sessions_of
from authz.governing import governed
from authz.principal import Principal
from knowledge.ingestion.language import language_of

register = template.Library()

_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_WINDOW = re.compile(r"(\S+) (?:to|至) (\S+)")
RECENT = 40  # conversations in the rail; all of them are on a page of their own


@register.simple_tag
def recent_conversations(request: HttpRequest) -> QuerySet[Session]:
    """The latest conversations of the person asking that have a question in them."""
    return sessions_of(Principal.of(request.user)).exclude(title="")[:RECENT]


@register.filter
def day(at: datetime) -> str:
    """When something was, as briefly as it can be told: the time of today, the day of this year, or the whole date."""
    local, now = localtime(at), localtime()
    if local.date() == now.date():
        return date_format(local, "H:i")
    return date_format(local, "MONTH_DAY_FORMAT" if local.year == now.year else "SHORT_DATE_FORMAT")


@register.filter
def cell(value: Any) -> str:
    """A cell of a result as people read it."""
    return spoken(value)


class Cell(NamedTuple):
    """A cell of a result. told: for people; stored: for programs, never in a language's own way to write numbers; nothing is empty.

    code: the stored value where people call it something else, else "".
    """

    told: str
    stored: str
    code: str
    is_number: bool


@register.filter
def cells(table: ResultTable | Rows) -> list[list[Cell]]:
    """The rows of a result as they are shown."""
    words = table.words if isinstance(table, ResultTable) else ()
    return [
        [_cell(*cell) for cell in zip(table.columns, row, told_row(table.columns, row, words), strict=True)]
        for row in table.rows
    ]


def _cell(column: str, value: Any, told: str) -> Cell:
    code = value if isinstance(value, str) and value != told else ""
    return Cell(told, "" if value is None else str(value), code, is_number(value) and not is_year(column, value))


@register.filter
def plain(quoted: str) -> str:
    """A quoted span in one line: the cells of a table side by side, without the rule below its header."""
    rows = (row for row in quoted.splitlines() if not _RULE.fullmatch(row))
    return " ".join(
        " · ".join(cell.strip() for cell in row.split("|") if cell.strip())
        if row.lstrip().startswith("|")
        else row.strip()
        for row in rows
    )


@register.filter
def window(told: str) -> str:
    """A span of days in the language of the page; it was kept in the question's."""
    found = _WINDOW.fullmatch(told)
    if found is None:
        return told
    start, end = found.groups()
    return _("%(start)s to %(end)s") % {"start": start, "end": _("now") if end in ("now", "今") else end}


@register.filter
def oldest_first(windows: Sequence[str]) -> list[str]:
    """Spans of days by their first day; one without a beginning comes first."""
    return sorted(windows, key=lambda told: "" if told.startswith("…") else told)


@register.filter
def script(text: str) -> str:
    """The `lang` attribute for a text that came without one."""
    return language_of(text) or "en"


@register.simple_tag
def governs_data(request: HttpRequest) -> bool:
    """Whether there is a data source for this person to look after; whoever may make the first one has one to make."""
    principal = Principal.of(request.user)
    return principal.is_superuser or governed(DataSource, principal).exists()
