"""The tokenizer of the bundled model: a Unigram with Metaspace, over a trie that lies in a file.

The library that usually does this holds 270 MB for these 250,000 pieces, a dictionary 75 MB; the trie takes 1 MB, which all
processes share, and half the time: 1 ms for a page of text that the model then reads for 60 ms.
"""

import json
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import marisa_trie
import numpy as np

from knowledge.embedding.model_files import NUMBERS, PIECES, SCORES, VOCABULARY
from knowledge.embedding.weights import Vocabulary

SPACE_MARK = "▁"
# Words that come back in every text, and Chinese clauses: they are counted when a document is split, and embedded soon after.
CACHED_CHARACTERS, CACHED_WORDS = 64, 16_384
IMPOSSIBLE = float("-inf")
UNKNOWN_PENALTY = 10.0  # below the rarest piece, as in SentencePiece


class Tokenizer:
    """Text to piece ids, without special tokens. Thread safe; no string raises."""

    def __init__(self, folder: Path) -> None:
        """Open the files of `save_vocabulary` in `folder`; all but the character map stay mapped."""
        small = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
        self.bos, self.eos, self._unknown = small["bos"], small["eos"], small["unk"]
        self._longest = small["longest"]
        self._characters = str.maketrans({**small["characters"], "\0": " "})
        self._pieces = marisa_trie.Trie().mmap(str(folder / PIECES))
        # of memory views, which give numbers of Python several times as fast as arrays of numpy do
        self._numbers, self._scores = (memoryview(np.load(folder / name, mmap_mode="r")) for name in (NUMBERS, SCORES))
        self._unknown_score = min(self._scores) - UNKNOWN_PENALTY
        self._cached = lru_cache(CACHED_WORDS)(self._segment_word)

    def encode(self, text: str) -> list[int]:
        """Return the piece ids of a text; empty for a text of nothing but spaces and controls."""
        ids: list[int] = []
        for word in self.normalise(text).split():
            marked = SPACE_MARK + word
            ids += self._cached(marked) if len(marked) <= CACHED_CHARACTERS else self._segment_word(marked)
        return ids

    def rarity(self, ids: Sequence[int]) -> list[float]:
        """Return minus the log-probability of each piece: 3.6 for ".", 7 for "the" and "的", 20 for the rarest."""
        return [-self._scores[number] for number in ids]

    def normalise(self, text: str) -> str:
        """Return the text as the vocabulary spells it: composed, then the file's character map; lone surrogates are spaces."""
        readable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return unicodedata.normalize("NFC", readable).translate(self._characters)

    def _segment_word(self, word: str) -> list[int]:
        """Return the likeliest split of one word (Viterbi); a character outside every piece is one unknown token."""
        length, longest = len(word), self._longest
        best = [0.0] + [IMPOSSIBLE] * length
        arrived: list[tuple[int, int]] = [(0, self._unknown)] * (length + 1)  # from where, with which piece
        beginnings, numbers, scores = self._pieces.iter_prefixes_with_ids, self._numbers, self._scores
        for start in range(length):
            so_far = best[start]
            for piece, key in beginnings(word[start : start + longest]):
                end, number = start + len(piece), numbers[key]
                if so_far + scores[number] > best[end]:
                    best[end] = so_far + scores[number]
                    arrived[end] = start, number
            if so_far + self._unknown_score > best[start + 1]:
                best[start + 1] = so_far + self._unknown_score
                arrived[start + 1] = start, self._unknown
        ids = []
        while length:
            length, number = arrived[length]
            ids.append(number)
        return ids[::-1]


def save_vocabulary(vocabulary: Vocabulary, folder: Path) -> None:
    """Write the files that a Tokenizer reads: a trie of the pieces, the number of each of its keys, the score of each number."""
    special = {vocabulary.bos, vocabulary.eos, vocabulary.pad, vocabulary.unk, vocabulary.mask}
    # a text that spells "<s>" is ordinary text
    numbers = {piece: number for number, piece in enumerate(vocabulary.pieces) if number not in special}
    trie = marisa_trie.Trie(numbers)
    of_keys = np.zeros(len(numbers), np.int32)
    for piece, number in numbers.items():
        of_keys[trie[piece]] = number
    trie.save(str(folder / PIECES))
    np.save(folder / NUMBERS, of_keys)
    np.save(folder / SCORES, np.array(vocabulary.scores, np.float32))
    small = {
        **{name: getattr(vocabulary, name) for name in ("bos", "eos", "unk", "characters")},
        "longest": max(map(len, numbers)),
    }
    (folder / VOCABULARY).write_text(json.dumps(small, ensure_ascii=False), encoding="utf-8")
