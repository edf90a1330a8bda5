"""Correct typos in English words of a question: “paretnal leave” finds what “parental leave” finds.

Only ordinary English and the passages that the person may read are used: the index would reveal words of hidden
documents.
"""

import re
import string
from collections.abc import Iterable
from functools import lru_cache

from agent.text.words import term_ids_of
from knowledge.text.everyday import is_rare_english, load_everyday_rates

SHORTEST = 5  # letters: shorter words resemble too many others
_WORD = re.compile(r"(?<![\w@./-])[a-z]{5,}(?![\w@/-]|\.\w)")  # what begins with a capital is a name

_REGIONAL = (  # British and American spellings of one word
    (re.compile(r"(?<=.{3}[a-z])is(?=e|ing|ation|able)"), "iz"),
    (re.compile(r"(?<=.{3}[a-z])iz(?=e|ing|ation|able)"), "is"),
    (re.compile(r"ys(?=e|ing)"), "yz"),
    (re.compile(r"yz(?=e|ing)"), "ys"),
    (re.compile(r"(?<=..)our"), "or"),
    (re.compile(r"(?<=..)or(?!$)"), "our"),
    (re.compile(r"ll(?=ed|er|ing|ist|or)"), "l"),
    (re.compile(r"(?<=[^l])l(?=ment)"), "ll"),
    (re.compile(r"tre(?=s?$|d$)"), "ter"),
    (re.compile(r"ogue(?=s?$)"), "og"),
    (re.compile(r"[ao]e"), "e"),
)


def correct_spelling(question: str, passages: Iterable[str]) -> str:
    """Replace each unknown English word by the most common one that differs in one typo; "" where nothing changes.

    Words found in the passages, in British or American spelling, and names are kept.
    """
    terms = frozenset[int]().union(*map(term_ids_of, passages))

    def mended(found: re.Match[str]) -> str:
        word = found[0]
        if word in _load_word_rates() or term_ids_of(word) <= terms:
            return word
        near = _find_one_typo_words(word)
        return (
            max(near, key=lambda item: (_load_word_rates()[item], item))
            if near and not _is_regional_spelling(word)
            else word
        )

    mended_question = _WORD.sub(mended, question)
    return mended_question if mended_question != question else ""


@lru_cache(maxsize=1_024)
def _is_regional_spelling(word: str) -> bool:
    """Return whether a word is a British or American spelling.

    “summarise” is no typo of “summaries”.
    """
    return is_rare_english({spelt.sub(other, word) for spelt, other in _REGIONAL} - {word})


def _find_one_typo_words(word: str) -> set[str]:
    """Return the English words that differ by one omitted, added, changed or swapped letter."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    letters = string.ascii_lowercase
    near = {head + tail[1:] for head, tail in cuts if tail}
    near |= {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    near |= {head + letter + tail[1:] for head, tail in cuts if tail for letter in letters}
    near |= {head + letter + tail for head, tail in cuts for letter in letters}
    return {item for item in near if len(item) >= SHORTEST and item in _load_word_rates()}


def _load_word_rates() -> dict[str, float]:
    return load_everyday_rates("en")
