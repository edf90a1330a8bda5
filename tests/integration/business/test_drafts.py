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
    senders = {name for kind, name, column in keys.pop("message") if column == "sender_id"}
    assert {"clerk", "visitor"} < senders  # any table of people or things that points to no other
    assert keys == {
        "author": {("primary", "author", "authorid")},
        "paper": {("primary", "paper", "paperid")},
        "paperauthor": {("foreign", "author", "authorid"), ("foreign", "paper", "paperid")},
        "member": {("primary", "member", "id")},
        "loan": {("primary", "loan", "loan_id"), ("foreign", "member", "member_id")},  # paper 9 is not there
        "visit": {("primary", "visit", "visit_id")},  # author 99 neither
        "clerk": {("primary", "clerk", "clerk_id")},
        "supplier": {("primary", "supplier", "supplier_id")},
        "genre": {("primary", "genre", "gid")},
        "locker": {("primary", "locker", "locker_id"), ("foreign", "clerk", "clerk")},
        "vehicle": {("primary", "vehicle", "vehicle_id"), ("foreign", "clerk", "clerk_id")},
        "feedback": {("primary", "feedback", "feedback_id"), ("foreign", "clerk", "clerk_id")},
        "visitor": {("primary", "visitor", "visitor_id")},
        "entry": {("primary", "entry", "entry_id"), ("foreign", "visitor", "visitor_id")},
        "citation": {("foreign", "paper", "citing_paperid"), ("foreign", "paper", "cited_paperid")},
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
        ("List the clerks", [("Kim Low",), ("Lou Orr",), ("May Poe",)]),  # a title of people is their office
        ("How many lockers does each clerk have?", [("Lou Orr", 2), ("May Poe", 1)]),
        ("list the suppliers", [("Ink & Co",), ("Paper Ltd",)]),
        ("list the genres", [("Plays",), ("Poems",)]),
        ("which suppliers are discontinued", [("Ink & Co",)]),
        ("how many locked lockers are there", [(1,)]),
        ("how many lockers are not locked", [(2,)]),
        ("how many lockers were fitted in 2021", [(1,)]),
        ("How many vehicles from 2020 are there?", [(1,)]),  # not when it was entered
        ("how many feedbacks in April 2021", [(2,)]),
        ("how many feedbacks in April", [(3,)]),  # months are kept by their names
        ("How many months had feedbacks?", [(3,)]),
        ("How many months between March 2021 and December 2021 had feedbacks?", [(2,)]),
        ("In how many months did clerks give feedbacks?", None),
        ("How many papers does each author have?", [("Ada", 3), ("Bo", 1)]),  # citations are no nearer way
        ("Which papers are citations?", None),  # citing or cited
        ("How many clerks got an A in each year?", None),  # no article
        ("total number of stars per clerk", [("Lou Orr", 8), ("Kim Low", 5)]),
        ("number of colours per vehicle", None),
        ("What is the month of the grade of the clerk Kim Low?", None),
        ("How many visitors joined in 2025?", [(2,)]),
        ("visitors by city", [("Oslo", 2), ("Rome", 1)]),
        ("how many guest pass visitors are there", [(2,)]),
        ("how many failed visitors are there", [(1,)]),
        ("number of messages per clerk", None),  # by whom they were sent is not known, and not by whose vehicle
        ("number of messages per vehicle", [(1, 1), (2, 1)]),
        ("How many suppliers joined in 2025?", None),  # visitors did
        ("How many members joined before 2010?", None),
        ("number of entries on each day of the week", [("Monday", 5), ("Friday", 2)]),
        ("List the title and year of the papers", [("On joins", 2021), ("On keys", 2021), ("On names", 2022)]),
        ("Return the author names and the number of papers", [("Ada", 3), ("Bo", 1)]),
        ("Return the city of visitors and the number of entries", [("Rome", 4), ("Oslo", 3)]),
        ("Which cities have a guest and a family pass?", None),  # one of them, or both
        ("List the authors and number of papers", [("Ada", 3), ("Bo", 1)]),
        (
            "List the title, year and the number of authors of each paper",
            [("On keys", 2021, 2), ("On joins", 2021, 1), ("On names", 2022, 1)],
        ),
        ("Which members are in California and how many loans do they have?", None),  # one of them has none
        ("Return the state and number of members", [("CA", 2), ("NY", 1)]),
        ("How many vehicles of each colour year are there?", None),  # two groups, or one column
        ("number of wheels per clerk", [("Kim Low", 4), ("Lou Orr", 2)]),
        ("average number of wheels per colour", [("red", 3)]),
        ("What is the average number of wheels vehicles per loan?", None),
        ("Which vehicles have no plate?", None),  # the number of a plate is no number of plates
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
