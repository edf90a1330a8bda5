"""Detect references to earlier questions: “and”, “what about”, “那”; “them”, “these”, “其中”."""

from dataclasses import dataclass
from functools import cache

from business.parsing.reader.units import build_lookup_key, normalise_text, units_of
from business.parsing.reader.words import load_words

_ONLY = frozenset(map(build_lookup_key, ("only", "just", "只看", "只", "仅")))


@dataclass(frozen=True)
class Lead:
    """The beginning of a question. goes_on: with “and”, “what about”, “那”; refers: to “them”, “those”. contrasts: it asks the same of
    something else, as “and China?” and “中国呢” do and “only China” does not. asks: it has a word that asks or tells to. rest: what it
    says besides.
    """

    goes_on: bool
    refers: bool
    contrasts: bool
    asks: bool
    rest: str


def find_lead(question: str) -> Lead:
    """Return a question's references to the one before, and its rest."""
    text = normalise_text(question).strip().rstrip("?？!！。. ")
    goes_on = only = refers = False
    begins = load_words().changes["begins"]
    while True:
        units = units_of(text)
        leads = [tuple(unit.text for unit in units[:size]) for size in (4, 3, 2, 1) if size <= len(units)]
        key = next(filter(begins.__contains__, leads), None)
        if key is None:
            break
        only = only or key in _ONLY
        goes_on = True
        text = text[units[len(key) - 1].end :].lstrip(" ,，")
    pronouns = load_words().changes["refers"]
    units = units_of(text)
    for size in (4, 3, 2, 1):
        for begin in range(len(units) - size + 1):
            is_time = begin + size < len(units) and units[begin + size].text in _load_time_units()
            if tuple(unit.text for unit in units[begin : begin + size]) in pronouns and not is_time:
                refers = True
                text = f"{text[: units[begin].begin]} {text[units[begin + size - 1].end :]}"
                units = units_of(text)
                break
    plain = text.strip()
    rest = plain.removesuffix("呢").removesuffix("的话").strip()
    return Lead(
        goes_on, refers, (goes_on or rest != plain) and not only and not refers, contains_asking_word(rest), rest
    )


def contains_asking_word(text: str) -> bool:
    """Return whether a text has a word that asks or tells to."""
    units = tuple(unit.text for unit in units_of(text))
    known = load_words().changes["asks"]
    return any(units[begin : begin + len(key)] == key for key in known for begin in range(len(units)))


@cache
def _load_time_units() -> frozenset[str]:
    """Return the units of time: “this” before one of them is part of a time."""
    return frozenset(build_lookup_key(word)[0] for forms in load_words().times["units"].values() for word in forms)
