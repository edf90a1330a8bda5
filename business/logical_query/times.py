"""Convert time ranges to days: calendar periods around today, in the layer's time zone and fiscal year.

“Last month” is the whole previous month. “The last 3 months”, and days, weeks and years, reach back from today, today
included, as people who wrote test questions read them. Quarters and fiscal years are accounting periods: “the last two
quarters” are the last two complete ones, as “last quarter” is the last complete one.
"""

from datetime import date, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from business.logical_query.query import Comparison, Inexpressible, Period, TimeRange, Unit

Span = tuple[date | None, date | None]
NO_FISCAL_YEAR = gettext_lazy("A fiscal year has no meaning in these data: the layer does not say when it begins.")
MAX_PERIODS = 60  # most periods of a comparison: a year's weeks, two months' days
STEPS = frozenset({"day", "week", "month", "quarter", "year"})
_DAYS = {"day": 1, "week": 7}
ACCOUNTED = frozenset({"quarter", "fiscal_quarter", "fiscal_year"})  # the last n are complete ones
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "fiscal_quarter": 3, "fiscal_year": 12}


def days_of(time: TimeRange, today: date, fiscal_start: int | None = None) -> Span:
    """Return the first day and the day after the last; None for an open end. Raises Inexpressible."""
    if time.period is None:
        return time.start, time.end
    return resolve_period(time.period, today, fiscal_start)


def resolve_period(period: Period, today: date, fiscal_start: int | None = None) -> tuple[date, date]:
    """Return the days of a period. fiscal_start: the first month of a fiscal year."""
    tomorrow = today + timedelta(days=1)
    unit = period.unit
    if unit.startswith("fiscal") and fiscal_start is None:
        raise Inexpressible(str(NO_FISCAL_YEAR))
    shift = (fiscal_start or 1) - 1 if unit.startswith("fiscal") else 0
    try:
        if period.rolling is not None and unit in ACCOUNTED:
            return _find_period_start(today, unit, -period.rolling, shift), _find_period_start(today, unit, 0, shift)
        if period.rolling is not None:
            return _subtract_units(tomorrow, unit, period.rolling), tomorrow
        start = _find_period_start(today, unit, period.first, shift)
        end = _find_period_start(today, unit, period.last + 1, shift)
        if period.to_date:
            end = min(end, _find_matching_day(today, unit, period.last) + timedelta(days=1))
    except (ValueError, OverflowError) as error:
        raise Inexpressible(_("This time lies outside of the calendar.")) from error
    return start, end


def find_comparison_time(
    time: TimeRange, comparison: Comparison, today: date, fiscal_start: int | None = None
) -> TimeRange:
    """Return the time to compare with: the same length just before, or the same days a year before. Raises Inexpressible."""
    start, end = _find_span_before(days_of(time, today, fiscal_start), comparison.to, time.period)
    return TimeRange(field=time.field, start=start, end=end)


def _find_span_before(span: Span, to: str, period: Period | None) -> Span:
    """Return the span before. period: the unit of the span: months before months, whatever their lengths."""
    start, end = span
    if start is None or end is None:
        raise Inexpressible(_("A comparison needs a time with a beginning and an end."))
    if to == "previous_year":
        return _shift_year(start, -1), _shift_year(end, -1)
    months = count_whole_months(start, end)
    if months:
        return _shift_month(start, -months), start
    if period is not None and period.to_date and period.rolling is None and period.unit in _MONTHS:
        before = _shift_month(start, -_MONTHS[period.unit] * (period.last - period.first + 1))
        return before, min(before + (end - start), start)
    return start - (end - start), start


def list_period_starts(span: Span, grain: str) -> list[date]:
    """Return the first days of the periods that a time touches. grain: of `STEPS`. Raises Inexpressible for too many, or an open end."""
    start, end = span
    if start is None or end is None:
        raise Inexpressible(_("A comparison needs a time with a beginning and an end."))
    found = [_find_period_start(start, grain, 0, 0)]
    while (following := _find_period_start(found[-1], grain, 1, 0)) < end:
        found.append(following)
        if len(found) > MAX_PERIODS:
            raise Inexpressible(_("These are too many periods to compare: ask for longer ones."))
    return found


def shift_time(time: TimeRange, unit: Unit, by: int, today: date) -> TimeRange | None:
    """Return a time one `unit` (day, week, month, quarter, year) earlier (-1) or later (1): the adjacent period, or the
    same part of the adjacent year. None where there is none.
    """
    period = time.period
    if period is not None and period.unit == unit and period.rolling is None and not period.to_date:
        if period.first != period.last:
            return None
        return time.model_copy(update={"period": Period(unit=unit, first=period.first + by, last=period.last + by)})
    start, end = days_of(time, today) if period is None or not period.unit.startswith("fiscal") else (None, None)
    if start is None or end is None:
        return None
    if unit == "year" and start.year == (end - timedelta(days=1)).year:
        first, last = _shift_year(start, by), _shift_year(end, by)
    elif count_whole_months(start, end) == _MONTHS.get(unit, -1):
        first, last = _shift_month(start, by * _MONTHS[unit]), _shift_month(end, by * _MONTHS[unit])
    elif (end - start).days == _DAYS.get(unit):
        first, last = start + by * (end - start), end + by * (end - start)
    else:
        return None
    return TimeRange(field=time.field, start=first, end=last)


def count_whole_months(start: date, end: date) -> int:
    """Return the number of months between two first days of months; 0 for other days."""
    if start.day != 1 or end.day != 1:
        return 0
    return (end.year - start.year) * 12 + end.month - start.month


def _find_period_start(today: date, unit: str, offset: int, shift: int) -> date:
    if unit == "day":
        return today + timedelta(days=offset)
    if unit == "week":
        return today - timedelta(days=today.weekday()) + timedelta(weeks=offset)
    months = _MONTHS[unit]
    index = (today.year * 12 + today.month - 1 - shift) // months + offset
    return _build_month_start(index * months + shift)


def _find_matching_day(day: date, unit: str, offset: int) -> date:
    """Return the day at the same offset in its period as `day` in its own, capped at a shorter month's end."""
    if unit in ("day", "week"):
        return day + timedelta(**{f"{unit}s": offset})
    first = _shift_month(day, offset * _MONTHS[unit])
    return min(first + timedelta(days=day.day - 1), _shift_month(first, 1) - timedelta(days=1))


def _build_month_start(index: int) -> date:
    """Return the first day of a month. index: months since year 0."""
    return date(index // 12, index % 12 + 1, 1)


def _shift_month(day: date, months: int) -> date:
    return _build_month_start(day.year * 12 + day.month - 1 + months)


def _shift_year(day: date, by: int) -> date:
    try:
        return day.replace(year=day.year + by)
    except ValueError:  # 29 February
        return day.replace(year=day.year + by, day=28)


def _subtract_units(day: date, unit: str, n: int) -> date:
    """Return the day n units before, capped at a shorter month's end: the last 7 days include today."""
    if unit in ("day", "week"):
        return day - timedelta(days=n * (7 if unit == "week" else 1))
    first = _shift_month(day.replace(day=1), -n * _MONTHS[unit])
    last = (_shift_month(first, 1) - timedelta(days=1)).day
    return first.replace(day=min(day.day, last))
