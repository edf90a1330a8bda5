"""What a text of the one language says of a question in the other: a word of the question is said where a translation of it stands.

Only words of the matter count, weighed by how rarely ordinary texts hold them. A Chinese character alone means too much to tell
anything; it is recognised and weighs nothing.
"""

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache

from agent.extractive.candidates import term_ids
from agent.extractive.questions import Question, asks_only
from agent.extractive.wording import parts, pattern
from knowledge.dictionary.words import Dictionary, Rendering, inner_words, rarity
from knowledge.text.chinese_script import simplified
from knowledge.text.terms import is_han, terms

SAID = 0.6  # share of a rendering's rarity from which a text that holds it says the word; by hand
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]+")
_CHARACTERS_A_WORD = (
    3  # Chinese characters that say about as much as three English words, when a text's language is told
)
_FUNCTION_WORDS = frozenset(terms(" ".join(parts("across", "function_words"))))
_TALK = pattern("across", "talk")
_ENDING = re.compile(r"(?:ement|ment|ness|abl|ibl|anc|enc|ist|ful|ion|iv|al|er|or|ic|i)\Z")
_SHORTEST_ROOT = 4  # letters


class TermBridge:
    """A question, and what texts of the other language say of it. weights: {word of the question: rarity}, 0 … 9.2."""

    def __init__(self, question: Question, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._is_chinese = question.is_chinese
        self.weights: Mapping[str, float] = dict(self._words(question.text))
        self._ids = {word: term_ids(word) for word in self.weights}
        self._by_root: dict[str, list[str]] = {}
        for word in self.weights:
            self._by_root.setdefault(root(word), []).append(word)

    def says(self, text: str) -> frozenset[int]:
        """The terms of a text, and those of the question that it says in the other language."""
        own = term_ids(text)
        return own if self.is_own(text) else own.union(*(self._ids[word] for word in self.said(text)))

    def is_own(self, text: str) -> bool:
        """Whether a text is in the language of the question."""
        is_chinese = len(_HAN.findall(text)) * _CHARACTERS_A_WORD > len(_LATIN.findall(text))
        return is_chinese is self._is_chinese

    def unsaid(self, said: AbstractSet[int]) -> list[str]:
        """The words of the question that are not among the terms said, as `says` gives them."""
        return [word for word, ids in self._ids.items() if not ids <= said]

    def share(self, said: AbstractSet[int], words: Iterable[str] | None = None) -> float:
        """Share of the question's words, or of some of them, that is said, by rarity; 1 where there is nothing to say."""
        asked = list(self.weights if words is None else words)
        total = sum(self.weights[word] for word in asked)
        return sum(self.weights[word] for word in asked if self._ids[word] <= said) / total if total else 1.0

    def said(self, text: str) -> set[str]:
        """The words of the question that a text of the other language says."""
        here, text = frozenset(terms(text)), simplified(text)
        found = {word for word in self.weights if word in here or (is_han(word) and word in text)}
        return found | (self._said_in_english(here) if self._is_chinese else self._said_in_chinese(text))

    def _said_in_english(self, stems: frozenset[str]) -> set[str]:
        roots = frozenset(map(root, stems))
        return {word for word in self.weights if any(_share(said, roots) >= SAID for said in self._renderings(word))}

    def _said_in_chinese(self, text: str) -> set[str]:
        found: set[str] = set()
        for word in self._dictionary.words(text):
            for said in (*self._dictionary.renderings(word), *self._renderings_within(word)):
                hit = [each for each in map(root, said) if each in self._by_root]
                if hit and _share(said, self._by_root.keys()) >= SAID:
                    found.update(asked for each in hit for asked in self._by_root[each])
        return found

    def _renderings(self, word: str) -> list[Rendering]:
        return [said for part in self._dictionary.parts(word) for said in self._dictionary.renderings(part)]

    def _renderings_within(self, word: str) -> list[Rendering]:
        return [said for part in inner_words(word) for said in self._dictionary.renderings(part)]

    def _words(self, question: str) -> Iterable[tuple[str, float]]:
        for word in self._dictionary.words(question) if self._is_chinese else ():
            if not asks_only(word) and not all(map(asks_only, word)) and not _TALK.fullmatch(word):
                yield word, rarity(word) if len(word) > 1 else 0.0
        for term in terms(question):
            is_whole_identifier = not term.isalnum()  # its parts are terms of their own
            if (
                not _HAN.search(term)
                and not is_whole_identifier
                and term not in _FUNCTION_WORDS
                and not asks_only(term)
            ):
                yield term, rarity(term)


@lru_cache(maxsize=50_000)
def root(stem: str) -> str:
    """What the words of a family have in common: deliver, delivery and deliveries; audit and auditor."""
    while stem.isascii() and stem.isalpha() and (ending := _ENDING.search(stem)) and ending.start() >= _SHORTEST_ROOT:
        stem = stem[: ending.start()]
    return stem


def _share(said: Rendering, roots: AbstractSet[str]) -> float:
    """Share of a rendering's rarity that stands among the roots."""
    total = sum(map(rarity, said))
    return sum(rarity(stem) for stem in said if root(stem) in roots) / total if total else 0.0
