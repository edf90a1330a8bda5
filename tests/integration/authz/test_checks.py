"""What is forbidden and what is missing cost the database the same work, so that no clock tells them apart."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, models
from django.test.utils import CaptureQueriesContext

from authz.permissions import Right
from authz.principal import Principal
from authz.rights import checks, governing
from authz.rights.checks import get_visible
from authz.rights.governing import get_governed
from copilot_site.lib.errors import NotFound
from knowledge.models import Chunk, Document, Folder
from tests.factories import allow, make_base, make_document, make_user

pytestmark = pytest.mark.django_db


Get = Callable[..., models.Model]


def work(principal: Principal, model: type[models.Model], get: Get = get_visible, **lookup: Any) -> Counter[str]:
    """How often each table of rights is read while a row is refused."""
    with CaptureQueriesContext(connection) as queries, pytest.raises(NotFound):
        get(model, principal, **lookup)
    read: Counter[str] = Counter()
    for query in queries.captured_queries:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query['sql']}")
            ((plan,),) = cursor.fetchall()
        found = json.loads(plan) if isinstance(plan, str) else plan
        for node in nodes(found[0]["Plan"]):
            read[node.get("Relation Name", "")] += node["Actual Loops"]
    return Counter({table: loops for table, loops in read.items() if table.startswith("authz_") and loops})


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


@pytest.fixture(params=["no statistics", "of empty tables", "of these rows"])
def refused(request: pytest.FixtureRequest) -> tuple[Principal, Document, Chunk]:
    """Somebody with rights elsewhere, and a document with a passage that they may not see; PostgreSQL plans by what it knows."""
    if request.param == "of empty tables":
        _analyze()
    person = make_user()
    allow(person, make_base("Elsewhere"), Right.VIEW, Right.MANAGE)
    document = make_document(make_base("Closed"), "closed.md", "# Closed\n\nText.", ingested=True)
    if request.param == "of these rows":
        _analyze()
    return Principal.of(person), document, Chunk.unscoped.filter(document=document)[0]


def _analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def test_rights_are_read_as_often_for_what_is_missing(refused: tuple[Principal, Document, Chunk]) -> None:
    principal, document, chunk = refused
    for get, model, row in (
        (get_visible, Folder, document.folder),
        (get_visible, Document, document),
        (get_governed, Folder, document.folder),
        (get_governed, Document, document),
    ):
        forbidden = work(principal, model, get, pk=row.pk)
        assert forbidden, "the tables of rights are read"
        assert_alike(work(principal, model, get, pk=uuid4()), forbidden, (get, model))
    base_id = chunk.knowledge_base_id
    forbidden = work(principal, Chunk, knowledge_base_id=base_id, id=chunk.id)
    assert_alike(work(principal, Chunk, knowledge_base_id=base_id, id=uuid4()), forbidden, Chunk)


def assert_alike(missing: Counter[str], forbidden: Counter[str], what: object) -> None:
    """The same tables, each about as often: two statements are planned apart, and one may read a table for each of the two rows that
    the other joins at once.
    """
    assert missing.keys() == forbidden.keys(), what
    assert all(missing[table] <= 2 * forbidden[table] <= 4 * missing[table] for table in forbidden), (
        what,
        missing,
        forbidden,
    )


@pytest.mark.parametrize(("module", "get"), [(checks, get_visible), (governing, get_governed)])
def test_without_evening_out_they_differ(
    refused: tuple[Principal, Document, Chunk], monkeypatch: pytest.MonkeyPatch, module: Any, get: Get
) -> None:
    principal, document, _chunk = refused
    monkeypatch.setattr(module, "equalise_timing", lambda principal, right, rows: None)
    assert work(principal, Document, get, pk=document.pk).keys() != work(principal, Document, get, pk=uuid4()).keys()
