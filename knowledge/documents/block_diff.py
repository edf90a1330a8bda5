"""A diff of two sequences of blocks, in bounded time whatever they hold.

Blocks that are there once in both lead (patience diff, Bram Cohen): they split the rest into small stretches, and these are compared
exactly. When the budget is used up, the rest counts as one difference: coarser, never wrong.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from copilot_site.lib.load.waiting import require_waiting_client

MAX_STEPS = 2_000_000  # blocks looked at and pairs compared; a second of one core


class StepBudget:
    """A budget of comparisons and how much of it is used, in blocks and pairs of blocks."""

    def __init__(self, most: int = MAX_STEPS) -> None:
        self.left, self.done = most, 0

    def take(self, count: int) -> bool:
        """Use part of the budget; return whether it was left. Raises NobodyWaits."""
        require_waiting_client()
        if count > self.left:
            return False
        self.left -= count
        self.done += count
        return True


class DiffKind(Enum):
    OPEN = "open"
    SAME = "same"
    CHANGED = "changed"


@dataclass(frozen=True)
class Stretch:
    """A stretch of both sequences, each from its start up to its end."""

    a: int
    b: int
    c: int
    d: int

    @property
    def size(self) -> int:
        return self.b - self.a + self.d - self.c


Part = tuple[DiffKind, Stretch]


def diff_blocks(before: Sequence[str], after: Sequence[str], steps: StepBudget) -> list[tuple[bool, Stretch]]:
    """Yield stretches in order that cover both: True for a common one, else what was removed and what was added."""
    numbers: dict[str, int] = {}  # two numbers are compared at once, two texts by their length
    numbered = [[numbers.setdefault(text, len(numbers)) for text in texts] for texts in (before, after)]
    merged: list[tuple[bool, Stretch]] = []
    for kind, part in _iterate_stretches(numbered[0], numbered[1], steps):
        is_same = kind is DiffKind.SAME
        if not part.size:
            continue
        first = merged.pop()[1] if merged and merged[-1][0] == is_same else part
        merged.append((is_same, Stretch(first.a, part.b, first.c, part.d)))
    return merged


def _iterate_stretches(before: Sequence[int], after: Sequence[int], steps: StepBudget) -> Iterator[Part]:
    """Yield the stretches without recursion: the parts of a split one go back on the stack, the first on top."""
    todo: list[Part] = [(DiffKind.OPEN, Stretch(0, len(before), 0, len(after)))]
    while todo:
        kind, part = todo.pop()
        if kind is not DiffKind.OPEN or part.a == part.b or part.c == part.d or not steps.take(part.size):
            yield kind, part
            continue
        head, inner, tail = _trim_common_ends(before, after, part)
        if anchors := _find_unique_anchors(before, after, inner):
            middle = _split_at_pairs(inner, anchors, DiffKind.OPEN)
        else:
            middle = _split_at_pairs(inner, _find_common_subsequence(before, after, inner, steps), DiffKind.CHANGED)
        todo += reversed([(DiffKind.SAME, head), *middle, (DiffKind.SAME, tail)])


def _trim_common_ends(before: Sequence[int], after: Sequence[int], part: Stretch) -> tuple[Stretch, Stretch, Stretch]:
    """Return the blocks that both begin with, what is between, and those that both end with."""
    a, b, c, d = part.a, part.b, part.c, part.d
    while a < b and c < d and before[a] == after[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and before[b - 1] == after[d - 1]:
        b, d = b - 1, d - 1
    return Stretch(part.a, a, part.c, c), Stretch(a, b, c, d), Stretch(b, part.b, d, part.d)


def _find_unique_anchors(before: Sequence[int], after: Sequence[int], part: Stretch) -> list[tuple[int, int]]:
    """Return the places of blocks that occur once in both, as many as come in the same order."""
    once_before, once_after = Counter(before[part.a : part.b]), Counter(after[part.c : part.d])
    places = {after[j]: j for j in range(part.c, part.d) if once_after[after[j]] == 1}
    pairs = [
        (i, places[before[i]]) for i in range(part.a, part.b) if once_before[before[i]] == 1 and before[i] in places
    ]
    ends: list[int] = []  # the least last place of a row of each length
    rows: list[int] = []  # the pair that ends it
    previous: list[int] = []
    for number, (_i, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        previous.append(rows[length - 1] if length else -1)
        ends[length : length + 1], rows[length : length + 1] = [j], [number]
    found, number = [], rows[-1] if rows else -1
    while number >= 0:
        found.append(pairs[number])
        number = previous[number]
    return found[::-1]


def _find_common_subsequence(
    before: Sequence[int], after: Sequence[int], part: Stretch, steps: StepBudget
) -> list[tuple[int, int]]:
    """Return a longest common subsequence of blocks; none where that takes more steps than are left."""
    height, width = part.b - part.a, part.d - part.c
    if not height or not width or not steps.take(height * width):
        return []
    longest = [[0] * (width + 1)]  # from the end: of what is behind a block of each
    for i in range(part.b - 1, part.a - 1, -1):
        below, row = longest[-1], [0] * (width + 1)
        for j in range(width - 1, -1, -1):
            row[j] = below[j + 1] + 1 if before[i] == after[part.c + j] else max(below[j], row[j + 1])
        longest.append(row)
    found, i, j = [], 0, 0
    while i < height and j < width:
        if before[part.a + i] == after[part.c + j]:
            found.append((part.a + i, part.c + j))
            i, j = i + 1, j + 1
        elif longest[height - i - 1][j] >= longest[height - i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _split_at_pairs(part: Stretch, pairs: Sequence[tuple[int, int]], between: DiffKind) -> list[Part]:
    """Return the pairs, and what is between them."""
    found, a, c = [], part.a, part.c
    for i, j in pairs:
        found += [(between, Stretch(a, i, c, j)), (DiffKind.SAME, Stretch(i, i + 1, j, j + 1))]
        a, c = i + 1, j + 1
    return [*found, (between, Stretch(a, part.b, c, part.d))]
