"""Words of a question that stand in one breath."""

import pytest

from knowledge.retrieval.fusion import SPAN, said_together

SHARES = {1: 0.5, 2: 0.3, 3: 0.2}


def filler(count: int) -> list[int]:
    return list(range(100, 100 + count))


def test_what_stands_together_counts_in_full_and_what_is_scattered_by_its_best_place() -> None:
    assert said_together(SHARES, [], [1, *filler(3), 2, 3]) == pytest.approx(1.0)
    assert said_together(SHARES, [], [1, *filler(SPAN), 2, 3]) == pytest.approx(0.5)


def test_a_span_has_so_many_terms_and_no_more() -> None:
    assert said_together(SHARES, [], [1, *filler(SPAN - 2), 2]) == pytest.approx(0.8)
    assert said_together(SHARES, [], [1, *filler(SPAN - 1), 2]) == pytest.approx(0.5)


def test_a_repeated_term_counts_once_and_leaves_with_its_last_place() -> None:
    assert said_together(SHARES, [], [2, 2, 2]) == pytest.approx(0.3)
    assert said_together(SHARES, [], [2, *filler(SPAN - 2), 2, 3]) == pytest.approx(0.5)


def test_the_heading_is_granted_to_each_place() -> None:
    assert said_together(SHARES, [1], [*filler(50), 2]) == pytest.approx(0.8)
    assert said_together(SHARES, [1], []) == pytest.approx(0.5)


def test_nothing_asked_or_nothing_said_is_nothing() -> None:
    assert said_together({}, [1], [1, 2]) == 0
    assert said_together(SHARES, [], filler(5)) == 0
