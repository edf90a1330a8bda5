"""What is shown where nothing is confirmed: the passages that speak of the matter, each with its best sentence."""

import pytest

from agent.extractive.closest import MOST, NEAR, NEAR_WITHOUT_RERANKER, closest, is_near
from agent.extractive.passages import Passage
from knowledge.embedding.base import Embedder

LEAVE = "Leave is asked for in writing. Employees have 30 days of annual leave. The canteen is closed then."


def passage(text: str, *, coverage: float | None = NEAR, dense: float = 0.0) -> Passage:
    return Passage(text=text, coverage=coverage, dense=dense)


def test_each_passage_gives_its_best_sentence_in_the_order_given(embedder: Embedder) -> None:
    other = "Soup is served at eleven. Annual leave of trainees: 25 days."
    quotes = closest("How many days of annual leave?", [passage(other), passage(LEAVE)], embedder)
    assert [(quote.passage, quote.text) for quote in quotes] == [
        (0, "Annual leave of trainees: 25 days."),
        (1, "Employees have 30 days of annual leave."),
    ]
    assert all(quote.text == [other, LEAVE][quote.passage][quote.start : quote.end] for quote in quotes)


def test_no_more_than_a_handful_are_shown(embedder: Embedder) -> None:
    many = [passage(f"{LEAVE} {number}") for number in range(MOST + 3)]
    assert [quote.passage for quote in closest("annual leave", many, embedder)] == list(range(MOST))


def test_what_a_search_cannot_but_bring_is_not_shown(embedder: Embedder) -> None:
    far = passage(LEAVE, coverage=NEAR - 0.01, dense=1.0)
    assert closest("What do whales eat?", [far], embedder) == ()
    assert closest("What do whales eat?", [], embedder) == ()


@pytest.mark.parametrize("coverage", [None, -1.0])
def test_without_late_interaction_the_cosine_tells(coverage: float | None) -> None:
    assert is_near(passage(LEAVE, coverage=coverage, dense=NEAR_WITHOUT_RERANKER))
    assert not is_near(passage(LEAVE, coverage=coverage, dense=NEAR_WITHOUT_RERANKER - 0.01))
