"""List the tables of spreadsheets, and query them."""

import hashlib
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from pydantic import Field

from agent.evidence.document_facts import make_rows_finding
from agent.evidence.fencing import escape_document_text, fence_evidence, fence_facts
from agent.evidence.items import hash_text
from agent.run_state.run import Finding
from agent.run_state.state import EvidenceItem, EvidenceSource, SqlSummary, State
from agent.tools.base import Tool, ToolArgs, ToolContext, ToolMistake, ToolOutput, ToolText, add_tool
from authz.principal import Principal
from business.guard.refusal import SqlRefused
from business.spreadsheets.queries import MAX_DOCUMENTS, LoadedTable, SheetLimits, load_tables_in_scope, run_in_child
from copilot_site.lib.text.one_line import fold_to_one_line
from knowledge.retrieval.search import Scope
from knowledge.tool_selectors import list_spreadsheets

PREVIEW_CHARACTERS = 200


NO_SPREADSHEETS = ToolText(
    "there is no spreadsheet or CSV document that this person may read.", "没有您可以读取的电子表格或 CSV 文档。"
)


class _SpreadsheetTool(Tool):
    timeout_s = 20.0
    node = State.QUERY

    def why_not(self, principal: Principal) -> ToolText | None:
        return None if list_spreadsheets(principal, Scope()).exists() else NO_SPREADSHEETS


class SchemaArgs(ToolArgs):
    knowledge_ids: list[UUID] = Field(
        default_factory=list,
        max_length=MAX_DOCUMENTS,
        description="Spreadsheet or CSV documents; all in scope, if they are few.",
    )


class DataSchema(_SpreadsheetTool):
    """List the tables of spreadsheet and CSV documents: names, columns with types, numbers of rows, samples."""

    name = "data_schema"
    label = ToolText("Look at tables", "查看数据结构")
    description = ToolText(
        "Shows tables, columns and types of spreadsheets and CSV documents.", "查看表格文件的数据表、字段与类型"
    )
    Args = SchemaArgs

    async def run(self, ctx: ToolContext, args: SchemaArgs) -> ToolOutput:
        tables = await sync_to_async(load_tables_in_scope)(ctx.principal, ctx.scope, args.knowledge_ids)
        described = (await run_in_child(tables, sql=None, limits=SheetLimits()))["tables"]
        lines, shown = [], []
        for table, facts in zip(tables, described, strict=True):
            title = " > ".join(filter(None, (table.document.title, table.sheet)))
            columns = ", ".join(f'"{column["name"]}" {column["type"]}' for column in facts["columns"])
            lines += [f"Table {table.name}: {title} ({table.document.pk}), {facts['rows']} rows", f"  {columns}"]
            lines += [f"  e.g. {row}" for row in facts["sample"]]
            shown.append({**facts, "knowledge_id": str(table.document.pk), "title": title})
        message = f"{len(shown)} tables:\n{fence_facts('tables', map(fold_to_one_line, lines))}"
        return ToolOutput(message, {"display_type": "data_schema", "tables": shown})


add_tool(DataSchema())


class AnalysisArgs(ToolArgs):
    knowledge_ids: list[UUID] = Field(
        default_factory=list,
        max_length=MAX_DOCUMENTS,
        description="The ids given to data_schema, in that order.",
    )
    sql: str = Field(
        min_length=1,
        max_length=4_000,
        description='One DuckDB SELECT: SELECT count(*) FROM t1 WHERE "年份" = 2026.',
    )


class DataAnalysis(_SpreadsheetTool):
    """Count, sum and compare the rows of spreadsheet and CSV documents with SQL. Call data_schema first, with the same knowledge_ids, for
    tables (t1, t2, …) and columns. At most 200 rows come back: let the database add up.
    """

    name = "data_analysis"
    label = ToolText("Analyse tables", "数据分析")
    description = ToolText(
        "Counts and adds up spreadsheets and CSV documents with SQL.", "用 SQL 对表格文件进行统计分析"
    )
    Args = AnalysisArgs

    async def run(self, ctx: ToolContext, args: AnalysisArgs) -> ToolOutput:
        tables = await sync_to_async(load_tables_in_scope)(ctx.principal, ctx.scope, args.knowledge_ids)
        limits = SheetLimits()
        try:
            found = await run_in_child(tables, sql=args.sql, limits=limits)
        except SqlRefused as refused:
            raise ToolMistake(str(refused)) from refused
        text = format_rows_as_text(found["columns"], found["rows"])
        read = [table for table in tables if table.name in found["read"]]
        finding = _build_finding(args.sql, found, text, read)
        more = f"\nOnly the first {limits.rows} rows are shown." if found["more"] else ""
        shown = (
            fence_evidence(finding.item)
            if finding
            else f"{escape_document_text(text)}\nIt reads no table: nothing can stand on it."
        )
        return ToolOutput(
            f"{len(found['rows'])} rows:\n{shown}{more}",
            {
                "display_type": "table",
                "columns": found["columns"],
                "rows": found["rows"],
                "row_count": len(found["rows"]),
                "has_more": found["more"],
                "sql": args.sql,
            },
            findings=[finding] if finding else [],
            sql=SqlSummary(
                generated_sql=args.sql,
                result_preview=text[:PREVIEW_CHARACTERS] if finding and finding.passage else "",
                returned_evidence_ids=[finding.item.evidence_id] if finding else [],
            ),
        )


def _build_finding(sql: str, found: dict[str, Any], text: str, read: list[LoadedTable]) -> Finding | None:
    """Return the result as evidence; None where it reads no table, and the model only repeats itself.

    A result from one document is cited by that document's first passage; one from several has all of them as sources.
    """
    documents = list({table.document.pk: table.document for table in read}.values())
    if not documents:
        return None
    if len(documents) > 1:
        return make_rows_finding(documents, sql, columns=found["columns"], rows=found["rows"], text=text)
    return Finding(_build_evidence(sql, text, read), read[0].source.first)


def format_rows_as_text(columns: list[str], rows: list[list[Any]]) -> str:
    lines = [" | ".join(columns), *(" | ".join("" if cell is None else str(cell) for cell in row) for row in rows)]
    return "\n".join(lines)


def _build_evidence(sql: str, text: str, tables: list[LoadedTable]) -> EvidenceItem:
    """Return the result as separate evidence, named after the query and its result."""
    query_id = f"q_{hashlib.sha256(sql.encode()).hexdigest()[:12]}"
    document = tables[0].document
    return EvidenceItem(
        evidence_id=f"sql:{query_id}:rowset:{hash_text(text)[:8]}",
        type="sql_result",
        text=text,
        score=1.0,
        source=EvidenceSource(
            doc_id=str(document.pk),
            title=document.title,
            chunk_id=str(tables[0].source.first.chunk_id) if tables[0].source.first else None,
            uri=f"kb://{document.knowledge_base_id}/{document.pk}",
            db="documents",
            table=", ".join(table.sheet or table.document.title for table in tables),
            query_id=query_id,
        ),
        by="sql",
        hash=hash_text(text),
    )


add_tool(DataAnalysis())
