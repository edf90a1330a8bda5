"""The worked examples of specifications 000 and 001, and their edges, run as they are written."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agent.evidence.document_facts import SOURCE
from agent.evidence.fencing import truncate_middle
from agent.tools import data_analysis, grep_chunks
from agent.tools.data_analysis import NO_SPREADSHEETS
from business.spreadsheets.queries import SheetLimits
from knowledge.models import Chunk, Document, DocumentVersion, ParseStatus, Stage, StageName, StageStatus
from tests.factories import allow, make_base, make_document, make_user, newest_version
from tests.sharing import share_world
from tests.tooling import called

PART = "A rule about variant {number} that is long enough to be a passage of its own. " * 12
SALES = '地区,年份,销售额\n华东,2026,"1,200"\n华南,2026,800\n华东,2025,700\n'
COSTS = "地区,成本\n华东,120\n"
Shelf = tuple[User, Document, Document, Document]


def make_shelf() -> Shelf:
    """A reader, and what they may read: a manual of several passages, and two spreadsheets."""
    reader, base = make_user("reader"), make_base()
    allow(reader, base)
    text = "\n\n".join(f"## Part {number}\n\n{PART.format(number=number)}" for number in range(7))
    manual = make_document(base, "manual.md", f"# Manual v2.0\n\n{text}", ingested=True)
    sales, costs = (make_document(base, f"{n}.csv", t, ingested=True) for n, t in (("销售", SALES), ("costs", COSTS)))
    return reader, manual, sales, costs


shared_shelf, shelf = share_world("shelf", make_shelf)


@pytest.fixture
def reader(shelf: Shelf) -> User:
    return shelf[0]


@pytest.fixture
def manual(shelf: Shelf) -> Document:
    return shelf[1]


def listed(reader: User, **arguments: Any) -> dict[str, Any]:
    outcome = called(reader, "list_knowledge_chunks", arguments)
    assert outcome.result.success, outcome.result.error
    return dict(outcome.result.data)


def test_a_page_begins_at_its_offset_within_the_bounds_and_by_default_at_the_beginning(
    reader: User, manual: Document
) -> None:
    """The specification's own tool turns an offset into a page, and so repeats or skips passages."""
    data = listed(reader, knowledge_id=manual.pk, limit=3, offset=2)
    assert [chunk["chunk_index"] for chunk in data["chunks"]] == [2, 3, 4]
    assert [chunk["seq"] for chunk in data["chunks"]] == [1, 2, 3]
    for limit, offset, page_size in ((-5, -3, 20), (1_000, 0, 100), (1, 0, 1)):
        data = listed(reader, knowledge_id=manual.pk, limit=limit, offset=offset)
        assert (data["page_size"], data["offset"]) == (page_size, 0)
        assert data["fetched_chunks"] == min(data["total_chunks"], page_size)
    data = listed(reader, knowledge_id=manual.pk)
    assert (data["page_size"], data["offset"], data["page"]) == (20, 0, 1)
    assert set(data) >= {"knowledge_id", "knowledge_title", "total_chunks", "fetched_chunks", "chunks", "display_type"}
    assert set(data["chunks"][0]) >= {"seq", "chunk_id", "chunk_index", "content", "chunk_type", "images"}


@pytest.mark.parametrize("offset", [10_000, 2**63])
def test_past_the_end_succeeds_and_says_so(reader: User, manual: Document, offset: int) -> None:
    outcome = called(reader, "list_knowledge_chunks", {"knowledge_id": manual.pk, "offset": offset, "limit": offset})
    assert outcome.result.success
    assert (outcome.result.data["fetched_chunks"], outcome.result.data["chunks"]) == (0, [])
    assert outcome.result.data["total_chunks"] > 0
    assert "past the end" in outcome.result.output
    assert "N/A" in outcome.result.output


def test_a_document_without_passages_succeeds_and_says_so(reader: User) -> None:
    document = make_document(make_base())
    allow(reader, document.knowledge_base)
    outcome = called(reader, "list_knowledge_chunks", {"knowledge_id": document.pk})
    assert outcome.result.success
    assert outcome.result.data["total_chunks"] == 0
    assert "not be ingested yet" in outcome.result.output


def test_a_passage_comes_with_its_neighbours(reader: User, manual: Document) -> None:
    for position, neighbours, found in ((3, 1, [2, 3, 4]), (0, 2, [0, 1, 2])):
        passage = Chunk.unscoped.get(document=manual, position=position)
        data = listed(reader, chunk_id=passage.id, neighbours=neighbours)
        assert [chunk["chunk_index"] for chunk in data["chunks"]] == found


def test_only_the_version_that_answers_is_listed(reader: User, manual: Document) -> None:
    make_document(manual.folder, "manual.md", "# Manual v3.0\n\nShort.", ingested=True)
    data = listed(reader, knowledge_id=manual.pk)
    assert data["total_chunks"] == 1
    assert "Short." in data["chunks"][0]["content"]


def info(reader: User, *ids: object, **more: Any) -> Any:
    return called(reader, "get_document_info", {"knowledge_ids": list(map(str, ids)), **more}).result


def test_facts_come_in_the_order_asked_with_errors_for_the_rest(shelf: Shelf) -> None:
    reader, manual, sales, _costs = shelf
    hidden, missing = make_document(make_base()), uuid4()
    found = info(reader, sales.pk, hidden.pk, manual.pk, missing, "kb-doc-003", sales.pk)
    assert found.success
    assert [card["knowledge_id"] for card in found.data["documents"]] == [str(sales.pk), str(manual.pk)]
    assert [item["knowledge_id"] for item in found.data["errors"]] == [str(hidden.pk), str(missing), "kb-doc-003"]
    assert len({item["error"] for item in found.data["errors"]}) == 1, "forbidden and missing are the same words"
    assert (found.data["total_docs"], found.data["requested"]) == (2, 5), "an id asked twice is answered once"
    assert found.data["display_type"] == "document_info"
    assert found.data["title"] == sales.title
    assert "2 / 5 documents" in found.output
    card = found.data["documents"][1]
    assert (card["title"], card["file_name"], card["file_type"]) == ("Manual v2.0", "manual.md", "md")
    assert (card["type"], card["parse_status"], card["error_message"]) == ("file", "completed", "")
    assert card["chunk_count"] == Chunk.unscoped.filter(document=manual).count()
    assert found.data["total_chunks"] == sum(card["chunk_count"] for card in found.data["documents"])
    (few,) = info(reader, manual.pk, fields=["title", "parse_status"]).data["documents"]
    assert set(few) == {"knowledge_id", "title", "parse_status"}


def test_one_to_ten_documents_at_the_cost_of_one(reader: User) -> None:
    assert "at least 1" in info(reader).error
    assert "at most 10" in info(reader, *[uuid4() for _ in range(11)]).error
    nothing = info(reader, *[uuid4() for _ in range(10)])
    assert not nothing.success
    assert len(nothing.data["errors"]) == 10
    documents = [make_document(make_base()) for _ in range(3)]
    for document in documents:
        allow(reader, document.knowledge_base)
    counts = []
    for asked in (documents[:1], documents):
        with CaptureQueriesContext(connection) as queries:
            info(reader, *[document.pk for document in asked])
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_progress_is_told_while_a_document_is_ingested(reader: User) -> None:
    document = make_document(make_base())
    allow(reader, document.knowledge_base)
    version = newest_version(document)
    DocumentVersion.unscoped.filter(pk=version.pk).update(parse_status=ParseStatus.PROCESSING)
    Stage.objects.filter(version=version, name=StageName.EMBED).update(
        status=StageStatus.RUNNING, items_done=50, items_total=100
    )
    found = info(reader, document.pk)
    assert found.data["documents"][0]["progress"] == {"done": 50, "total": 100}
    assert "🔄 in progress" in found.output
    assert "50 / 100 passages" in found.output


def test_patterns_find_in_any_case_and_say_when_there_is_more(reader: User, manual: Document) -> None:
    data = called(reader, "grep_chunks", {"patterns": ["VARIANT 3"], "max_results": 1}).result.data
    assert [row["knowledge_id"] for row in data["results"]] == [str(manual.pk)]
    assert "variant 3" in data["results"][0]["content"]
    more = called(reader, "grep_chunks", {"patterns": ["variant", "rule"], "max_results": 1}).result.data
    assert (more["count"], more["has_more"]) == (1, True)


def test_a_pattern_that_is_none_or_runs_for_ever_is_one_sentence(reader: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for pattern in ("(", "a{2,1}", "\\"):
        assert "not a valid regular expression" in called(reader, "grep_chunks", {"patterns": [pattern]}).result.error
    assert called(reader, "grep_chunks", {"patterns": ["variant"]}).result.success, "the transaction is usable"
    with monkeypatch.context() as hurried:
        hurried.setattr(grep_chunks, "TIMEOUT_MS", 1)
        outcome = called(reader, "grep_chunks", {"patterns": [r"(.+)(.+)(.+)(.+)\1\2\3\4no such end"]})
    assert "took longer" in outcome.result.error
    assert called(reader, "grep_chunks", {"patterns": ["variant"]}).result.success, "the limit was the statement's"


def analysed(reader: User, sql: str, *documents: Document) -> Any:
    ids = [document.pk for document in documents]
    return called(reader, "data_analysis", {"knowledge_ids": ids, "sql": sql}).result


def test_a_spreadsheet_is_described_and_queried(shelf: Shelf) -> None:
    reader, _manual, sales, _costs = shelf
    schema = called(reader, "data_schema", {"knowledge_ids": [sales.pk]}).result
    assert schema.success, schema.error
    (table,) = schema.data["tables"]
    assert (table["name"], table["rows"]) == ("t1", 3)
    assert {column["name"]: column["type"] for column in table["columns"]} == {
        "地区": "VARCHAR", "年份": "BIGINT", "销售额": "BIGINT",
    }  # fmt: skip
    found = analysed(reader, 'SELECT "地区", sum("销售额") AS total FROM t1 GROUP BY 1 ORDER BY 2 DESC', sales)
    assert found.success, found.error
    assert found.data["rows"] == [["华东", 1900], ["华南", 800]]
    (finding,) = found.findings
    assert (finding.item.type, finding.item.by, finding.item.source.doc_id) == ("sql_result", "sql", str(sales.pk))
    assert finding.passage is not None
    assert found.sql is not None
    assert "1900" in found.sql.result_preview


def test_a_result_stands_on_every_document_that_was_read_and_on_no_other(shelf: Shelf) -> None:
    reader, _manual, sales, costs = shelf
    staff = make_document(sales.folder, "staff.csv", "地区,n\n华东,1\n", ingested=True)
    three = (sales, costs, staff)
    (finding,) = analysed(reader, 'SELECT * FROM T1 JOIN t2 ON t1."地区" = t2."地区"', *three).findings
    assert finding.queried is not None
    assert finding.queried.source == SOURCE
    assert {reach.table for reach in finding.queried.reach} == {f"document:{one.pk}" for one in (sales, costs)}
    (alone,) = analysed(reader, "SELECT * FROM t2", *three).findings
    assert alone.item.source.doc_id == str(costs.pk)


def test_what_reads_no_table_is_shown_with_a_limit_and_is_no_evidence(shelf: Shelf) -> None:
    reader, _manual, sales, _costs = shelf
    for sql in ("SELECT 'Employees have 99 days of leave'", "SELECT * FROM range(1000)", "SHOW TABLES"):
        found = analysed(reader, sql, sales)
        assert found.success, found.error
        assert not found.findings
        assert "<evidence" not in found.output
        assert (found.data["row_count"], found.data["has_more"]) == ((200, True) if "range" in sql else (1, False))
    odd = analysed(reader, "SELECT 'nan'::DOUBLE, 'inf'::DOUBLE, -\"年份\" / 0.0 FROM t1 LIMIT 1", sales).data
    assert odd["rows"] == [["nan", "inf", "-inf"]]
    json.dumps(dict(odd), allow_nan=False)


ATTACKS = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_text('/proc/self/environ')",
    "SELECT * FROM glob('/*')",
    "COPY t1 TO '/tmp/out.csv'",
    "ATTACH '/tmp/other.db'",
    "INSTALL httpfs",
    "SET enable_external_access = true",
    "PRAGMA database_list; SELECT 1",
    "SELECT 1; DROP TABLE t1",
    "CREATE TABLE x AS SELECT 1",
    "DELETE FROM t1",
    "SELECT getenv('PATH')",
    "SELECT count(*) FROM range(1000000000000) a, range(1000000) b",
    "SELECT repeat('x', 4000000000)",
    "not sql at all",
]


def test_sql_that_wants_more_than_the_tables_gets_one_sentence(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, _manual, sales, _costs = shelf
    monkeypatch.setattr(data_analysis, "SheetLimits", lambda: SheetLimits(cpu_s=1, wall_s=15))
    for sql in ATTACKS:
        outcome = called(reader, "data_analysis", {"knowledge_ids": [sales.pk], "sql": sql})
        assert not outcome.result.success, outcome.result.output
        assert outcome.problem == "ToolMistake", sql
        assert "root:" not in outcome.result.output


def test_without_a_spreadsheet_the_tools_say_why(reader: User, manual: Document) -> None:
    nobody = make_user()
    assert NO_SPREADSHEETS.en in called(nobody, "data_schema", {}).result.error
    assert NO_SPREADSHEETS.en in called(nobody, "data_analysis", {"sql": "SELECT 1"}).result.error
    assert "Manual v2.0" in called(reader, "data_schema", {"knowledge_ids": [manual.pk]}).result.error


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_knowledge_chunks", {"limit": None, "offset": None, "chunk_id": None, "neighbours": None}),
        ("knowledge_search", {"queries": ["variant"], "top_k": None, "knowledge_base_ids": None}),
        ("grep_chunks", {"patterns": ["variant"], "knowledge_ids": None, "max_results": None}),
        ("get_document_info", {"fields": None}),
    ],
)
def test_null_leaves_something_out(reader: User, manual: Document, name: str, arguments: dict[str, Any]) -> None:
    one: dict[str, dict[str, Any]] = {
        "list_knowledge_chunks": {"knowledge_id": manual.pk},
        "get_document_info": {"knowledge_ids": [manual.pk]},
    }
    found = called(reader, name, one.get(name, {}) | arguments)
    assert found.result.success, found.result.error
    assert called(reader, name, dict.fromkeys(arguments)).problem, "what must be there must not be null"


def test_an_id_or_a_tool_that_is_not_there_is_told_in_one_sentence(reader: User) -> None:
    assert "knowledge_id is missing" in called(reader, "list_knowledge_chunks", {}).result.error
    assert "no such document" in called(reader, "list_knowledge_chunks", {"knowledge_id": "kb_123"}).result.error
    for name in ("read_skill", "nope"):
        error = called(reader, name, {}).result.error
        assert error
        assert not error.endswith(("?.", ".."))
        assert truncate_middle(error) == error
