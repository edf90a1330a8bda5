"""The closed word classes that claims are made with, as `words.yaml` lists them."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import yaml

_FILE: Final = Path(__file__).with_name("words.yaml")


@cache
def _load_word_classes() -> dict[str, frozenset[str]]:
    loaded: dict[str, dict[str, list[str]]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    found: dict[str, set[str]] = {}
    for name, languages in loaded.items():
        for word in (*languages["en"], *languages["zh"]):
            found.setdefault(word, set()).add(name)
    return {word: frozenset(names) for word, names in found.items()}


@cache
def _build_word_pattern() -> re.Pattern[str]:
    words = sorted(_load_word_classes(), key=len, reverse=True)
    english = "|".join(re.escape(word) for word in words if word.isascii())
    return re.compile(
        rf"(?<![a-z0-9])(?:{english})(?![a-z0-9])|{'|'.join(word for word in words if not word.isascii())}"
    )


def word_classes_of(text: str) -> set[str]:
    """Return the classes of the words in a lower-case text; the longest match counts, as for "at least"."""
    return {name for found in _build_word_pattern().finditer(text) for name in _load_word_classes()[found[0]]}


def contains_word_class(text: str, *names: str) -> bool:
    """Return whether a lower-case text has a word of one of these classes."""
    return not word_classes_of(text).isdisjoint(names)


def remove_function_words(text: str) -> str:
    """Return the text without function words."""
    return _build_word_pattern().sub(
        lambda found: found[0] if _load_word_classes()[found[0]] == {"cause"} else " ", text
    )
