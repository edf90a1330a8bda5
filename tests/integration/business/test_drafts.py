"""A layer drafted from a database that declares nothing: what its names and rows show, asked about in plain words."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pytest

from business.connections.address import Address
from business.introspect import draft_layer
from business.sandbox.scratch_database import open_scratch_database
from business.semantic_layer.model import SemanticLayer
from tests.reading import sql_of

TODAY = date(2026, 3, 20)


@pytest.fixture(scope="module")
def library(django_db_setup: None, django_db_blocker: Any) -> Iterator[Address]:
    with django_db_blocker.unblock(), open_scratch_database(Path(__file__).with_name("library.sql")) as address:
        yield address


@pytest.fixture(scope="module")
def layer(library: Address) -> SemanticLayer:
    return draft_layer(library, "library")


def answer(library: Address, layer: SemanticLayer, question: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(**library.keywords()) as connection:
        return connection.execute(sql_of(question, layer, TODAY)).fetchall()  # type: ignore[arg-type,unused-ignore]


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
        ("how many open papers are there", [(2,)]),
        ("members in California", [("Ann Lee",), ("Eve Ott",)]),
        ("average height in cm by state", [("NY", 180), ("CA", 165)]),
        ("List the clerks", [("Kim Low",), ("Lou Orr",), ("May Poe",)]),  # a title of people is their office
        ("How many lockers does each clerk have?", [("Lou Orr", 2), ("May Poe", 1)]),
        ("How many vehicles from 2020 are there?", [(1,)]),  # not when it was entered
        ("How many months between March 2021 and December 2021 had feedbacks?", [(2,)]),
        ("How many papers does each author have?", [("Ada", 3), ("Bo", 1)]),  # citations are no nearer way
        ("number of messages per vehicle", [(1, 1), (2, 1)]),
        ("List the title and year of the papers", [("On joins", 2021), ("On keys", 2021), ("On names", 2022)]),
    ],
)
def test_a_draft_is_asked_in_plain_words(
    library: Address, layer: SemanticLayer, question: str, rows: list[tuple[Any, ...]]
) -> None:
    assert answer(library, layer, question) == rows
