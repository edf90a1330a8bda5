"""Evidence made from several documents: a catalogue card, or the result of a query on their tables.

It can be cited as long as the person may see all of these documents.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

from agent.evidence.items import hash_text
from agent.run_state.run import Finding
from agent.run_state.state import EvidenceItem, EvidenceSource
from authz.principal import Principal
from business.results.shown_query import QueryShown, ResultMeaning, ResultTable, TableReach
from business.results.visibility import Queried
from copilot_site.lib.text.one_line import fold_to_one_line
from knowledge.models import Document, ParseStatus
from knowledge.retrieval.search import Scope
from knowledge.tool_selectors import CardFacts, list_documents_in_scope

SOURCE = "document catalogue"  # never a data source's name: those have no spaces
_PREFIX = "document:"
MAX_ROWS, HEADLINE, TITLE = (
    50,
    1_200,
    300,
)  # limits of a stored result: rows, characters when shown without a model, characters of its title
COLUMNS = {
    "en": ("title", "file", "bytes", "status", "passages"),
    "zh": ("标题", "文件", "字节", "状态", "分块"),
}
STATUSES = {
    "en": {
        ParseStatus.PENDING: "waiting",
        ParseStatus.PROCESSING: "in progress",
        ParseStatus.COMPLETED: "ready",
        ParseStatus.FAILED: "failed",
    },
    "zh": {
        ParseStatus.PENDING: "待处理",
        ParseStatus.PROCESSING: "处理中",
        ParseStatus.COMPLETED: "已完成处理",
        ParseStatus.FAILED: "处理失败",
    },
}


def make_facts_finding(facts: Sequence[CardFacts], *, language: str) -> Finding:
    """Return the facts of at least one document as one piece of evidence.

    Its text is bilingual, to support answers in both languages.
    """
    shown = "zh" if language.startswith("zh") else "en"
    reach = _list_table_reaches(fact.document for fact in facts)
    names = sorted({name for fact in facts for name in fact.document.metadata})
    rows = tuple(_build_facts_row(fact, shown, names) for fact in facts)
    query = QueryShown(
        query_id="documents",
        question="",
        statement="",
        sql="",
        sha256=hashlib.sha256(json.dumps([[one.table for one in reach], rows]).encode()).hexdigest(),
        reach=reach,
        meaning=ResultMeaning(headline=_format_status_counts(facts, shown)),
        table=ResultTable(columns=(*COLUMNS[shown], *names), rows=rows),
    )
    text = "\n".join(
        [
            _format_status_counts(facts, "en"),
            _format_status_counts(facts, "zh"),
            *map(_describe_document, facts),
            *filter(None, map(_format_metadata, facts)),
        ]
    )
    return Finding(_make_evidence_item(query, text, title=SOURCE), query=query)


def make_rows_finding(
    documents: Sequence[Document], sql: str, *, columns: Sequence[str], rows: Sequence[Sequence[Any]], text: str
) -> Finding:
    """Return the result of a query on tables of these documents as one piece of evidence.

    text: the result, for a model.
    """
    query = QueryShown(
        query_id=f"q_{hashlib.sha256(sql.encode()).hexdigest()[:12]}",
        question="",
        statement=sql,
        sql=sql,
        sha256=hash_text(text),
        reach=_list_table_reaches(documents),
        meaning=ResultMeaning(headline=text[:HEADLINE]),
        table=ResultTable(
            columns=tuple(columns),
            rows=tuple(map(tuple, rows[:MAX_ROWS])),
            total=len(rows) if len(rows) > MAX_ROWS else None,
        ),
    )
    return Finding(
        _make_evidence_item(query, text, title=" + ".join(item.title for item in documents)[:TITLE]), query=query
    )


def make_documents_source(ids: Iterable[UUID]) -> Queried:
    """Return the source key of evidence that depends on all of these documents and nothing else."""
    return Queried.of_tables(SOURCE, [f"{_PREFIX}{pk}" for pk in ids])


def _list_table_reaches(documents: Iterable[Document]) -> tuple[TableReach, ...]:
    return tuple(TableReach(table=f"{_PREFIX}{document.pk}", columns=()) for document in documents)


def _make_evidence_item(query: QueryShown, text: str, *, title: str) -> EvidenceItem:
    return EvidenceItem(
        evidence_id=query.evidence_id,
        type="sql_result",
        text=text,
        score=1.0,
        source=EvidenceSource(title=title, db=SOURCE, table=", ".join(query.tables), query_id=query.query_id),
        by="sql",
        hash=hash_text(text),
    )


def still_visible(principal: Principal, queried: Collection[Queried]) -> set[Queried]:
    """Return the cards whose documents are all visible to this person now."""
    cards = {one: ids for one in queried if one.source == SOURCE and (ids := _list_document_ids(one))}
    if not cards:
        return set()
    wanted = {pk for ids in cards.values() for pk in ids}
    visible = set(list_documents_in_scope(principal, Scope(document_ids=tuple(wanted))).values_list("pk", flat=True))
    return {one for one, ids in cards.items() if ids <= visible}


def _list_document_ids(card: Queried) -> set[UUID]:
    return {UUID(reach.table.removeprefix(_PREFIX)) for reach in card.reach if reach.table.startswith(_PREFIX)}


def _build_facts_row(facts: CardFacts, language: str, fields: Sequence[str]) -> tuple[str | int | float, ...]:
    document, newest = facts.document, facts.newest
    status = STATUSES[language][ParseStatus(newest.parse_status)]
    values = (document.metadata.get(name, "") for name in fields)
    return document.title, document.filename, newest.size_bytes, status, facts.chunks, *values


def _format_status_counts(facts: Sequence[CardFacts], language: str) -> str:
    """Return the number of documents, and the number per status, to answer questions about all of them."""
    counts = Counter(ParseStatus(fact.newest.parse_status) for fact in facts)
    passages = sum(fact.chunks for fact in facts)
    names = STATUSES[language]
    if language == "zh":
        parts = ",".join(f"{count} 篇{names[status]}" for status, count in sorted(counts.items()))
        return f"{len(facts)} 篇文档:{parts};共 {passages} 个分块。"
    parts = ", ".join(f"{count} {names[status]}" for status, count in sorted(counts.items()))
    noun = "document" if len(facts) == 1 else "documents"
    return f"{len(facts)} {noun}: {parts}; {passages} passages in all."


def _format_metadata(facts: CardFacts) -> str:
    """Return the document's metadata fields as a text; "" for none."""
    message = "; ".join(
        f"{fold_to_one_line(name)}: {fold_to_one_line(str(value))}"
        for name, value in sorted(facts.document.metadata.items())
    )
    return f"“{facts.document.title}”《{facts.document.title}》: {message}." if message else ""


def _describe_document(facts: CardFacts) -> str:
    document, newest = facts.document, facts.newest
    status = ParseStatus(newest.parse_status)
    total = "?" if facts.total is None else facts.total
    return (
        f"“{document.title}” ({document.filename}, {newest.size_bytes} bytes): {STATUSES['en'][status]}, "
        f"{facts.done} of {total} passages. 《{document.title}》的状态:{STATUSES['zh'][status]},已完成 {facts.done}/{total} 个分块。"
    )
