"""Frequencies of words in ordinary English and Chinese: the lists of the package wordfreq, read from its files.

The package is not imported: to find its own folder it looks through the source of everything that is loaded, which takes a second of
every process of this product, and it brings three packages for texts that nobody here gives it.
"""

import gzip
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgpack


@cache
def load_everyday_rates(language: str) -> dict[str, float]:
    """Return {word: share of all words said}, 0 … 1, of those above one in a million. Read once; do not change it.

    language: en or zh. The file has a header, then lists of words, each a hundredth of a power of ten rarer than the one before.
    Source: Speer, wordfreq 3.1, 2023 (zenodo.org/records/7199437). Raises ModuleNotFoundError where the package is missing.
    """
    return {
        word: 10 ** (-place / 100)
        for place, words in enumerate(_read_word_lists(f"small_{language}"))
        for word in words
    }


def is_rare_english(words: Iterable[str]) -> bool:
    """Return whether the longer English list (320,000 words, misspellings included) has one of these. It is read anew each time: a
    third of a second, where keeping it would take 40 MB. Raises ModuleNotFoundError where the package is missing.
    """
    wanted = set(words)
    return bool(wanted) and any(not wanted.isdisjoint(listed) for listed in _read_word_lists("large_en"))


def _read_word_lists(name: str) -> list[list[str]]:
    spec = find_spec("wordfreq")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("The package wordfreq is not installed", name="wordfreq")
    with gzip.open(Path(spec.origin).parent / "data" / f"{name}.msgpack.gz") as file:
        _header, *lists = msgpack.load(file)
    return list(lists)
