"""Folding of names to keys, and the search of texts for known names.

Folded are width, traditional characters, upper case, quotation marks and space; nothing else: a plural or a translation is another
name until a passage, or a person, says that both are one. Short words in capitals keep them: US is not us, IT is not it.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from knowledge.models.graph import NAME_LENGTH
from knowledge.text.chinese_script import simplify_chinese
from knowledge.text.normalise import normalise_text

SHORT = 5  # letters of an abbreviation that keeps its capitals
MAX_TOKENS = 24  # of a name: words, or Chinese characters

_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:[-_./'’+&][^\W_{_CJK}]+)*")
_WORD = re.compile(rf"[^\W_{_CJK}]+")
_EDGE = " \t\n\"'`“”‘’「」『』《》〈〉()（）[]【】,，.。;；:：!！?？、*|"
_SPACE = re.compile(r"\s+")
_HAN = re.compile(rf"[{_CJK}]")


def fold_name(name: str) -> str:
    """Return the key of a name; "" of what has no letter, or is longer than a name."""
    key = _SPACE.sub(" ", _fold_text(name).strip(_EDGE))
    if len(key) > NAME_LENGTH or not any(char.isalpha() for char in key):
        return ""
    return key


@lru_cache(maxsize=256)  # passages: those of one document are read for people, units and names in turn
def _fold_text(text: str) -> str:
    plain = simplify_chinese(unicodedata.normalize("NFKC", normalise_text(text)))
    return _WORD.sub(lambda word: word[0] if _is_acronym(word[0]) else word[0].lower(), plain)


def _is_acronym(word: str) -> bool:
    return 2 <= len(word) <= SHORT and word.isupper() and word.isalpha()


def is_distinctive_name(name: str) -> bool:
    """Tell whether to look for a name in running text: two words, three Chinese characters, or a spelling of its own."""
    tokens = _TOKEN.findall(name)
    han = sum(1 for token in tokens if _HAN.fullmatch(token))
    if han >= 3 or (len(tokens) > 1 and len(tokens) > han):
        return len(tokens) <= MAX_TOKENS
    return (
        len(tokens) == 1
        and not han
        and (not name.isalpha() or not (name.islower() or name.istitle()))
        and len(name) > 2
    )


@dataclass
class Names:
    """Keys that are known, to be found in texts. Each is looked for at the tokens that it begins with."""

    longest: dict[str, int] = field(default_factory=dict)  # first token → most tokens of a name that begins with it
    keys: set[str] = field(default_factory=set)

    def add(self, keys: Iterable[str]) -> None:
        for key in keys:
            tokens = _TOKEN.findall(key)
            if tokens and key not in self.keys:
                self.keys.add(key)
                self.longest[tokens[0]] = max(self.longest.get(tokens[0], 0), len(tokens))

    def found_in(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield (key, as written) of each known name once, names within longer ones included, so that no name
        takes away another. None begins or ends within a word.
        """
        alike = _fold_text(text)
        same = len(alike) == len(
            text
        )  # folding by character keeps the places; else the folded name is what can be shown
        spans = [match.span() for match in _TOKEN.finditer(alike)]
        seen: set[str] = set()
        for place, (start, end) in enumerate(spans):
            for last in range(place, min(place + self.longest.get(alike[start:end], 0), len(spans))):
                until = spans[last][1]
                key = _SPACE.sub(" ", alike[start:until])
                if key in self.keys and key not in seen:
                    seen.add(key)
                    yield key, _SPACE.sub(" ", text[start:until]) if same else key


def list_candidate_keys(question: str) -> list[str]:
    """Return every span of a question that could be a name, as keys, for an index of keys."""
    alike = _SPACE.sub(" ", _fold_text(question))
    spans = [match.span() for match in _TOKEN.finditer(alike)]
    found = {
        alike[spans[first][0] : spans[last][1]]
        for first in range(len(spans))
        for last in range(first, min(first + MAX_TOKENS, len(spans)))
    }
    return sorted(found)
