"""Ask business data."""

from collections.abc import Sequence
from functools import partial

from asgiref.sync import sync_to_async
from pydantic import Field, model_validator

from agent.evidence.fencing import fence_evidence
from agent.evidence.items import hash_text
from agent.run_state.run import Finding
from agent.run_state.state import EvidenceItem, EvidenceSource, ExploreForm, MeantQuery, SqlSummary, State
from agent.tools.base import (
    NotReadable,
    Objection,
    Tool,
    ToolArgs,
    ToolContext,
    ToolMistake,
    ToolOutput,
    ToolText,
    add_tool,
)
from agent.tools.linked_tables import describe_source_tables
from agent.verified_answers.matching import verified_statement
from authz.principal import Principal
from authz.scopes import TokenScope
from business.logical_query.query import Inexpressible
from business.models import DataSource
from business.pipeline import (
    Answered,
    DataQuestion,
    SourcesQuestion,
    Unanswered,
    describe_free_statement,
    find_matching_sources,
    find_written_statement_fault,
)
from business.presentation.query import build_query_shown
from business.presentation.report import build_report, convert_to_json_value
from business.semantic_layer.model import SemanticLayer
from business.sources.services import OpenSource, open_source, open_sources, select_named_source
from business.statements.run_query import QueryResult, run_query
from knowledge.text.language import detect_language

PREVIEW_CHARACTERS = 200
SCHEMA_CHARACTERS = 6_000  # of the table descriptions given to a model


class QueryArgs(ToolArgs):
    question: str = Field(default="", max_length=2_000, description="What is asked of the data, in the person's words.")
    source: str = Field(default="", max_length=50, description="Data source, where there are several.")
    sql: str = Field(default="", max_length=8_000, description="One PostgreSQL SELECT.")

    @model_validator(mode="after")
    def _asks_something(self) -> "QueryArgs":
        if not (self.question or self.sql):
            raise ValueError("give `sql`, or `question` to be told the tables")
        return self


class DatabaseQuery(Tool):
    """Query the company's databases: numbers, lists and rankings. Write `sql` over the tables you were told; call with `question` alone to
    be told them. Org units are filtered for you, at most 50 rows come back: let the database count and add up.
    """

    name = "database_query"
    label = ToolText("Query business data", "查询业务数据")
    description = ToolText(
        "Counts and lists records of the company's databases under your rights.", "按您的权限统计和查询公司业务数据库"
    )
    Args = QueryArgs
    scope = TokenScope.SQL.value
    timeout_s = 30.0  # a statement has 5 s; the rest is for reading the question
    node = State.QUERY

    def why_not(self, principal: Principal) -> ToolText | None:
        if DataSource.objects.visible_to(principal).exists():
            return None
        return ToolText("There is no data source you can ask.", "没有您可以查询的数据源。")

    async def run(self, ctx: ToolContext, args: QueryArgs) -> ToolOutput:
        sources = await sync_to_async(_open_chosen_sources)(ctx, args)
        question, sources = select_named_source(args.question, sources) if args.question else ("", sources)
        language = detect_language(args.question) or ctx.language
        if ctx.writes_sql and not args.sql:
            return await sync_to_async(_describe_relevant_tables)(ctx, sources, question, language)
        answered = await _answer_query(ctx, sources, args.model_copy(update={"question": question}), language)
        return _build_tool_result(ctx, question, answered, language)


def _open_chosen_sources(ctx: ToolContext, args: QueryArgs) -> list[OpenSource]:
    if args.source:
        return [open_source(ctx.principal, args.source, ctx.data)]
    sources = open_sources(ctx.principal, args.question, ctx.data)
    if not sources:
        raise ToolMistake("There is no data source that this person may ask.")
    return sources


def _describe_relevant_tables(
    ctx: ToolContext, sources: Sequence[OpenSource], question: str, language: str
) -> ToolOutput:
    """Return the tables relevant to a question, for the model that writes SQL."""
    about = find_matching_sources(sources, DataQuestion(question, language))
    listings = [describe_source_tables(ctx.principal, opened, question, ctx.data) for opened in about]
    text = "\n".join([*listings, "Call again with `source` and `sql`, one SELECT over these tables."])
    names = [opened.source.name for opened in about]
    return ToolOutput(text, {"display_type": "data_schema", "tables": [], "sources": names}, moves_on=True)


async def _answer_query(ctx: ToolContext, sources: list[OpenSource], args: QueryArgs, language: str) -> Answered:
    """Return the result of the caller's own statement, of a chosen reading, or of the question as understood.

    Raises NotReadable where no source understands the question, ToolMistake, and the errors of `run_query`.
    """
    asking = SourcesQuestion(sources, partial(_run_statement, ctx), verified=verified_statement)
    if args.sql:
        return await _run_given_statement(ctx, asking, args.sql, language)
    if ctx.logical_query is not None and ctx.logical_query[0] in {opened.source.name for opened in sources}:
        opened = next(entry for entry in sources if entry.source.name == ctx.logical_query[0])
        try:
            return await asking.logical(opened, ctx.logical_query[1], language)
        except Inexpressible as error:
            raise ToolMistake(str(error)) from error
    found = await asking.answer(DataQuestion(args.question, language, ctx.earlier, ctx.named_in))
    if isinstance(found, Unanswered):
        raise _build_not_readable(found)
    return found


async def _run_given_statement(ctx: ToolContext, asking: SourcesQuestion, sql: str, language: str) -> Answered:
    """Run the caller's statement.

    A statement that would give a wrong number is refused; one that differs from the company's definitions runs only
    after a warning.
    """
    if len(asking.sources) > 1:
        raise ToolMistake(f"Name the source: {', '.join(opened.source.name for opened in asking.sources)}.")
    opened = asking.sources[0]
    fault = await sync_to_async(find_written_statement_fault)(opened, sql)
    if fault is not None and fault.is_wrong:
        raise ToolMistake(fault.why)
    if fault is not None and ctx.writes_sql and opened.source.name not in ctx.objected:
        ctx.objected.add(opened.source.name)
        raise Objection(f"{fault.why} Send it again as it is if it is meant so.")
    return Answered(opened, sql, describe_free_statement(opened, sql, language), await asking.run(opened, sql))


async def _run_statement(ctx: ToolContext, opened: OpenSource, sql: str) -> QueryResult:
    return await run_query(ctx.principal, opened, sql, run_id=ctx.run_id, record=ctx.record)


def _build_not_readable(found: Unanswered) -> NotReadable:
    """Return why the sources do not answer; with the tables for outside callers, who may write the statement."""
    if found.choices:
        readings = [choice.text for choice in found.choices]
        return NotReadable(
            f"Several things can be meant: {' or '.join(readings)}? Ask the person.",
            readings=readings,
            queries={
                choice.text: MeantQuery(source=choice.source, query=choice.query)
                for choice in found.choices
                if choice.query is not None
            },
        )
    reasons = []
    for opened, failed in found.reasons:
        reasons.append(f"{opened.source.name} cannot answer this: {failed.why}")
        reasons.append(f"Tables for `sql`: {_format_schema(opened.layer)}")
    forms = [ExploreForm(source=opened.source.name, query=failed.partial) for opened, failed in found.reasons]
    best = next((form for form in forms if form.query is not None), next(iter(forms), None))
    why = list(dict.fromkeys(failed.why for _opened, failed in found.reasons))
    return NotReadable(
        " ".join(reasons) or "No source can answer this.",
        explore=best.model_copy(update={"why": why}) if best is not None else None,
    )


def _build_tool_result(ctx: ToolContext, question: str, answered: Answered, language: str) -> ToolOutput:
    result, opened, meaning = answered.result, answered.opened, answered.meaning
    kept = build_query_shown(
        result,
        opened,
        question=question,
        statement=answered.sql,
        meaning=meaning,
        language=language,
        logical_query=answered.query,
    )
    text = build_report(result, meaning, language, text=kept.meaning.text, words=kept.table.words)
    item = _build_evidence(opened, result, text)
    rows = result.answer.rows
    columns, cells = (rows.columns, rows.rows) if rows else ((), ())
    return ToolOutput(
        fence_evidence(item),
        {
            "display_type": "table",
            "columns": list(columns),
            "rows": [[convert_to_json_value(value) for value in row] for row in cells],
            "row_count": len(cells),
            "total": result.answer.total,
            "has_more": result.answer.total is not None,
            "sql": result.answer.sql,
            "source": result.source,
            "query_id": result.query_id,
            "conditions": list(meaning.conditions),
            "definitions": list(meaning.definitions),
            "org_units": sorted(ctx.principal.org_units),
        },
        findings=[Finding(item, query=kept)],
        sql=SqlSummary(
            generated_sql=result.answer.sql,
            result_preview=text[:PREVIEW_CHARACTERS],
            returned_evidence_ids=[item.evidence_id],
        ),
    )


def _format_schema(layer: SemanticLayer) -> str:
    tables = [f"{m.table_schema}.{m.table}({', '.join(m.columns)})" for m in layer.semantic_models]
    return "; ".join(tables)[:SCHEMA_CHARACTERS]


def _build_evidence(opened: OpenSource, result: QueryResult, text: str) -> EvidenceItem:
    return EvidenceItem(
        evidence_id=result.evidence_id,
        type="sql_result",
        text=text,
        score=1.0,
        source=EvidenceSource(
            title=opened.title,
            uri=f"sql://{result.source}/{result.query_id}",
            db=result.source,
            table=", ".join(result.answer.tables),
            query_id=result.query_id,
        ),
        by="sql",
        hash=hash_text(text),
    )


add_tool(DatabaseQuery())
