"""The words of both languages, from their data file, that questions use besides the layer's; and numbers in words and digits."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from business.parsing.reader.units import build_lookup_key

FILE = Path(__file__).parent / "words.yaml"
Key = tuple[str, ...]


@dataclass(frozen=True)
class WordRoles:
    """roles: by the units of a phrase, the roles it may have; `currency:EUR`, `grain:month`, `each_grain:month`, and `state` for what is
    made of small words and means something. changes: how a question leans on the one before it.
    """

    roles: dict[Key, tuple[str, ...]]
    times: dict[str, Any]
    numbers: dict[str, int]
    scales: dict[str, int]
    changes: dict[str, frozenset[Key]]
    steps: dict[int, tuple[str, ...]]


@cache
def load_words() -> WordRoles:
    data = load_word_lists()
    roles: dict[Key, tuple[str, ...]] = {}
    for role, phrases in data["roles"].items():
        for phrase in phrases:
            key = build_lookup_key(phrase)
            roles[key] = (*roles.get(key, ()), role)
    for grain, forms in data["times"]["grains"].items():
        roles |= {build_lookup_key(phrase): (f"grain:{grain}",) for phrase in forms["noun"]}
        roles |= {build_lookup_key(phrase): (f"each_grain:{grain}",) for phrase in forms["each"]}
    for code, phrases in data["currencies"].items():
        roles |= {build_lookup_key(phrase): (f"currency:{code}",) for phrase in phrases}
    roles |= {build_lookup_key(phrase): ("state",) for phrase in data["states"]}
    changes = {name: frozenset(map(build_lookup_key, data["changes"][name])) for name in ("begins", "refers", "asks")}
    steps = {-1: tuple(data["changes"]["earlier"]), 1: tuple(data["changes"]["later"])}
    return WordRoles(roles, data["times"], data["numbers"], data["scales"], changes, steps)


@cache
def load_word_lists() -> dict[str, Any]:
    """Return the data file's content."""
    data: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return data


_HAN = re.compile(r"[零一两二三四五六七八九十百千万亿]+")
_DIGITS = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*([a-z]+|[十百千]?万|亿|千|百万|千万)?")
_TEN, _LARGE = 10, 10_000


def parse_number(text: str) -> float | None:
    """Return the number in “5”, “1,200”, “3.5k”, “5万”, “twelve”, “十二”; None for any other text."""
    text = text.strip()
    found = _DIGITS.fullmatch(text)
    if found is not None:
        scale = load_words().scales.get(found[2]) if found[2] else 1
        return None if scale is None else round(float(found[1].replace(",", "")) * scale, 6)
    if _HAN.fullmatch(text):
        return float(_parse_chinese_number(text))
    return _parse_english_number(text)


def _parse_chinese_number(text: str) -> int:
    values = load_words().numbers
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


def _parse_english_number(text: str) -> float | None:
    values = load_words().numbers
    parts = re.split(r"[\s-]+", text)
    if not parts or any(part not in values or not part.isascii() for part in parts):
        return None
    total = 0
    for part in parts:
        value = values[part]
        total = (total or 1) * value if value >= 100 else total + value
    return float(total)
