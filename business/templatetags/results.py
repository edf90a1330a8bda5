"""Template tags for results of queries."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from django import template
from django.http import HttpRequest
from django.utils.translation import gettext as _

from authz.principal import Principal
from business.connections.postgres_session import FetchedRows
from business.explore.fields import explore_url
from business.logical_query.query import LogicalQuery
from business.models import DataSource
from business.results.cells import format_row, format_value, is_number, is_year
from business.results.shown_query import ResultTable
from knowledge.text.language import detect_language

register = template.Library()

_WINDOW = re.compile(r"(\S+) (?:to|至) (\S+)")


register.filter("cell", format_value)


class ResultCell(NamedTuple):
    """A cell of a result. text: for people; stored: for programs, never in a language's own way to write numbers; nothing is empty.

    code: the stored value where people call it something else, else "".
    """

    text: str
    stored: str
    code: str
    is_number: bool


@register.simple_tag
def explore_address(source: str, query: LogicalQuery | None = None) -> str:
    """Return the address for changing a result's question."""
    return explore_url(source, query)


@register.filter
def cells(table: ResultTable | FetchedRows) -> list[list[ResultCell]]:
    """Return the rows of a result as they are shown."""
    words = table.words if isinstance(table, ResultTable) else ()
    return [
        [_build_cell(*cell) for cell in zip(table.columns, row, format_row(table.columns, row, words), strict=True)]
        for row in table.rows
    ]


def _build_cell(column: str, value: Any, text: str) -> ResultCell:
    code = value if isinstance(value, str) and value != text else ""
    return ResultCell(text, "" if value is None else str(value), code, is_number(value) and not is_year(column, value))


@register.filter
def window(text: str) -> str:
    """Return a span of days in the language of the page; it was kept in the question's."""
    found = _WINDOW.fullmatch(text)
    if found is None:
        return text
    start, end = found.groups()
    return _("%(start)s to %(end)s") % {"start": start, "end": _("now") if end in ("now", "今") else end}


@register.filter
def oldest_first(windows: Sequence[str]) -> list[str]:
    """Return spans of days by their first day; one without a beginning comes first."""
    return sorted(windows, key=lambda window: "" if window.startswith("…") else window)


@register.filter
def script(text: str) -> str:
    """Return the `lang` attribute for a text that came without one."""
    return detect_language(text) or "en"


@register.simple_tag
def may_ask_data(request: HttpRequest) -> bool:
    """Return whether there is a data source that this person may ask."""
    return DataSource.objects.visible_to(Principal.of(request.user)).exists()
