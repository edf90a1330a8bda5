"""Words of both languages, and what a Chinese one means in English: the dictionary as a reader uses it."""

import math
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import marisa_trie

from knowledge.dictionary.cedict import DictionaryMissing, locate_index_file
from knowledge.retrieval.term_weights import WORDS, estimate_passage_share
from knowledge.text.chinese_script import simplify_chinese
from knowledge.text.everyday import load_everyday_rates
from knowledge.text.terms import is_han

Rendering = tuple[str, ...]  # English stems that together translate a word

RAREST: Final = 1e-4  # share of ordinary passages below which a word is as rare as any
LONGEST: Final = 8  # characters of a word that is looked for
_HAN_RUN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_A_WORD = 3.0  # log-odds that a word more costs, so that few long words are preferred to many short ones
_UNUSED = {True: 1e-7, False: 1e-6}  # rate of a word that is not among the common ones: of one character, of more


class Dictionary:
    """The dictionary of this machine; a file that processes map and share."""

    def __init__(self, file: Path) -> None:
        self._renderings = marisa_trie.BytesTrie()
        self._renderings.mmap(str(file))
        self.renderings = lru_cache(maxsize=20_000)(self._look_up_word)
        self._cut = lru_cache(maxsize=5_000)(self._segment_run)

    def _look_up_word(self, word: str) -> tuple[Rendering, ...]:
        """Return what a Chinese word means, each meaning in English stems; none where the dictionary does not have it."""
        found = self._renderings.get(word)
        return tuple(tuple(meaning.split(" ")) for meaning in found[0].decode().split("/")) if found else ()

    def words(self, text: str) -> list[str]:
        """Return the Chinese words of a text in order, in simplified characters: the likeliest segmentation in everyday speech."""
        return [word for run in _HAN_RUN.findall(simplify_chinese(text)) for word in self._cut(run)]

    def parts(self, word: str) -> tuple[str, ...]:
        """Return a word that the dictionary has; of another one the words of two and three characters in it that it has."""
        if self.renderings(word):
            return (word,)
        return tuple(part for part in list_inner_words(word) if self.renderings(part))

    def _segment_run(self, run: str) -> tuple[str, ...]:
        cost, begins = [0.0] + [math.inf] * len(run), [0] * (len(run) + 1)
        for end in range(1, len(run) + 1):
            for begin in range(max(0, end - LONGEST), end):
                word = run[begin:end]
                if len(word) > 1 and word not in _load_chinese_rates() and word not in self._renderings:
                    continue
                price = cost[begin] + _A_WORD - math.log(_load_chinese_rates().get(word, _UNUSED[len(word) == 1]))
                if price < cost[end]:
                    cost[end], begins[end] = price, begin
        words: list[str] = []
        end = len(run)
        while end:
            words.append(run[begins[end] : end])
            end = begins[end]
        return tuple(reversed(words))


def list_inner_words(word: str) -> list[str]:
    """Return candidate words of two and three characters within a longer one."""
    return [word[begin : begin + size] for size in (3, 2) if size < len(word) for begin in range(len(word) - size + 1)]


@lru_cache(maxsize=50_000)
def compute_rarity(word: str) -> float:
    """Return how rare a word is, 0 … 9.2: minus the logarithm of the share of ordinary passages with it. A Chinese word whole, an
    English one as a stem.
    """
    share = (
        1 - math.exp(-WORDS * _load_chinese_rates().get(word, 0.0)) if is_han(word) else estimate_passage_share(word)
    )
    return -math.log(max(share, RAREST))


def load_dictionary(cache_dir: Path) -> Dictionary:
    """Return the dictionary whose index lies under `cache_dir`. Raises DictionaryMissing where there is none."""
    file = locate_index_file(cache_dir)
    try:
        return _open_dictionary(file)
    except (OSError, RuntimeError) as error:
        raise DictionaryMissing(f"The index of the dictionary, {file}, is not there or is damaged.") from error


@cache
def _open_dictionary(file: Path) -> Dictionary:
    return Dictionary(file)


def _load_chinese_rates() -> dict[str, float]:
    return load_everyday_rates("zh")
