"""A question that a manager of the source has answered once: their statement answers it again, under the rights of whoever asks.

A time that the question says relatively (“last month”) is meant as of today: dates in the statement that were its days when it was
confirmed become its days of today; where one cannot be told so, the statement is not used.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import override

from agent.business.ask.describe import Meaning
from agent.business.ask.times.windows import Window, find_windows
from agent.business.ask.words.units import normalised
from agent.business.examples import passes
from agent.business.models import ConfirmedPair
from agent.business.sources import OpenSource, open_sources
from agent.business.ways.base import Written
from authz.principal import Principal

_DATE = re.compile(r"'(\d{4}-\d{2}-\d{2})'")
_YEAR = re.compile(r"(?<![\w.])(?:19|20)\d{2}(?![\w.])")
_END = "?？!！。. "


@dataclass(frozen=True)
class Confirmed:
    """sql: as of today, before the guard; "" where its dates cannot be told for today."""

    opened: OpenSource
    sql: str
    by: str
    at: datetime

    def written(self, language: str) -> Written:
        """With who confirmed it, and when, in the question's language."""
        with override("zh-hans" if language.startswith("zh") else "en"):
            told = _("Confirmed for this question by %(name)s on %(day)s.") % {
                "name": self.by or _("a person who is not here any more"),
                "day": self.at.date().isoformat(),
            }
        return Written(self.sql, Meaning("", (), (told,)))


def confirmed_for(principal: Principal, question: str) -> Confirmed | None:
    """The confirmed statement for a question among the sources that this person may ask; None where there is none."""
    return confirmed_in(open_sources(principal), question)


def confirmed_in(sources: Iterable[OpenSource], question: str) -> Confirmed | None:
    """The latest confirmed statement for the same question that the rights of whoever opened the sources would run."""
    asked = _same_for(question)
    found: list[Confirmed] = []
    for opened in sources:
        pairs = ConfirmedPair.objects.filter(source=opened.source).select_related("confirmed_by")
        pair = next((pair for pair in pairs if _same_for(pair.question) == asked), None)
        if pair is not None and passes(pair.sql, opened.access.policy):
            zone = ZoneInfo(opened.layer.time_zone)
            at = localtime(pair.confirmed_at, zone)
            sql = as_of(pair.sql, question, confirmed=at.date(), today=datetime.now(zone).date())
            by = pair.confirmed_by
            found.append(Confirmed(opened, sql, (by.get_full_name() or by.get_username()) if by else "", at))
    return max(found, key=lambda each: each.at, default=None)


def as_of(sql: str, question: str, *, confirmed: date, today: date) -> str:
    """The statement for today; "" where the question's times have moved and a date in the statement is none of their days."""
    before, now = _windows(question, confirmed), _windows(question, today)
    if [_days(window) for window in before] == [_days(window) for window in now]:
        return sql
    if len(before) != 1 or len(now) != 1:  # of several times a day may be of either
        return ""
    moved = {old: new for old, new in zip(_days(before[0]), _days(now[0]), strict=True) if old and new}
    shifted = _DATE.sub(lambda found: f"'{moved.get(found[1], found[1])}'", sql)
    unknown = [day for day in _DATE.findall(sql) if day not in moved]
    other_years = set(_YEAR.findall(_DATE.sub("", sql))) - set(_YEAR.findall(question))
    return "" if unknown or other_years else shifted


def _windows(question: str, day: date) -> list[Window]:
    return [found.window for found in find_windows(normalised(question).lower(), day)]


def _days(window: Window) -> tuple[str, str, str]:
    """Its first day, its last one and the day after, as SQL writes them; "" for an open end."""
    last = window.end - timedelta(days=1) if window.end else None
    return tuple(day.isoformat() if day else "" for day in (window.start, last, window.end))  # type: ignore[return-value]


def _same_for(question: str) -> str:
    """What is the same for two spellings of one question."""
    return " ".join(normalised(question).casefold().split()).strip(_END)
