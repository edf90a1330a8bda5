"""Where two texts say something else of the same."""

from datetime import date

from agent.attribution.disagreement import find_disagreeing_span

TODAY = date(2026, 11, 21)


def other(said: str, text: str, under: str = "", heading: str = "") -> str | None:
    span = find_disagreeing_span(said, under, text, heading, today=TODAY)
    return text[slice(*span)] if span else None


def test_another_amount_day_or_the_opposite_is_seen() -> None:
    for said, text in (
        ("Employees have 30 days of annual leave.", "Employees have 25 days of annual leave."),
        ("新员工的试用期为三个月。", "新员工的试用期为六个月。"),
        ("Business class is allowed.", "Business class is not allowed."),
        ("出差可以乘坐商务舱。", "出差不得乘坐商务舱。"),
        ("The policy is valid from 1 March 2026.", "The policy is valid from 1 May 2026."),
        ("本制度自2026年2月2日起施行。", "本制度自2026年3月1日起施行。"),
        (
            "The allowance is CNY 150 in China and EUR 55 in Europe.",
            "The allowance is CNY 150 in China and EUR 60 in Europe.",
        ),
        ("| City | Limit |\n|---|---|\n| Paris | EUR 190 |", "| City | Limit |\n|---|---|\n| Paris | EUR 210 |"),
    ):
        before = "The office opens at eight. " if text.isascii() and "|" not in text else ""
        found = other(said, f"{before}{text}")
        assert found is not None, said
        assert found in text


def test_what_agrees_or_is_about_something_else_is_not() -> None:
    for said, text in (
        ("Employees have 30 days of annual leave.", "Employees have 30 days of annual leave."),
        ("Tokens are valid for 60 minutes.", "Tokens are valid for one hour."),
        ("Employees in Rotterdam have 25 days of leave.", "Employees in Hangzhou have 15 days of leave."),
        ("A review takes at least 5 days.", "A review takes 10 days."),
        ("Employees have 30 days of annual leave.", "Employees have CNY 30 for annual leave."),
        ("| City | Limit |\n|---|---|\n| Paris | EUR 190 |", "| City | Limit |\n|---|---|\n| Oslo | EUR 210 |"),
        ("The policy is valid from 1 March 2026.", "The policy is valid for all."),
    ):
        assert other(said, text) is None


def test_what_holds_of_one_place_says_nothing_of_another() -> None:
    here, there = "Staff have 25 days of leave.", "Staff have 15 days of leave."
    assert other(here, there) == there
    assert other(here, there, "Rotterdam", "Hangzhou") is None
    assert other(here, there, "Leave", "Leave") == there
