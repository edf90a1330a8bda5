"""Words of both languages around the words of a layer; English plurals and Chinese measure words."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def _load_phrases() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("phrases.yaml").read_text(encoding="utf-8"))
    return found


def find_phrases(kind: str, language: str) -> dict[str, str]:
    """Return the phrases of a kind, a section of `phrases.yaml`, by their names. language: en or zh."""
    found: dict[str, str] = _load_phrases()[kind][language]
    return found


def pluralise(thing: str) -> str:
    """Return an English label's plural: customer → customers, company → companies; one ending in s is a plural."""
    before, space, last = thing.rpartition(" ")
    irregular = _load_phrases()["plurals"].get(last.lower())
    if irregular:
        return f"{before}{space}{irregular}"
    if last.endswith("y") and last[-2:-1] not in "aeiou":
        return f"{thing[:-1]}ies"
    if last.endswith(("sh", "ch", "x", "ss", "us")):
        return f"{thing}es"
    return thing if last.endswith("s") else f"{thing}s"


def find_measure_word(thing: str) -> str:
    """Return the Chinese measure word of a noun, by its longest known end: 订单 → 笔, 订单明细 → 条."""
    words: dict[str, list[str]] = _load_phrases()["measure_words"]
    ends = [(len(end), word) for word, ends in words.items() for end in ends if thing.endswith(end)]
    return max(ends, default=(0, "个"))[1]


def format_count(number: str, thing: str, *, is_chinese: bool) -> str:
    """Return a number of things: 96 customers, 96 个客户."""
    if is_chinese:
        space = " " if thing[:1].isascii() else ""
        return f"{number} {find_measure_word(thing)}{space}{thing}"
    return f"{number} {thing if number == '1' else pluralise(thing)}"
