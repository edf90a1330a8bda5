"""Time expressions of both languages, on Saturday the 21st of November 2026."""

from datetime import date

import pytest

from agent.business.ask.times.windows import find_windows

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("上个月", "2026-10-01", "2026-11-01"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("本季度", "2026-10-01", "2027-01-01"),
        ("last quarter", "2026-07-01", "2026-10-01"),
        ("本周", "2026-11-16", "2026-11-23"),
        ("过去 90 天", "2026-08-23", "2026-11-22"),
        ("in the past 90 days", "2026-08-23", "2026-11-22"),
        ("the last 6 months, not including the current month", "2026-05-01", "2026-11-01"),
        ("last 2 full quarters", "2026-04-01", "2026-10-01"),
        ("the last 8 weeks excluding the current week", "2026-09-21", "2026-11-16"),
        ("最近3个完整的月", "2026-08-01", "2026-11-01"),
        ("最近3个月,不含本月", "2026-08-01", "2026-11-01"),
        ("最近三个月", "2026-08-21", "2026-11-22"),
        ("since march", "2026-03-01", None),
        ("since december", "2025-12-01", None),
        ("自3月以来", "2026-03-01", None),
        ("1月以来", "2026-01-01", None),
        ("去年", "2025-01-01", "2026-01-01"),
        ("去年上半年", "2025-01-01", "2025-07-01"),
        ("今年第三季度", "2026-07-01", "2026-10-01"),
        ("2025年10月", "2025-10-01", "2025-11-01"),
        ("october 2025", "2025-10-01", "2025-11-01"),
        ("2024年第二季度", "2024-04-01", "2024-07-01"),
        ("the second half of 2024", "2024-07-01", "2025-01-01"),
        ("in 1997", "1997-01-01", "1998-01-01"),
        ("between 2020-01-01 and 2020-03-31", "2020-01-01", "2020-04-01"),
        ("before 2020-01-01", None, "2020-01-01"),
        ("after 2020", "2021-01-01", None),
        ("昨天", "2026-11-20", "2026-11-21"),
        ("10月", "2026-10-01", "2026-11-01"),
        ("12月", "2025-12-01", "2026-01-01"),
    ],
)
def test_a_window(text: str, start: str | None, end: str | None) -> None:
    (found,) = find_windows(f"x {text.replace(' 天', '天').replace('过去 ', '过去')} x".removesuffix(" x"), TODAY)
    assert (found.window.start and str(found.window.start), found.window.end and str(found.window.end)) == (start, end)


@pytest.mark.parametrize("text", ["by month", "5个月", "may i ask", "on 2026-13-45", "monthly sales"])
def test_no_window(text: str) -> None:
    assert find_windows(text, TODAY) == []
