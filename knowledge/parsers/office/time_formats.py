"""A day, a time or a duration of a workbook as its number format shows it: 05.01.2024, 9:30, 36:30 ([h]:mm).

The formats that Excel shows by the country of who looks (built-in 14 and 22) are written as ISO does.
"""

import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from locale import windows_locale
from typing import Literal

from knowledge.parsers.office.number_formats import split_sections

BUILT_IN = {
    "15": "d-mmm-yy", "16": "d-mmm", "17": "mmm-yy", "18": "h:mm AM/PM", "19": "h:mm:ss AM/PM", "20": "h:mm", "21": "h:mm:ss",
    "45": "mm:ss", "46": "[h]:mm:ss", "47": "mm:ss.0",
}  # fmt: skip
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|(?P<elapsed>\[(?:h+|m+|s+)\])|\[(?P<bracket>[^\]]*)\]|(?P<half>AM/PM|A/P|上午/下午)'
    r"|(?P<part>y+|e+|m+|d+|a{3,4}|h+|s+)|(?P<fraction>\.0+)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_NOT_READ = re.compile(
    r"\[\$-(?:F800|F400|\d*1[0-9A-F]{6})\]|[#?]|General", re.IGNORECASE
)  # by country, other calendars
_COUNTRY = re.compile(r"\[\$[^\]-]*-([0-9A-F]{3,4})\]", re.IGNORECASE)
_WEEKDAYS = "一二三四五六日"

Moment = datetime | date | time | timedelta
Token = tuple[str, str]
"""Kind and text: a literal, or a part of a moment."""


def format_iso(value: Moment) -> str:
    """Return a time without a format: days without midnight, durations in hours."""
    if isinstance(value, timedelta):
        return _render_tokens(value, _tokenise_format("[h]:mm:ss" if value.total_seconds() % 60 else "[h]:mm"))
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="minutes").removesuffix(" 00:00")
    if isinstance(value, time):
        return value.isoformat(timespec="seconds" if value.second else "minutes")
    return value.isoformat()


def format_time(value: Moment, code: str) -> str:
    """Format a time; as `format_iso` where the format is not one of times, or depends on the viewer's country."""
    code = split_sections(code)[0]
    tokens = () if _NOT_READ.search(code) else _tokenise_format(code)
    if not any(kind == "part" for kind, _text in tokens):
        return format_iso(value)
    country = _COUNTRY.search(code)
    return " ".join(_render_tokens(value, tokens, country[1] if country else "").split())


@lru_cache(maxsize=256)
def _tokenise_format(code: str) -> tuple[Token, ...]:
    found: list[Token] = []
    for token in _TOKEN.finditer(code):
        kind, text = token.lastgroup or "", token[token.lastgroup] if token.lastgroup else ""
        if kind in ("part", "elapsed", "half", "fraction"):
            found.append(("part", text.lower() if kind != "half" else text.upper()))
        elif kind != "bracket":
            found.append(("literal", text or (" " if token[0].startswith("_") else "")))
    return tuple(_mark_minutes(found))


def _mark_minutes(tokens: list[Token]) -> list[Token]:
    """Mark minutes as "n": the code of months after hours and before seconds means minutes."""
    parts = [at for at, (kind, _text) in enumerate(tokens) if kind == "part"]
    for place, at in enumerate(parts):
        text = tokens[at][1]
        before = tokens[parts[place - 1]][1] if place else ""
        after = tokens[parts[place + 1]][1] if place + 1 < len(parts) else ""
        if text in ("m", "mm") and (before.strip("[").startswith("h") or after.startswith("s")):
            tokens[at] = ("part", text.replace("m", "n"))
    return tokens


def _render_tokens(value: Moment, tokens: tuple[Token, ...], country: str = "") -> str:
    has_half = any("/" in text for kind, text in tokens if kind == "part")
    moment, elapsed = _convert_to_moment(value)
    places = max((len(text) - 1 for kind, text in tokens if kind == "part" and text[0] == "."), default=0)
    moment += timedelta(
        microseconds=0 if places else 500_000
    )  # kept as a share of a day, which is seldom a whole second
    elapsed += timedelta(microseconds=0 if places else 500_000)
    sign = "-" if isinstance(value, timedelta) and value < timedelta() else ""
    return sign + "".join(
        text
        if kind == "literal"
        else _find_calendar_name(text, moment, country) or _format_part(text, moment, elapsed, has_half=has_half)
        for kind, text in tokens
    )


def _convert_to_moment(value: Moment) -> tuple[datetime, timedelta]:
    """Return the moment on a calendar, and the time since the epoch of workbooks."""
    zero = datetime(1899, 12, 30)  # noqa: DTZ001 - a workbook knows no time zones
    if isinstance(value, timedelta):
        return zero + abs(value), abs(value)
    if isinstance(value, time):
        value = datetime.combine(zero, value)
    elif not isinstance(value, datetime):
        value = datetime.combine(value, time())
    value = value.replace(tzinfo=None)
    return value, value - zero


def _find_calendar_name(text: str, moment: datetime, country: str) -> str:
    """Return the name of a month or weekday; "" for other parts. country: Windows' number of it, for the language."""
    if len(text) < 3 or text[0] not in "md":
        return ""
    from babel.core import UnknownLocaleError
    from babel.dates import get_day_names, get_month_names

    language = windows_locale.get(int(country or "0", 16), "en")
    try:
        get_day_names(locale=language)
    except (UnknownLocaleError, ValueError):
        language = "en"
    width: Literal["wide", "abbreviated"] = "wide" if len(text) > 3 else "abbreviated"
    if text[0] == "d":
        return str(get_day_names(width, locale=language)[moment.weekday()]).rstrip(".")
    name = str(get_month_names(width, locale=language)[moment.month]).rstrip(".")
    return name[:1] if len(text) == 5 else name


def _format_part(text: str, moment: datetime, elapsed: timedelta, *, has_half: bool) -> str:
    seconds = int(elapsed.total_seconds())
    hour = (moment.hour % 12 or 12) if has_half else moment.hour
    width = len(text.strip("[]"))
    match text[0]:
        case "[":
            number = seconds // {"h": 3600, "m": 60, "s": 1}[text[1]]
        case "y" | "e":
            return f"{moment.year:04d}" if width > 2 or text[0] == "e" else f"{moment.year % 100:02d}"
        case "a" if "/" not in text:
            return ("星期" if width == 4 else "") + _WEEKDAYS[moment.weekday()]
        case ".":
            return f".{moment.microsecond:06d}"[: len(text)]
        case "m" | "d" | "h" | "n" | "s":
            number = {"m": moment.month, "d": moment.day, "h": hour, "n": moment.minute, "s": moment.second}[text[0]]
        case _:
            return text.split("/")[moment.hour >= 12]
    return str(number).rjust(min(width, 2) if text[0] != "[" else width, "0")
