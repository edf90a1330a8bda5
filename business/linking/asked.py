"""Split a question into English stems, Chinese words and pairs of characters, with English translations."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

import Stemmer
from django.conf import settings

from knowledge.dictionary.cedict import DictionaryMissing
from knowledge.dictionary.words import Dictionary, dictionary, rarity
from knowledge.text.normalise import normalise
from knowledge.text.terms import is_han, terms

Rendering = tuple[str, ...]
PAIR_WEIGHT = 0.5  # weight of character pairs beside Chinese words: a label may be segmented otherwise
_UNIT = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
_STEMMER = Stemmer.Stemmer("english")


@dataclass(frozen=True)
class Asked:
    """A word of a question. ways: alternative sets of terms for it. weight: higher for rarer words."""

    ways: tuple[Rendering, ...]
    weight: float


def asked_words(question: str) -> list[Asked]:
    """Return the distinct words of a question."""
    found = dict.fromkeys(terms(question))
    words = [Asked(((term,),), rarity(term)) for term in found if not _has_han(term)]
    pairs = [term for term in found if len(term) == 2 and is_han(term)]
    known = dictionary_here()
    chinese = dict.fromkeys(known.words(normalise(question))) if known else {}
    words += [Asked(((term,),), PAIR_WEIGHT * rarity(term)) for term in pairs if term not in chinese]
    words += [Asked(((word,), *translations(word)), rarity(word)) for word in chinese]
    alone = dict.fromkeys(
        character for word in chinese if len(word) > 1 and not translations(word) for character in word
    )
    return words + [
        Asked(((character,),), PAIR_WEIGHT * rarity(character)) for character in alone if character not in chinese
    ]


@lru_cache(maxsize=10_000)
def translations(word: str) -> tuple[Rendering, ...]:
    """Return a Chinese word's English translations as stems; for an unknown one those of the words in it."""
    known = dictionary_here()
    if known is None:
        return ()
    return tuple(dict.fromkeys(rendering for part in known.parts(word) for rendering in known.renderings(part)))


def meanings(word: str) -> tuple[Rendering, ...]:
    """Return the English translations of exactly this Chinese word; none for an unknown one."""
    known = dictionary_here()
    return known.renderings(word) if known else ()


def units(text: str) -> list[str]:
    """Return a text's units for comparing values: Chinese characters and English stems in order."""
    return [_STEMMER.stemWord(unit) for unit in written(text)]


def written(text: str) -> list[str]:
    """Return the same units in lower case, not stemmed."""
    return [unit.lower() for unit in _UNIT.findall(normalise(text))]


def _has_han(term: str) -> bool:
    return any(is_han(character) for character in term)


def dictionary_here() -> Dictionary | None:
    """Return the dictionary; None where set-up made none: then only embeddings match across languages."""
    try:
        return _opened()
    except DictionaryMissing:
        return None


@cache
def _opened() -> Dictionary:
    return dictionary(settings.HOME.models)
