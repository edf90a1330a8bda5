"""What is shown where nothing is confirmed: the passages that speak of the matter, each with its best sentence."""

import pytest

from agent.extractive.candidates import term_ids
from agent.extractive.closest import MOST, NEAR, NEAR_WITHOUT_RERANKER, closest, is_near
from agent.extractive.identifiers import exact_names
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


NOTES = "## v2.3.1\n\nFixed: the reader reports no error.\n\n## v2.3.0\n\nAdded: visitors, by mail to gate-admin@kontor.example."
FREQUENT = dict.fromkeys(term_ids(NOTES), 1)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What changed in v2.3.1?", "Fixed: the reader reports no error."),
        ("2.3.0", "Added: visitors, by mail to gate-admin@kontor.example."),
        ("Who is gate-admin@kontor.example?", "Added: visitors, by mail to gate-admin@kontor.example."),
        ("版本v2.3.1有什么变化？", "Fixed: the reader reports no error."),
    ],
)
def test_a_rare_exact_name_is_near_whatever_the_likeness(embedder: Embedder, question: str, said: str) -> None:
    passages = [passage(LEAVE), passage(NOTES, coverage=NEAR - 0.3)]
    exact = exact_names(question, FREQUENT, 20)
    assert [quote.text for quote in closest(question, passages, embedder, exact=exact)] == [said]
    assert said not in [quote.text for quote in closest(question, passages, embedder)]


def test_a_product_is_near_beside_what_resembles_the_question(embedder: Embedder) -> None:
    passages = [passage(LEAVE), passage("The Gatekeeper opens doors.", coverage=NEAR - 0.3)]
    exact = exact_names("What is Gatekeeper?", dict.fromkeys(term_ids("gatekeeper"), 1), 20)
    assert [quote.passage for quote in closest("What is Gatekeeper?", passages, embedder, exact=exact)] == [0, 1]


@pytest.mark.parametrize(
    ("question", "frequencies"),
    [
        ("What changed in v2.4.1?", FREQUENT),  # no document holds it
        ("What changed in v2.3.1?", dict.fromkeys(FREQUENT, 50)),  # it is everywhere
        ("What changed in 2019?", dict.fromkeys(term_ids("2019"), 1)),
        ("Are 300 enough?", dict.fromkeys(term_ids("300"), 1)),
        ("Is the reader fixed?", FREQUENT),  # ordinary words
    ],
)
def test_what_is_ordinary_or_frequent_is_no_exact_name(question: str, frequencies: dict[int, int]) -> None:
    assert exact_names(question, frequencies, 100) == []
