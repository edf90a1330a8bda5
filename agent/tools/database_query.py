"""Ask business data."""

from contextlib import suppress

from asgiref.sync import sync_to_async
from pydantic import Field

from agent.business.ask.describe import Meaning
from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.readings import readings_of
from agent.business.confirmed import confirmed_in
from agent.business.examples import confirmed_examples
from agent.business.layer.model import SemanticLayer
from agent.business.models import DataSource
from agent.business.queries import QueryResult, run_query
from agent.business.readable import of_named_source
from agent.business.report import plain, report
from agent.business.shown import shown
from agent.business.sources import OpenSource, open_source, open_sources
from agent.business.ways.base import Way, Written, run_written
from agent.business.ways.by_model import ByModel
from agent.business.ways.definitions import definitions_of
from agent.business.ways.linking import link
from agent.business.ways.word_for_word import WordForWord
from agent.evidence import text_hash
from agent.rule_routing.context_dependence import beside
from agent.state import EvidenceItem, Finding, Source, SqlSummary, State
from agent.tools.base import NotReadable, ToolArgs, ToolContext, ToolDefaults, ToolMistake, ToolResult, Words, add_tool
from agent.tools.output import fenced
from authz.principal import Principal
from authz.scopes import TokenScope
from knowledge.ingestion.language import language_of

Reading = tuple[OpenSource, Written]
Failure = tuple[OpenSource, NotUnderstood]
PREVIEW_CHARACTERS = 200
SCHEMA_CHARACTERS = 6_000  # of the tables that a model is told of


class QueryArgs(ToolArgs):
    question: str = Field(min_length=1, max_length=2_000, description="The question in the person's own words.")
    source: str = Field(default="", max_length=50, description="Name of the data source, where there are several.")
    named_in: str = Field(
        default="",
        max_length=4_000,
        description="A text that names what “these” or “them” in the question are, as found in a document; only those are counted.",
    )
    sql: str = Field(
        default="",
        max_length=8_000,
        description="One PostgreSQL SELECT, after this tool has said that it cannot read the question by itself.",
    )


class DatabaseQuery(ToolDefaults):
    """Ask the company's business databases: numbers, lists and rankings of customers, orders, people, projects and the like.

    Give the question alone, complete in itself and in the person's words. Where it cannot be answered you are told why; where
    you are told tables, you may call again with `sql`, one SELECT over them. Org units are filtered for you, at most 50 rows
    come back; let the database count and add up.
    """

    name = "database_query"
    label = Words("Query business data", "查询业务数据")
    description = Words(
        "Counts and lists records of the company's databases under your rights.", "按您的权限统计和查询公司业务数据库"
    )
    Args = QueryArgs
    scope = TokenScope.SQL.value
    timeout_s = 60.0  # a statement has 5 s; the rest is for a model that writes it
    node = State.QUERY

    def why_not(self, principal: Principal) -> Words | None:
        if DataSource.objects.visible_to(principal).exists():
            return None
        return Words("There is no data source that you may ask.", "没有您可以查询的数据源。")

    async def run(self, ctx: ToolContext, args: QueryArgs) -> ToolResult:
        sources = await sync_to_async(_sources)(ctx.principal, args.source)
        question, sources = of_named_source(args.question, sources)
        args = args.model_copy(update={"question": question})
        language = language_of(args.question) or ctx.language
        opened, written, result = await _answered(ctx, sources, args, language)
        meaning = written.meaning or Meaning(
            "", (), definitions_of(written.sql, opened.layer.semantic_models, language)
        )
        kept = shown(result, opened, question=args.question, statement=written.sql, meaning=meaning, language=language)
        text = report(result, meaning, language, said=kept.meaning.headline, words=kept.table.words)
        item = _evidence(result, text)
        rows = result.answer.rows
        columns, cells = (rows.columns, rows.rows) if rows else ((), ())
        return ToolResult(
            fenced(item),
            {
                "display_type": "table",
                "columns": list(columns),
                "rows": [[plain(value) for value in row] for row in cells],
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


def _sources(principal: Principal, name: str) -> list[OpenSource]:
    sources = [open_source(principal, name)] if name else open_sources(principal)
    if not sources:
        raise ToolMistake("There is no data source that this person may ask.")
    return sources


async def _answered(
    ctx: ToolContext, sources: list[OpenSource], args: QueryArgs, language: str
) -> tuple[OpenSource, Written, QueryResult]:
    """The source, statement and result of a call: the caller's own, the one reading of the question, or what the model writes.

    Raises NotReadable where no source reads the question, ToolMistake, what `run_query` raises, and ModelError where the model fails.
    """
    if args.sql:
        if len(sources) > 1:
            raise ToolMistake(f"Name the source: {', '.join(opened.source.name for opened in sources)}.")
        return sources[0], Written(args.sql), await _run(ctx, sources[0], args.sql)
    confirmed = None if args.named_in else await sync_to_async(confirmed_in)(sources, args.question)
    if confirmed is not None and confirmed.sql:
        written = confirmed.written(language)
        return confirmed.opened, written, await _run(ctx, confirmed.opened, written.sql)
    way: Way = WordForWord(language)
    read: list[Reading] = []
    failed: list[Failure] = []
    if confirmed is None:
        read, failed = await _tried(way, sources, args)
    elif ctx.model is None:  # what is read word for word was put right once
        raise NotReadable(
            "What was confirmed for this question names days that are not those of today: ask with dates."
        )
    if not read and ctx.model is not None and not any(error.choices for _opened, error in failed):
        opened = _nearest(sources, args.question)
        examples = await sync_to_async(confirmed_examples)(ctx.principal, opened.source)
        way = ByModel(ctx.model, language, examples, use=ctx.use)
        read, failed = await _tried(way, [opened], args)
    if len(read) > 1:
        names = [opened.source.name for opened, _written in read]
        readings = [beside(args.question, name) for name in names]
        raise NotReadable(f"Several sources can answer: name one of {', '.join(names)}.", readings=readings)
    if not read:
        readings = [
            text for opened, error in failed for text in readings_of(args.question, error, opened.layer, language)
        ]
        told = " ".join(_handed_on(opened, error, ctx.model is None) for opened, error in failed)
        raise NotReadable(told, readings=readings)
    opened, written = read[0]
    written, result = await run_written(way, written, lambda sql: _run(ctx, opened, sql))
    return opened, written, result


async def _run(ctx: ToolContext, opened: OpenSource, sql: str) -> QueryResult:
    return await run_query(ctx.principal, opened, sql, run_id=ctx.run_id, record=ctx.record)


async def _tried(way: Way, sources: list[OpenSource], args: QueryArgs) -> tuple[list[Reading], list[Failure]]:
    """What a way makes of a question for each source."""
    read: list[Reading] = []
    failed: list[Failure] = []
    for opened in sources:
        try:
            read.append((opened, await way.write(args.question, opened.lexicon, named_in=args.named_in)))
        except NotUnderstood as error:
            failed.append((opened, error))
    return read, failed


def _nearest(sources: list[OpenSource], question: str) -> OpenSource:
    """The source whose tables the question names most. Raises ToolMistake where that does not decide."""
    if len(sources) == 1:
        return sources[0]
    scores: list[tuple[float, OpenSource]] = []
    for opened in sources:
        with suppress(NotUnderstood):
            scores.append((link(question, opened.lexicon).score, opened))
    best = max((score for score, _opened in scores), default=0.0)
    nearest = [opened for score, opened in scores if score == best]
    if len(nearest) != 1:
        raise ToolMistake(f"Name the source: {', '.join(opened.source.name for opened in sources)}.")
    return nearest[0]


def _handed_on(opened: OpenSource, error: NotUnderstood, is_to_be_written: bool) -> str:
    """Why a source does not answer; without a model of the run the caller may write the statement, and is told the tables."""
    if error.choices:
        return f"{opened.source.name}: {error}: {' or '.join(error.choices)}? Ask the person which is meant."
    why = f"no meaning for {', '.join(error.unknown)}" if error.unknown else str(error)
    if not is_to_be_written:
        return f"{opened.source.name} cannot answer this: {why}."
    return f"{opened.source.name} cannot read the question by itself ({why}). Tables for `sql`: {_schema(opened.layer)}"


def _schema(layer: SemanticLayer) -> str:
    tables = [f"{m.table_schema}.{m.table}({', '.join(m.columns)})" for m in layer.semantic_models]
    return "; ".join(tables)[:SCHEMA_CHARACTERS]


def _evidence(result: QueryResult, text: str) -> EvidenceItem:
    return EvidenceItem(
        evidence_id=result.evidence_id,
        type="sql_result",
        text=text,
        score=1.0,
        source=Source(
            title=result.source,
            uri=f"sql://{result.source}/{result.query_id}",
            db=result.source,
            table=", ".join(result.answer.tables),
            query_id=result.query_id,
        ),
        by="sql",
        hash=text_hash(text),
    )


add_tool(DatabaseQuery())
