"""A layer drafted from a database that declares nothing: what its names and rows show, asked about in plain words."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pytest

from agent.business.address import Address
from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.understand import understand
from agent.business.ask.words.lexicon import Lexicon
from agent.business.introspect import draft_layer
from agent.business.layer.model import SemanticLayer
from agent.business.scratch import scratch_database

TODAY = date(2026, 3, 20)


@pytest.fixture(scope="module")
def library(django_db_setup: None, django_db_blocker: Any) -> Iterator[Address]:
    with django_db_blocker.unblock(), scratch_database(Path(__file__).with_name("library.sql")) as address:
        yield address


@pytest.fixture(scope="module")
def layer(library: Address) -> SemanticLayer:
    return draft_layer(library, "library")


def answer(library: Address, layer: SemanticLayer, question: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(**library.keywords()) as connection:
        return connection.execute(understand(question, Lexicon.of(layer), today=TODAY).sql).fetchall()  # type: ignore[arg-type,unused-ignore]


def test_keys_are_found_by_name_and_by_rows(layer: SemanticLayer) -> None:
    keys = {m.name: {(e.type, e.name, e.expr) for e in m.entities} for m in layer.semantic_models}
    assert keys == {
        "author": {("primary", "author", "authorid")},
        "paper": {("primary", "paper", "paperid")},
        "paperauthor": {("foreign", "author", "authorid"), ("foreign", "paper", "paperid")},
        "member": {("primary", "member", "id")},
        "loan": {("primary", "loan", "loan_id"), ("foreign", "member", "member_id")},  # paper 9 is not there
        "visit": {("primary", "visit", "visit_id")},  # author 99 neither
    }


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many papers did each author write?", [("Ada", 3), ("Bo", 1)]),
        ("number of papers per author", [("Ada", 3), ("Bo", 1)]),
        ("papers in January 2021", [("On keys",)]),
        ("How many papers were published in 2021?", [(2,)]),
        ("how many open papers are there", [(2,)]),
        ("how many papers are not open", [(1,)]),
        ("members in California", [("Ann Lee",), ("Eve Ott",)]),
        ("average height in cm by state", [("NY", 180), ("CA", 165)]),
        (
            "How many members are there in each state? Return the state and the number of members.",
            [("CA", 2), ("NY", 1)],
        ),
        ("Return the first names and last names of members without loans", [("Eve", "Ott")]),
        ("How many loans were there in the last 2 months, not including the current month", [(1,)]),
        ("ratio of papers to authors", [(1, 3, 3)]),
        ("papers on 5 January 2021", None),  # no days are kept
        ("papers per day", None),
    ],
)
def test_a_draft_is_asked_in_plain_words(
    library: Address, layer: SemanticLayer, question: str, rows: list[tuple[Any, ...]] | None
) -> None:
    if rows is None:
        with pytest.raises(NotUnderstood):
            answer(library, layer, question)
        return
    assert answer(library, layer, question) == rows
