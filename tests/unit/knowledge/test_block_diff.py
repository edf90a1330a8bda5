"""Comparing versions: both can be rebuilt from the differences, and the work is bounded whatever the blocks are."""

from difflib import SequenceMatcher
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot_site.lib.load import waiting
from copilot_site.lib.load.waiting import HAS_LEFT, NobodyWaits
from knowledge.documents.block_diff import MAX_STEPS, StepBudget, diff_blocks

BLOCKS = st.lists(st.sampled_from("abcdefg"), max_size=30)
SIZE = 20_000  # blocks: 400 kB of short paragraphs


def rebuilt(before: list[str], after: list[str], steps: StepBudget) -> tuple[list[str], list[str]]:
    """Both sides as the differences say; what is the same is taken from the other side."""
    first, second = [], []
    for is_same, part in diff_blocks(before, after, steps):
        first += after[part.c : part.d] if is_same else before[part.a : part.b]
        second += before[part.a : part.b] if is_same else after[part.c : part.d]
    return first, second


@given(before=BLOCKS, after=BLOCKS, most=st.sampled_from([0, 10, 50, 10_000]))
def test_both_versions_follow_from_the_differences_however_little_is_done(
    before: list[str], after: list[str], most: int
) -> None:
    assert rebuilt(before, after, StepBudget(most)) == (before, after)


@given(before=BLOCKS, after=BLOCKS)
def test_nothing_that_both_have_is_between_two_things_that_both_have(before: list[str], after: list[str]) -> None:
    found = diff_blocks(before, after, StepBudget())
    assert [same for same, _part in found] == [place % 2 == (not found[0][0]) for place in range(len(found))]


def test_small_changes_are_found_block_by_block() -> None:
    before = [f"line {number}" for number in range(100)]
    after = [*before[:10], "new", *before[11:50], *before[52:], "end"]
    kept = sum(part.b - part.a for same, part in diff_blocks(before, after, StepBudget()) if same)
    assert kept == sum(
        block.size for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    )


def hostile() -> dict[str, tuple[list[str], list[str]]]:
    chance = Random(7)
    few = [chance.choice("abc") for _number in range(SIZE)], [chance.choice("abc") for _number in range(SIZE)]
    numbers = [f"line {number}" for number in range(SIZE)]
    nested = ["x", *(f"{number // 2}" for number in range(SIZE))], [*(f"{number // 2}" for number in range(SIZE)), "y"]
    return {
        "few words": few,
        "two words": (["a", "b"] * (SIZE // 2), ["b", "a", "a"] * (SIZE // 3)),
        "reversed": (numbers, numbers[::-1]),
        "nothing in common": (numbers, [f"other {number}" for number in range(SIZE)]),
        "pairs": nested,
        "shuffled pairs": (nested[0], chance.sample(nested[0], len(nested[0]))),
    }


def test_no_blocks_take_more_than_the_steps() -> None:
    for name in list(hostile()):
        before, after = hostile()[name]
        steps = StepBudget()
        assert rebuilt(before, after, steps) == (before, after), name
        assert steps.done <= MAX_STEPS, name


def test_comparing_ends_when_its_reader_has_left() -> None:
    class Left:
        scope = {HAS_LEFT: True}

    token = waiting._served.set(Left())  # type: ignore[arg-type]
    try:
        with pytest.raises(NobodyWaits):
            diff_blocks(["a", "b"], ["b", "a"], StepBudget())
    finally:
        waiting._served.reset(token)
