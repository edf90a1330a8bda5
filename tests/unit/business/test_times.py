"""From a period to days: a part of one is never set against the whole of another."""

from datetime import date
from typing import Any

import pytest

from business.logical_query.query import Period, TimeRange
from business.logical_query.times import resolve_period, shift_time
from tests.unit.business.parsing.test_changes import talk


def test_to_date_ends_as_far_into_the_period_as_today_is() -> None:
    for today, unit, last, days in (
        ("2026-11-26", "year", 0, ("2026-01-01", "2026-11-27")),
        ("2024-02-29", "year", -1, ("2023-01-01", "2023-03-01")),
        ("2026-11-26", "quarter", -1, ("2026-07-01", "2026-08-27")),
        ("2026-11-26", "week", -1, ("2026-11-16", "2026-11-20")),
    ):
        period = Period.model_validate({"unit": unit, "first": last, "last": last, "to_date": True})
        start, end = resolve_period(period, date.fromisoformat(today))
        assert (start.isoformat(), end.isoformat()) == days


def test_so_far_is_said_of_the_period_before_it() -> None:
    assert talk("en", "revenue last year so far") == ["revenue, time: 2025-01-01 to 2025-11-21"]


STEPS: tuple[tuple[TimeRange, Any, tuple[date, date] | None], ...] = (
    (TimeRange(start=date(2026, 2, 1), end=date(2026, 3, 1)), "month", (date(2026, 1, 1), date(2026, 2, 1))),
    (TimeRange(start=date(2024, 2, 29), end=date(2024, 3, 1)), "year", (date(2023, 2, 28), date(2023, 3, 1))),
    (TimeRange(start=date(2026, 7, 1), end=date(2026, 10, 1)), "month", None),  # a quarter has no month before it
)


def test_a_step_is_one_period_of_the_kind_that_stands() -> None:
    for standing, unit, expected in STEPS:
        made = shift_time(standing, unit, -1, date(2026, 11, 21))
        assert (made and (made.start, made.end)) == expected


def test_the_last_n_reach_back_from_today_but_for_periods_of_accounts() -> None:
    for unit, n, days in (
        ("week", 2, ("2026-11-14", "2026-11-28")),
        ("month", 3, ("2026-08-28", "2026-11-28")),
        ("quarter", 2, ("2026-04-01", "2026-10-01")),
        ("fiscal_year", 2, ("2024-02-01", "2026-02-01")),
    ):
        start, end = resolve_period(
            Period.model_validate({"unit": unit, "rolling": n}), date(2026, 11, 27), fiscal_start=2
        )
        assert (start.isoformat(), end.isoformat()) == days


@pytest.mark.parametrize(
    ("language", "question", "said"),
    [
        ("en", "revenue in the last two quarters", "revenue, time: 2026-04-01 to 2026-09-30"),
        ("en", "revenue in the last two months", "revenue, time: 2026-09-22 to 2026-11-21"),
    ],
)
def test_the_last_quarters_are_over(language: str, question: str, said: str) -> None:
    assert talk(language, question) == [said]
