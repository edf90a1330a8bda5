"""Words of questions and sentences in both languages: question words, content terms, codes."""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import yaml

from knowledge.retrieval.term_weights import estimate_passage_share
from knowledge.text.normalise import normalise_text
from knowledge.text.terms import extract_terms, hash_term

_FILE: Final = Path(__file__).with_name("wording.yaml")
_SPELT = re.compile(r"[A-Za-z]*[a-z][A-Z][\w-]*|[A-Z]{2,}[\w-]*|[\w-]*\d[\w,-]*(?:\.\w[\w,-]*)*", re.ASCII)
_CODE = re.compile(r"[A-Za-z]{1,5}-?\d{2,}(?:-[A-Za-z\d]+)*")
EVERYDAY = 0.2  # share of ordinary passages with a word, from which on it is an everyday word; chosen by hand


@cache
def _load_word_lists(file: Path) -> dict[str, list[str]]:
    listed: dict[str, list[str]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return listed


@cache
def load_word_pattern_from(file: Path, name: str) -> re.Pattern[str]:
    """Return the pattern of a word list in a YAML file. Raises KeyError for an unknown name."""
    return re.compile("|".join(_load_word_lists(file)[name]), re.IGNORECASE)


def load_word_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a word list in the file beside this module."""
    return load_word_pattern_from(_FILE, name)


def is_question_word(term: str) -> bool:
    """Return whether a term of a question is a question word (what, 什么) rather than a content word."""
    return load_word_pattern("asking").fullmatch(term) is not None


@lru_cache(maxsize=8_192)  # sentences of the passages that were read last: some 20 MB
def term_ids_of(text: str) -> frozenset[int]:
    return frozenset(map(hash_term, extract_terms(text)))


def find_content_terms(question: str) -> set[str]:
    """Return the content terms of a question: no question words, no everyday words."""
    return {
        term
        for term in extract_terms(question)
        if not is_question_word(term) and estimate_passage_share(term) < EVERYDAY
    }


def find_identifiers(text: str) -> frozenset[str]:
    """Return the codes in a text, in lower case: letters and at least two digits."""
    found = (item.rstrip(",-") for item in _SPELT.findall(normalise_text(text)))
    return frozenset(item.lower() for item in found if _CODE.fullmatch(item))
