"""What a text says, word by word, in its own language and in the other: which words of a claim it explains."""

import re
from collections.abc import Iterator
from functools import lru_cache

from django.conf import settings

from agent.attribution.words import plain_length, without_plain
from agent.text.words import root
from knowledge.dictionary.cedict import DictionaryMissing
from knowledge.dictionary.words import Dictionary, dictionary, inner_words
from knowledge.text.terms import terms

_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_LATIN = re.compile(r"[^\W\d_\u3400-\u9fff][^\W_\u3400-\u9fff]*")
_LONGEST = 8  # characters of a piece that is looked for


class Vocabulary:
    """The words of a text, for claims about it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._roots = {root(term) for term in terms(text)}
        self._meanings = {root(stem) for said in _renderings(text) for stem in said}

    def unknown(self, text: str) -> list[str]:
        """The words of a lower-case text that this one does not say, words that hold no matter left out."""
        found: list[str] = []
        for run in _HAN_RUN.findall(text):
            found += self._unsaid(run)
        plain = without_plain(text.replace("'s ", " "))
        return found + [word for word in _LATIN.findall(plain) if not self._has(word)]

    def _unsaid(self, run: str) -> list[str]:
        """The words of a run that are neither said nor translated, in pieces that this text does not have."""
        found: list[str] = []
        for piece in _pieces(run, self._text):
            found += [word for word in chinese_words(piece) or [piece] if not self._is_said(word)]
        return found

    def _is_said(self, word: str) -> bool:
        if len(word) <= 2 and all(plain_length(char, 0) or char in self._text for char in word):
            return True
        return plain_length(word, 0) == len(word) or self._is_translated(word)

    def says(self, text: str) -> bool:
        """Whether it has every word of a text, of which at least one has matter."""
        return bool(_HAN_RUN.search(text) or _LATIN.search(without_plain(text))) and not self.unknown(text)

    def _has(self, word: str) -> bool:
        stems = {root(term) for term in terms(word)}
        return bool(stems & self._roots) or bool(stems & self._meanings)

    def _is_translated(self, piece: str) -> bool:
        """Whether each word of a Chinese piece means something that the text says in English."""
        words = chinese_words(piece)
        return bool(words) and all(
            any({root(stem) for stem in said} <= self._roots for said in _meanings(word)) for word in words
        )


def _pieces(run: str, text: str) -> Iterator[str]:
    """What is left of a run of Chinese characters without what stands in the text, two characters at least."""
    start, rest = 0, ""
    while start < len(run):
        size = max(_said_length(run, start, text), _plain_length(run, start))
        if size and rest:
            yield rest
            rest = ""
        rest += "" if size else run[start]
        start += size or 1
    if rest:
        yield rest


def _said_length(run: str, start: int, text: str) -> int:
    for size in range(min(_LONGEST, len(run) - start), 1, -1):
        if run[start : start + size] in text:
            return size
    return 0


def _plain_length(run: str, start: int) -> int:
    size = plain_length(run, start)
    return size if size > 1 else 0


def renderings(word: str) -> tuple[frozenset[str], ...]:
    """What a Chinese word that the dictionary has means, each meaning as roots of English words."""
    known = _dictionary()
    return tuple(frozenset(map(root, said)) for said in known.renderings(word)) if known else ()


def chinese_words(text: str) -> list[str]:
    """The Chinese words of a text; none where there is no dictionary."""
    known = _dictionary()
    return known.words(text) if known else []


@lru_cache(maxsize=1)
def _dictionary() -> Dictionary | None:
    """The dictionary of this machine; None where there is none, and then words of another language are unknown."""
    try:
        return dictionary(settings.HOME.models)
    except DictionaryMissing:
        return None


def _meanings(word: str) -> tuple[tuple[str, ...], ...]:
    known = _dictionary()
    if known is None:
        return ()
    return tuple(said for part in (known.parts(word) or (word,)) for said in known.renderings(part))


@lru_cache(maxsize=256)
def _renderings(text: str) -> frozenset[tuple[str, ...]]:
    words = set(chinese_words(text))
    return frozenset(said for word in words | {p for w in words for p in inner_words(w)} for said in _meanings(word))
