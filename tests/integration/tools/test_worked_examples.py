"""The worked examples of specifications 000 and 001, and their edges, run as they are written."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from agent.tools.data_schema import NO_SPREADSHEETS
from knowledge.models import Chunk, Document, DocumentVersion, ParseStatus, Stage, StageName, StageStatus
from tests.factories import allow, make_base, make_document, make_user, newest_version
from tests.tooling import called

pytestmark = pytest.mark.django_db

PART = "A rule about variant {number} that is long enough to be a passage of its own. " * 12


@pytest.fixture
def reader() -> User:
    return make_user()


def make_long(reader: User, parts: int = 7) -> Document:
    text = "\n\n".join(f"## Part {number}\n\n{PART.format(number=number)}" for number in range(parts))
    document = make_document(make_base(), "manual.md", f"# Manual v2.0\n\n{text}", ingested=True)
    allow(reader, document.knowledge_base)
    return document


def listed(reader: User, **arguments: Any) -> dict[str, Any]:
    outcome = called(reader, "list_knowledge_chunks", arguments)
    assert outcome.result.success, outcome.result.error
    return dict(outcome.result.data)


def fetch_all(reader: User, document: Document, limit: int) -> list[dict[str, Any]]:
    """001's `fetchAllChunks`, line by line."""
    chunks: list[dict[str, Any]] = []
    offset = 0
    while True:
        data = listed(reader, knowledge_id=document.pk, limit=limit, offset=offset)
        chunks += data["chunks"]
        if len(data["chunks"]) < limit:
            return chunks
        offset += limit


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_the_paging_loop_reads_every_passage_once_and_in_order(reader: User, limit: int) -> None:
    document = make_long(reader)
    chunks = fetch_all(reader, document, limit)
    rows = list(Chunk.unscoped.filter(document=document).order_by("position"))
    assert len(rows) > 3
    assert [chunk["chunk_id"] for chunk in chunks] == [str(row.id) for row in rows]
    assert [chunk["chunk_index"] for chunk in chunks] == [row.position for row in rows]
    assert [chunk["content"] for chunk in chunks] == [row.text for row in rows]


def test_an_offset_inside_a_page_begins_there_and_not_at_the_page(reader: User) -> None:
    """The specification's own tool turns an offset into a page, and so repeats or skips passages."""
    document = make_long(reader)
    data = listed(reader, knowledge_id=document.pk, limit=3, offset=2)
    assert [chunk["chunk_index"] for chunk in data["chunks"]] == [2, 3, 4]
    assert [chunk["seq"] for chunk in data["chunks"]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("limit", "offset", "page_size"), [(0, 0, 20), (-5, -3, 20), (1_000, 0, 100), (100, 0, 100), (1, 0, 1)]
)
def test_limits_and_offsets_outside_their_bounds_are_moved_to_the_nearest(
    reader: User, limit: int, offset: int, page_size: int
) -> None:
    document = make_long(reader)
    data = listed(reader, knowledge_id=document.pk, limit=limit, offset=offset)
    assert (data["page_size"], data["offset"]) == (page_size, 0)
    assert data["fetched_chunks"] == min(data["total_chunks"], page_size)


def test_the_default_is_twenty_from_the_beginning(reader: User) -> None:
    data = listed(reader, knowledge_id=make_long(reader).pk)
    assert (data["page_size"], data["offset"], data["page"]) == (20, 0, 1)
    assert set(data) >= {"knowledge_id", "knowledge_title", "total_chunks", "fetched_chunks", "chunks", "display_type"}
    assert set(data["chunks"][0]) >= {"seq", "chunk_id", "chunk_index", "content", "chunk_type", "images"}


def test_past_the_end_succeeds_and_says_so(reader: User) -> None:
    outcome = called(reader, "list_knowledge_chunks", {"knowledge_id": make_long(reader).pk, "offset": 10_000})
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


def test_a_passage_comes_with_its_neighbours(reader: User) -> None:
    document = make_long(reader)
    middle = Chunk.unscoped.get(document=document, position=3)
    data = listed(reader, chunk_id=middle.id, neighbours=1)
    assert [chunk["chunk_index"] for chunk in data["chunks"]] == [2, 3, 4]
    first = Chunk.unscoped.get(document=document, position=0)
    assert [c["chunk_index"] for c in listed(reader, chunk_id=first.id, neighbours=2)["chunks"]] == [0, 1, 2]


def test_only_the_version_that_answers_is_listed(reader: User) -> None:
    document = make_long(reader)
    make_document(document.folder, "manual.md", "# Manual v3.0\n\nShort.", ingested=True)
    data = listed(reader, knowledge_id=document.pk)
    assert data["total_chunks"] == 1
    assert "Short." in data["chunks"][0]["content"]


def test_a_missing_id_is_one_sentence(reader: User) -> None:
    assert "knowledge_id is missing" in called(reader, "list_knowledge_chunks", {}).result.error
    assert "no such document" in called(reader, "list_knowledge_chunks", {"knowledge_id": "kb_123"}).result.error


def info(reader: User, *ids: object, **more: Any) -> Any:
    return called(reader, "get_document_info", {"knowledge_ids": list(map(str, ids)), **more}).result


def test_facts_come_in_the_order_asked_with_errors_for_the_rest(reader: User) -> None:
    first, second = make_long(reader), make_long(reader, 2)
    hidden, missing = make_document(make_base()), uuid4()
    found = info(reader, second.pk, hidden.pk, first.pk, missing, "kb-doc-003")
    assert found.success
    assert [card["knowledge_id"] for card in found.data["documents"]] == [str(second.pk), str(first.pk)]
    assert [each["knowledge_id"] for each in found.data["errors"]] == [str(hidden.pk), str(missing), "kb-doc-003"]
    assert len({each["error"] for each in found.data["errors"]}) == 1, "forbidden and missing are the same words"
    assert (found.data["total_docs"], found.data["requested"]) == (2, 5)
    assert found.data["display_type"] == "document_info"
    assert found.data["title"] == second.title
    assert "2 / 5 documents" in found.output
    card = found.data["documents"][1]
    assert (card["title"], card["file_name"], card["file_type"]) == ("Manual v2.0", "manual.md", "md")
    assert (card["type"], card["parse_status"], card["error_message"]) == ("file", "completed", "")
    assert card["chunk_count"] == Chunk.unscoped.filter(document=first).count()
    assert found.data["total_chunks"] == sum(card["chunk_count"] for card in found.data["documents"])


def test_one_to_ten_documents(reader: User) -> None:
    assert "at least 1" in info(reader).error
    assert "at most 10" in info(reader, *[uuid4() for _ in range(11)]).error
    nothing = info(reader, *[uuid4() for _ in range(10)])
    assert not nothing.success
    assert len(nothing.data["errors"]) == 10


def test_an_id_asked_twice_is_answered_once(reader: User) -> None:
    document = make_long(reader)
    assert info(reader, document.pk, document.pk).data["requested"] == 1


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
    assert "🔄 in work" in found.output
    assert "50 / 100 passages" in found.output


def test_only_the_chosen_fields_come(reader: User) -> None:
    card = info(reader, make_long(reader).pk, fields=["title", "parse_status"]).data["documents"][0]
    assert set(card) == {"knowledge_id", "title", "parse_status"}


def test_ten_documents_cost_no_more_statements_than_one(reader: User, django_assert_num_queries: Any) -> None:
    documents = [make_document(make_base()) for _ in range(3)]
    for document in documents:
        allow(reader, document.knowledge_base)
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = []
    for asked in (documents[:1], documents):
        with CaptureQueriesContext(connection) as queries:
            info(reader, *[document.pk for document in asked])
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("pattern", ["(", "[a-", "*x", "a{2,1}", "\\"])
def test_a_pattern_that_is_none_is_one_sentence(reader: User, pattern: str) -> None:
    make_long(reader)
    outcome = called(reader, "grep_chunks", {"patterns": [pattern]})
    assert "no regular expression" in outcome.result.error
    assert called(reader, "grep_chunks", {"patterns": ["variant"]}).result.success, "the transaction is usable"


def test_a_pattern_that_runs_for_ever_is_stopped_by_the_database(reader: User, monkeypatch: pytest.MonkeyPatch) -> None:
    from agent.tools import grep_chunks

    make_long(reader)
    with monkeypatch.context() as hurried:
        hurried.setattr(grep_chunks, "TIMEOUT_MS", 1)
        outcome = called(reader, "grep_chunks", {"patterns": [r"(.+)(.+)(.+)(.+)\1\2\3\4no such end"]})
    assert "took longer" in outcome.result.error
    assert called(reader, "grep_chunks", {"patterns": ["variant"]}).result.success, "the limit was the statement's"


def test_patterns_find_in_any_case_and_say_when_there_is_more(reader: User) -> None:
    document = make_long(reader)
    data = called(reader, "grep_chunks", {"patterns": ["VARIANT 3"], "max_results": 1}).result.data
    assert [row["knowledge_id"] for row in data["results"]] == [str(document.pk)]
    assert "variant 3" in data["results"][0]["content"]
    more = called(reader, "grep_chunks", {"patterns": ["variant", "rule"], "max_results": 1}).result.data
    assert (more["count"], more["has_more"]) == (1, True)


def test_a_spreadsheet_is_described_and_queried(reader: User) -> None:
    document = make_document(
        make_base(), "销售.csv", '地区,年份,销售额\n华东,2026,"1,200"\n华南,2026,800\n华东,2025,700\n', ingested=True
    )
    allow(reader, document.knowledge_base)
    schema = called(reader, "data_schema", {}).result
    assert schema.success, schema.error
    (table,) = schema.data["tables"]
    assert (table["name"], table["rows"]) == ("t1", 3)
    assert {column["name"]: column["type"] for column in table["columns"]} == {
        "地区": "VARCHAR", "年份": "BIGINT", "销售额": "BIGINT",
    }  # fmt: skip
    found = called(
        reader,
        "data_analysis",
        {
            "knowledge_ids": [document.pk],
            "sql": 'SELECT "地区", sum("销售额") AS total FROM t1 GROUP BY 1 ORDER BY 2 DESC',
        },
    ).result
    assert found.success, found.error
    assert found.data["rows"] == [["华东", 1900], ["华南", 800]]
    (finding,) = found.findings
    assert (finding.item.type, finding.item.by, finding.item.source.doc_id) == ("sql_result", "sql", str(document.pk))
    assert finding.passage is not None
    assert found.sql is not None
    assert "1900" in found.sql.result_preview


ATTACKS = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_text('/proc/self/environ')",
    "SELECT * FROM glob('/*')",
    "COPY t1 TO '/tmp/out.csv'",
    "ATTACH '/tmp/other.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "PRAGMA database_list; SELECT 1",
    "SELECT 1; DROP TABLE t1",
    "CREATE TABLE x AS SELECT 1",
    "DELETE FROM t1",
    "SELECT getenv('PATH')",
    "SELECT * FROM duckdb_secrets() WHERE error('x')",
    "SELECT count(*) FROM range(1000000000000) a, range(1000000) b",
    "SELECT repeat('x', 4000000000)",
    "not sql at all",
]


@pytest.mark.parametrize("sql", ATTACKS)
def test_sql_that_wants_more_than_the_tables_gets_one_sentence(
    reader: User, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent.tools import data_analysis
    from business.spreadsheets.queries import SheetLimits

    document = make_document(make_base(), "a.csv", "a,b\n1,2\n", ingested=True)
    allow(reader, document.knowledge_base)
    monkeypatch.setattr(data_analysis, "SheetLimits", lambda: SheetLimits(cpu_s=1, wall_s=15))
    outcome = called(reader, "data_analysis", {"knowledge_ids": [document.pk], "sql": sql})
    assert not outcome.result.success, outcome.result.output
    assert outcome.problem == "ToolMistake"
    assert "root:" not in outcome.result.output


def test_no_more_rows_than_the_limit_come_back(reader: User) -> None:
    document = make_document(make_base(), "a.csv", "a,b\n1,2\n", ingested=True)
    allow(reader, document.knowledge_base)
    found = called(reader, "data_analysis", {"sql": "SELECT * FROM range(1000)"}).result
    assert (found.data["row_count"], found.data["has_more"]) == (200, True)


def test_without_a_spreadsheet_the_tools_say_why(reader: User) -> None:
    make_long(reader)
    assert NO_SPREADSHEETS.en in called(reader, "data_schema", {}).result.error
    assert NO_SPREADSHEETS.en in called(reader, "data_analysis", {"sql": "SELECT 1"}).result.error


def test_a_document_that_is_no_spreadsheet_is_named(reader: User) -> None:
    make_document(document_base := make_base(), "a.csv", "a,b\n1,2\n", ingested=True)
    allow(reader, document_base)
    manual = make_long(reader)
    assert "Manual v2.0" in called(reader, "data_schema", {"knowledge_ids": [manual.pk]}).result.error
