"""Split a text into units: English words in singular, Chinese characters, numbers, quoted strings, signs."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_QUOTES = r"\"([^\"]+)\"|“([^”]+)”|「([^」]+)」|《([^》]+)》|(?<![a-z])'([^']+)'(?![a-z])"
_UNIT = re.compile(
    rf"(?P<quoted>{_QUOTES})|(?P<time>[\ue000-\uf8ff])|(?P<number>\d[\d,]*(?:\.\d+)?)|(?P<word>[a-zà-ÿ]+(?:'(?:t|re|ve|s)\b)?)"
    r"|(?P<han>[\u3400-\u9fff])|(?P<sign>[<>]=?|=|%|&|[、~$€£¥-])"
)
_PRICED = re.compile(
    r"([$€£¥])\s?(\d[\d,]*(?:\.\d+)?(?:\s?(?:[百千万亿]+|k\b|mn?\b|bn\b|thousand\b|million\b|billion\b))?)"
)
_SPACED = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\d\u3400-\u9fff])|(?<=\d)\s+(?=[\u3400-\u9fff])")
_SHORT = 3  # letters; shorter words keep their ending
IRREGULAR = {
    "people": "person", "children": "child", "statuses": "status", "bonuses": "bonus", "buses": "bus", "campuses": "campus",
    "has": "has", "does": "does", "is": "is", "was": "was", "this": "this", "as": "as", "its": "its", "us": "us", "data": "data",
}  # fmt: skip


@dataclass(frozen=True)
class Unit:
    """text: what is matched. kind: word, han, number, quoted, time or sign. begin, end: in the normalised text."""

    text: str
    kind: str
    begin: int
    end: int


def normalise_text(text: str) -> str:
    """Return text with one form per character, no space between Chinese and numbers or other Chinese (“2024 年”), and
    currencies after numbers (“$5”).
    """
    text = unicodedata.normalize("NFKC", text).replace("‘", "'").replace("’", "'").replace("≥", ">=").replace("≤", "<=")
    if len(lowered := text.lower()) != len(text):  # “İ” becomes two characters; positions have to stay
        lowered = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
    return _SPACED.sub("", _PRICED.sub(r"\2\1", lowered))


def units_of(text: str) -> list[Unit]:
    """Return the units of a normalised text, in order; other punctuation separates and is dropped."""
    return list(_iterate_units(text))


def build_lookup_key(phrase: str) -> tuple[str, ...]:
    """Return a phrase's lookup key: the texts of its units."""
    return tuple(unit.text for unit in units_of(normalise_text(phrase)))


def _iterate_units(text: str) -> Iterator[Unit]:
    for found in _UNIT.finditer(text):
        kind = str(found.lastgroup or "quoted")
        kind = next(name for name in ("quoted", "time", "number", "word", "han", "sign") if found[name])
        item = found[0]
        if kind == "quoted":
            yield Unit(item[1:-1], kind, found.start(), found.end())
        elif kind == "number":
            yield Unit(item.replace(",", ""), kind, found.start(), found.end())
        else:
            yield Unit(singularise(item) if kind == "word" else item, kind, found.start(), found.end())


def singularise(word: str) -> str:
    """Return a word's singular, by the same rule in questions and in names of tables and columns."""
    word = word.removesuffix("'s")
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) > _SHORT + 1 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > _SHORT + 1 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > _SHORT and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
