"""Numbers in digits and in words of both languages."""

import re

from business.parsing.reader.words import words

_HAN = re.compile(r"[零一两二三四五六七八九十百千万亿]+")
_DIGITS = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*([a-z]+|[十百千]?万|亿|千|百万|千万)?")
_TEN, _LARGE = 10, 10_000


def number_of(text: str) -> float | None:
    """Return the number in “5”, “1,200”, “3.5k”, “5万”, “twelve”, “十二”; None for any other text."""
    text = text.strip()
    found = _DIGITS.fullmatch(text)
    if found is not None:
        scale = words().scales.get(found[2]) if found[2] else 1
        return None if scale is None else round(float(found[1].replace(",", "")) * scale, 6)
    if _HAN.fullmatch(text):
        return float(_han(text))
    return _english(text)


def _han(text: str) -> int:
    values = words().numbers
    total, section, digit = 0, 0, 0
    for sign in text:
        value = values[sign]
        if value < _TEN:
            digit = value
        elif value < _LARGE:
            section, digit = section + (digit or 1) * value, 0
        else:
            total, section, digit = (total + section + digit) * value, 0, 0
    return total + section + digit


def _english(text: str) -> float | None:
    values = words().numbers
    parts = re.split(r"[\s-]+", text)
    if not parts or any(part not in values or not part.isascii() for part in parts):
        return None
    total = 0
    for part in parts:
        value = values[part]
        total = (total or 1) * value if value >= 100 else total + value
    return float(total)
