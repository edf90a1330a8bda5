"""From a period to days: a part of one is never set against the whole of another."""

from datetime import date

import pytest

from business.logical_query.query import Period
from business.logical_query.times import period_days
from tests.unit.business.parsing.test_changes import talk


@pytest.mark.parametrize(
    ("today", "unit", "last", "days"),
    [
        ("2026-11-26", "year", 0, ("2026-01-01", "2026-11-27")),
        ("2026-11-26", "year", -1, ("2025-01-01", "2025-11-27")),
        ("2024-02-29", "year", -1, ("2023-01-01", "2023-03-01")),
        ("2026-11-26", "quarter", -1, ("2026-07-01", "2026-08-27")),
        ("2026-10-31", "month", -1, ("2026-09-01", "2026-10-01")),
        ("2026-11-30", "month", -1, ("2026-10-01", "2026-10-31")),
        ("2026-11-26", "week", -1, ("2026-11-16", "2026-11-20")),
        ("2026-11-26", "day", -1, ("2026-11-25", "2026-11-26")),
    ],
)
def test_to_date_ends_as_far_into_the_period_as_today_is(
    today: str, unit: str, last: int, days: tuple[str, str]
) -> None:
    period = Period.model_validate({"unit": unit, "first": last, "last": last, "to_date": True})
    start, end = period_days(period, date.fromisoformat(today))
    assert (start.isoformat(), end.isoformat()) == days


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "revenue this year so far compared to last year so far",
            "revenue, compared, time: 2026-01-01 to 2026-11-21, time: 2025-01-01 to 2025-11-21",
        ),
        (
            "revenue this month to date versus last month to date",
            "revenue, compared, time: 2026-11-01 to 2026-11-21, time: 2026-10-01 to 2026-10-21",
        ),
        (
            "revenue this year so far versus the same period last year",
            "revenue, compared, time: 2026-01-01 to 2026-11-21, time: 2025-01-01 to 2025-11-21",
        ),
        ("revenue last year so far", "revenue, time: 2025-01-01 to 2025-11-21"),
    ],
)
def test_so_far_is_said_of_the_period_before_it(question: str, said: str) -> None:
    assert talk("en", question) == [said]
