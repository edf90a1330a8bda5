"""Split a question into English stems, Chinese words and pairs of characters, with English translations."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

import Stemmer
from django.conf import settings

from knowledge.dictionary.cedict import DictionaryMissing
from knowledge.dictionary.words import Dictionary, compute_rarity, load_dictionary
from knowledge.text.normalise import normalise_text
from knowledge.text.terms import extract_terms, is_han

Rendering = tuple[str, ...]
PAIR_WEIGHT = 0.5  # weight of character pairs beside Chinese words: a label may be segmented otherwise
_UNIT = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
_STEMMER = Stemmer.Stemmer("english")


@dataclass(frozen=True)
class QuestionWord:
    """A word of a question. ways: alternative sets of terms for it. weight: higher for rarer words."""

    ways: tuple[Rendering, ...]
    weight: float


def split_question(question: str) -> list[QuestionWord]:
    """Return the distinct words of a question."""
    found = dict.fromkeys(extract_terms(question))
    words = [QuestionWord(((term,),), compute_rarity(term)) for term in found if not _has_han(term)]
    pairs = [term for term in found if len(term) == 2 and is_han(term)]
    known = open_dictionary_if_present()
    chinese = dict.fromkeys(known.words(normalise_text(question))) if known else {}
    words += [QuestionWord(((term,),), PAIR_WEIGHT * compute_rarity(term)) for term in pairs if term not in chinese]
    words += [QuestionWord(((word,), *translate_word(word)), compute_rarity(word)) for word in chinese]
    alone = dict.fromkeys(
        character for word in chinese if len(word) > 1 and not translate_word(word) for character in word
    )
    return words + [
        QuestionWord(((character,),), PAIR_WEIGHT * compute_rarity(character))
        for character in alone
        if character not in chinese
    ]


@lru_cache(maxsize=10_000)
def translate_word(word: str) -> tuple[Rendering, ...]:
    """Return a Chinese word's English translations as stems; for an unknown one those of the words in it."""
    known = open_dictionary_if_present()
    if known is None:
        return ()
    return tuple(dict.fromkeys(rendering for part in known.parts(word) for rendering in known.renderings(part)))


def find_exact_translations(word: str) -> tuple[Rendering, ...]:
    """Return the English translations of exactly this Chinese word; none for an unknown one."""
    known = open_dictionary_if_present()
    return known.renderings(word) if known else ()


def split_comparable_units(text: str) -> list[str]:
    """Return a text's units for comparing values: Chinese characters and English stems in order."""
    return [_STEMMER.stemWord(unit) for unit in split_written_units(text)]


def split_written_units(text: str) -> list[str]:
    """Return the same units in lower case, not stemmed."""
    return [unit.lower() for unit in _UNIT.findall(normalise_text(text))]


def _has_han(term: str) -> bool:
    return any(is_han(character) for character in term)


def open_dictionary_if_present() -> Dictionary | None:
    """Return the dictionary; None where set-up made none: then only embeddings match across languages."""
    try:
        return _open_dictionary()
    except DictionaryMissing:
        return None


@cache
def _open_dictionary() -> Dictionary:
    return load_dictionary(settings.HOME.models)
