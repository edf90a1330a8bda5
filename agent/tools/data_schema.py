"""List the tables of a spreadsheet."""

from uuid import UUID

from asgiref.sync import sync_to_async
from pydantic import Field

from agent.evidence.fencing import fenced_facts
from agent.run_state.state import State
from agent.tools.base import Tool, ToolArgs, ToolContext, ToolResult, Words, add_tool
from authz.principal import Principal
from business.spreadsheets.queries import MAX_DOCUMENTS, SheetLimits, in_child, tables_of
from copilot_site.lib.text.one_line import one_line
from knowledge.retrieval.search import Scope
from knowledge.tool_selectors import spreadsheets_within

NO_SPREADSHEETS = Words(
    "there is no spreadsheet or CSV document that this person may read.", "没有您可以读取的电子表格或 CSV 文档。"
)


def no_spreadsheet(principal: Principal) -> Words | None:
    """Return the reason given by both spreadsheet tools where there is nothing to query."""
    return None if spreadsheets_within(principal, Scope()).exists() else NO_SPREADSHEETS


class SchemaArgs(ToolArgs):
    knowledge_ids: list[UUID] = Field(
        default_factory=list,
        max_length=MAX_DOCUMENTS,
        description="Spreadsheet or CSV documents; all in scope, if they are few.",
    )


class DataSchema(Tool):
    """List the tables of spreadsheet and CSV documents: names, columns with types, numbers of rows, samples."""

    name = "data_schema"
    label = Words("Look at tables", "查看数据结构")
    description = Words(
        "Shows tables, columns and types of spreadsheets and CSV documents.", "查看表格文件的数据表、字段与类型"
    )
    Args = SchemaArgs
    timeout_s = 20.0
    node = State.QUERY

    def why_not(self, principal: Principal) -> Words | None:
        return no_spreadsheet(principal)

    async def run(self, ctx: ToolContext, args: SchemaArgs) -> ToolResult:
        tables = await sync_to_async(tables_of)(ctx.principal, ctx.scope, args.knowledge_ids)
        described = (await in_child(tables, sql=None, limits=SheetLimits()))["tables"]
        lines, shown = [], []
        for table, facts in zip(tables, described, strict=True):
            title = " > ".join(filter(None, (table.document.title, table.sheet)))
            columns = ", ".join(f'"{column["name"]}" {column["type"]}' for column in facts["columns"])
            lines += [f"Table {table.name}: {title} ({table.document.pk}), {facts['rows']} rows", f"  {columns}"]
            lines += [f"  e.g. {row}" for row in facts["sample"]]
            shown.append({**facts, "knowledge_id": str(table.document.pk), "title": title})
        message = f"{len(shown)} tables:\n{fenced_facts('tables', map(one_line, lines))}"
        return ToolResult(message, {"display_type": "data_schema", "tables": shown})


add_tool(DataSchema())
