"""Text to lexical terms, and the two halves of BM25 that meet in one inner product.

A chunk is stored as a sparse vector of saturated term frequencies (`compute_lexical_weights`); a question is a sparse vector
of inverse document frequencies (`compute_query_weights`). Their inner product is BM25 divided by the sum of the question's
own idf, so that its size means the same in every corpus. Document frequencies live with the question alone: no chunk
is weighted again when the corpus grows.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import add

import Stemmer
from pgvector import SparseVector

from knowledge.text.chinese_script import simplify_chinese
from knowledge.text.normalise import normalise_text

K1 = 1.2  # saturation of repeated terms; the default of Lucene, source as for `compute_lexical_weights`
B = 0.75  # how much a long chunk is held against itself; same source
TERM_SPACE = 999_999_999  # pgvector's sparsevec numbers its dimensions from 1 to 1,000,000,000

_HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CJK = rf"{_HAN}\u3040-\u30ff\u31f0-\u31ff\uac00-\ud7af"  # with kana and hangul: written without reliable spaces
_RUN = re.compile(rf"(?P<cjk>[{_CJK}]+)|(?P<word>[^\W_{_CJK}]+(?:[-_./]+[^\W_{_CJK}]+)*)")
_IS_HAN = re.compile(rf"[{_HAN}]")
_HAN_ALONE = re.compile(rf"[{_HAN}]+")
_PIECE = re.compile(r"[^-_./]+")
_DECIMAL = re.compile(r"[vV]?(\d+(?:\.\d+)+)")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")  # max·Unavailable, HTTP·Server, v·1·beta·2
_STEMMER = Stemmer.Stemmer("english")


def extract_terms(text: str) -> list[str]:
    """Return the terms of a text in reading order, repeats kept.

    Han: characters and neighbouring pairs, traditional ones as simplified. Kana and hangul: pairs (a lone character stands for
    itself), as Lucene's CJKAnalyzer does. Words: lower-case English stems. An identifier gives its parts and itself whole
    (`kube-apiserver`, `maxUnavailable`, `app.kubernetes.io/name`), a version is its number (`v1.27` → `1.27`).
    """
    found: list[str] = []
    for run in _RUN.finditer(simplify_chinese(normalise_text(text))):
        found += _extract_cjk_terms(run[0]) if run.lastgroup == "cjk" else _extract_word_terms(run[0])
    return found


def _extract_cjk_terms(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    both = [""] * (2 * len(run) - 1)  # characters and pairs in turn
    both[::2] = run
    both[1::2] = map(add, run, run[1:])
    if is_han(run):
        return both
    return [term for place, term in enumerate(both) if place % 2 or _IS_HAN.match(term)]


def is_han(text: str) -> bool:
    """Tell whether a text is of Han characters alone."""
    return _HAN_ALONE.fullmatch(text) is not None


@lru_cache(maxsize=30_000)  # 10,000 passages in two languages have 22,000 words
def _extract_word_terms(word: str) -> tuple[str, ...]:
    if number := _DECIMAL.fullmatch(word):
        return (number[1],)
    found: list[str] = []
    for piece in _PIECE.findall(word):
        found.append(_STEMMER.stemWord(piece.lower()))
        humps = _HUMP.findall(piece) if piece.isascii() else []
        if len(humps) > 1:
            found.extend(_STEMMER.stemWord(hump.lower()) for hump in humps if len(hump) > 1)
    if len(found) > 1 and not _PIECE.fullmatch(word):
        found.append(word.lower())
    return tuple(found)


@lru_cache(maxsize=50_000)  # of their 76,000 terms the rare third is made anew, in no time that could be measured
def hash_term(term: str) -> int:
    """Return a stable number for a term, 1 … 999,999,999: the same on every machine and in every release.

    Two terms can share a number; among 100,000 terms about five pairs do, which is below what a ranking can feel.
    """
    return zlib.crc32(term.encode("utf-8", "surrogatepass")) % TERM_SPACE + 1


def count_terms(text: str) -> dict[int, int]:
    """Return {term id: occurrences} of a text; their sum is the text's lexical length."""
    return dict(Counter(map(hash_term, extract_terms(text))))


def compute_lexical_weights(tf: Mapping[int, int], length: int, average_length: float) -> dict[int, float]:
    """Return {term id: saturated frequency}, each in (0, 2.2): the chunk's half of BM25.

    length, average_length: in terms, of this chunk and of the corpus (> 0).
    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
    """
    if average_length <= 0:
        raise ValueError(f"the average length must be positive, not {average_length}")
    damping = K1 * (1 - B + B * length / average_length)
    return {term: count * (K1 + 1) / (count + damping) for term, count in tf.items()}


def compute_query_weights(
    query_terms: Iterable[int], document_frequencies: Mapping[int, float], documents: int
) -> dict[int, float]:
    """Return {term id: share of the question's idf}: the question's half of BM25, on a scale of its own.

    document_frequencies: of the terms that occur; one that is missing occurs nowhere. It stays in the sum and is left
    out of the result, so a question of unknown words scores near 0 everywhere. A repeated term counts each time.
    The inner product with `compute_lexical_weights` is 1 for a chunk of average length with each term once, 2.2 at the most.
    """
    idf: dict[int, float] = {}
    for term, count in Counter(query_terms).items():
        frequency = document_frequencies.get(term, 0)
        idf[term] = count * math.log1p((documents - frequency + 0.5) / (frequency + 0.5))
    total = sum(idf.values())
    if total <= 0:
        return {}
    return {term: weight / total for term, weight in idf.items() if document_frequencies.get(term, 0) > 0}


def build_sparse_vector(weights: Mapping[int, float]) -> SparseVector:
    """Return term weights for pgvector; its dimensions count from 0 here and from 1 in SQL."""
    return SparseVector(dict(weights), TERM_SPACE + 1)
