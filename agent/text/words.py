"""Words of questions and sentences in both languages: question words, codes, word roots."""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import yaml

from knowledge.retrieval.term_weights import share_of_passages
from knowledge.text.normalise import normalise
from knowledge.text.terms import term_id, terms

_FILE: Final = Path(__file__).with_name("wording.yaml")
_SPELT = re.compile(r"[A-Za-z]*[a-z][A-Z][\w-]*|[A-Z]{2,}[\w-]*|[\w-]*\d[\w,-]*(?:\.\w[\w,-]*)*", re.ASCII)
_CODE = re.compile(r"[A-Za-z]{1,5}-?\d{2,}(?:-[A-Za-z\d]+)*")
_ENDING = re.compile(r"(?:ement|ment|ness|abl|ibl|anc|enc|ist|ful|ion|iv|al|er|or|ic|i)\Z")
_SHORTEST_ROOT = 4  # letters
EVERYDAY = 0.2  # share of ordinary passages with a word, from which on it is an everyday word; chosen by hand


@cache
def _listed(file: Path) -> dict[str, list[str]]:
    listed: dict[str, list[str]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return listed


@cache
def pattern_in(file: Path, name: str) -> re.Pattern[str]:
    """Return the pattern of a word list in a YAML file. Raises KeyError for an unknown name."""
    return re.compile("|".join(_listed(file)[name]), re.IGNORECASE)


def pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a word list in the file beside this module."""
    return pattern_in(_FILE, name)


def asks_only(term: str) -> bool:
    """Return whether a term of a question is a question word (what, 什么) rather than a content word."""
    return pattern("asking").fullmatch(term) is not None


@lru_cache(maxsize=8_192)  # sentences of the passages that were read last: some 20 MB
def term_ids(text: str) -> frozenset[int]:
    return frozenset(map(term_id, terms(text)))


def matter_terms(question: str) -> set[str]:
    """Return the content terms of a question: no question words, no everyday words."""
    return {term for term in terms(question) if not asks_only(term) and share_of_passages(term) < EVERYDAY}


def identifiers_in(text: str) -> frozenset[str]:
    """Return the codes in a text, in lower case: letters and at least two digits."""
    found = (item.rstrip(",-") for item in _SPELT.findall(normalise(text)))
    return frozenset(item.lower() for item in found if _CODE.fullmatch(item))


@lru_cache(maxsize=50_000)
def root(stem: str) -> str:
    """Return the common root of a word family: deliver, delivery and deliveries; audit and auditor."""
    while stem.isascii() and stem.isalpha() and (ending := _ENDING.search(stem)) and ending.start() >= _SHORTEST_ROOT:
        stem = stem[: ending.start()]
    return stem
