"""Long texts in pieces: at the coarsest place that fits, in the end in halves."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

CountTokens = Callable[[list[str]], list[int]]

SENTENCE = r"(?<=[。！？；])|(?<=[.!?;]) (?=\S)"


@dataclass(frozen=True)
class Sizes:
    """Target and maximum size of pieces, in tokens."""

    count_tokens: CountTokens
    target: int
    limit: int


def cut(text: str, patterns: Sequence[str], sizes: Sizes) -> list[tuple[int, int]]:
    """Return pieces as (offset, tokens): cut at the coarsest pattern and packed up to the target.

    A piece over the limit is cut at the next finer pattern, in the end in halves.
    """
    ends = [m.end() for m in re.finditer(patterns[0], text)] if patterns else range(*_halves(text))
    bounds = [0, *(end for end in ends if 0 < end < len(text)), len(text)]
    spans = list(pairwise(bounds))
    packed: list[tuple[int, int]] = []
    room = 0
    for (start, end), tokens in zip(spans, sizes.count_tokens([text[a:b] for a, b in spans]), strict=True):
        if tokens > sizes.limit and end - start > 1:
            finer = cut(text[start:end], patterns[1:], sizes)
            packed += [(start + offset, count) for offset, count in finer]
            room = sizes.target - packed[-1][1]
        elif packed and tokens <= room:
            packed[-1] = (packed[-1][0], packed[-1][1] + tokens)
            room -= tokens
        else:
            packed.append((start, tokens))
            room = sizes.target - tokens
    return packed


def _halves(text: str) -> tuple[int, int, int]:
    """Return the arguments of a range over the one cut, in the middle, of a text without a better place."""
    return len(text) // 2, len(text), len(text)
