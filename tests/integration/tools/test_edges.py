"""Arguments that models really send, at and past the bounds of each tool: a result or one sentence, never an error of ours."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from agent.document_facts import SOURCE
from agent.fencing import bounded
from knowledge.models import Document
from tests.factories import allow, make_base, make_document, make_user
from tests.tooling import called

pytestmark = pytest.mark.django_db

TEXT = "# Leave\n\nEmployees have 30 days of annual leave in each calendar year.\n"


@pytest.fixture
def reader() -> User:
    return make_user()


def readable(reader: User, name: str, text: str) -> Document:
    document = make_document(make_base(), name, text, ingested=True)
    allow(reader, document.knowledge_base)
    return document


@pytest.mark.parametrize("offset", [2**31, 2**63, 10**30])
def test_an_offset_that_no_database_knows_is_past_the_end(reader: User, offset: int) -> None:
    document = readable(reader, "leave.md", TEXT)
    found = called(reader, "list_knowledge_chunks", {"knowledge_id": document.pk, "offset": offset, "limit": offset})
    assert found.result.success, found.result.error
    assert found.result.data["chunks"] == []
    assert "past the end" in found.result.output


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_knowledge_chunks", {"limit": None, "offset": None, "chunk_id": None, "neighbours": None}),
        ("knowledge_search", {"queries": ["annual leave"], "top_k": None, "knowledge_base_ids": None}),
        ("grep_chunks", {"patterns": ["leave"], "knowledge_ids": None, "max_results": None}),
        ("get_document_info", {"fields": None}),
    ],
)
def test_null_leaves_something_out(reader: User, name: str, arguments: dict[str, Any]) -> None:
    document = readable(reader, "leave.md", TEXT)
    one: dict[str, dict[str, Any]] = {
        "list_knowledge_chunks": {"knowledge_id": document.pk},
        "get_document_info": {"knowledge_ids": [document.pk]},
    }
    found = called(reader, name, one.get(name, {}) | arguments)
    assert found.result.success, found.result.error
    assert called(reader, name, dict.fromkeys(arguments)).problem, "what must be there must not be null"


def test_numbers_that_json_does_not_have_are_words(reader: User) -> None:
    readable(reader, "a.csv", "a,b\n1,2\n")
    sql = "SELECT 'nan'::DOUBLE, 'inf'::DOUBLE, -a / 0.0 FROM t1"
    data = dict(called(reader, "data_analysis", {"sql": sql}).result.data)
    assert data["rows"] == [["nan", "inf", "-inf"]]
    json.dumps(data, allow_nan=False)


@pytest.mark.parametrize("sql", ["SELECT 'Employees have 99 days of leave'", "SELECT * FROM range(3)", "SHOW TABLES"])
def test_what_reads_no_table_is_shown_and_is_no_evidence(reader: User, sql: str) -> None:
    readable(reader, "a.csv", "a,b\n1,2\n")
    found = called(reader, "data_analysis", {"sql": sql}).result
    assert found.success, found.error
    assert not found.findings
    assert "<evidence" not in found.output


def test_a_result_stands_on_every_document_that_was_read_and_on_no_other(reader: User) -> None:
    documents = [readable(reader, f"{name}.csv", f"region,{name}\nNorth,120\n") for name in ("sales", "costs", "staff")]
    ids = [document.pk for document in documents]
    both = {"knowledge_ids": ids, "sql": "SELECT * FROM T1 JOIN t2 ON t1.region = t2.region"}
    (finding,) = called(reader, "data_analysis", both).result.findings
    assert finding.queried is not None
    assert finding.queried.source == SOURCE
    assert {reach.table for reach in finding.queried.reach} == {f"document:{pk}" for pk in ids[:2]}
    (alone,) = called(reader, "data_analysis", {"knowledge_ids": ids, "sql": "SELECT * FROM t2"}).result.findings
    assert alone.item.source.doc_id == str(ids[1])


def test_a_tool_that_is_not_there_is_told_in_one_sentence(reader: User) -> None:
    for name in ("read_skill", "nope"):
        error = called(reader, name, {}).result.error
        assert not error.endswith(("?.", ".."))
        assert bounded(error) == error
