"""Facts of documents as evidence: a catalogue card that an answer may stand on, as long as all the documents on it may be seen."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Sequence
from uuid import UUID

from agent.evidence import text_hash
from agent.query_result import Meaning, QueryShown, ResultTable, TableReach
from agent.query_sources import Queried
from agent.state import EvidenceItem, Finding, Source
from authz.principal import Principal
from knowledge.lookups import Facts, documents_within
from knowledge.models import ParseStatus
from knowledge.retrieval.search import Scope

SOURCE = "document catalogue"  # no data source has this name: theirs have no spaces
_PREFIX = "document:"
COLUMNS = {
    "en": ("title", "file", "bytes", "status", "passages"),
    "zh": ("标题", "文件", "字节", "状态", "分块"),
}
STATUSES = {
    "en": {
        ParseStatus.PENDING: "waiting",
        ParseStatus.PROCESSING: "in work",
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


def found_facts(facts: Sequence[Facts], *, language: str) -> Finding:
    """One piece of evidence for all these documents, at least one. Its text is bilingual, so that questions in both stand on it."""
    shown = "zh" if language.startswith("zh") else "en"
    reach = tuple(TableReach(table=f"{_PREFIX}{each.document.pk}", columns=()) for each in facts)
    rows = tuple(_row(each, shown) for each in facts)
    query = QueryShown(
        query_id="documents",
        question="",
        statement="",
        sql="",
        sha256=hashlib.sha256(json.dumps([[one.table for one in reach], rows]).encode()).hexdigest(),
        reach=reach,
        meaning=Meaning(headline=_counted(facts, shown)),
        table=ResultTable(columns=COLUMNS[shown], rows=rows),
    )
    text = "\n".join([_counted(facts, "en"), _counted(facts, "zh"), *map(_told, facts)])
    item = EvidenceItem(
        evidence_id=query.evidence_id,
        type="sql_result",
        text=text,
        score=1.0,
        source=Source(title=SOURCE, db=SOURCE, table=", ".join(query.tables), query_id=query.query_id),
        by="sql",
        hash=text_hash(text),
    )
    return Finding(item, query=query)


def vouched(principal: Principal, queried: Collection[Queried]) -> set[Queried]:
    """Those of the cards whose documents this person may all see now."""
    cards = {one: ids for one in queried if one.source == SOURCE and (ids := _documents(one))}
    if not cards:
        return set()
    wanted = {pk for ids in cards.values() for pk in ids}
    visible = set(documents_within(principal, Scope(document_ids=tuple(wanted))).values_list("pk", flat=True))
    return {one for one, ids in cards.items() if ids <= visible}


def _documents(card: Queried) -> set[UUID]:
    return {UUID(reach.table.removeprefix(_PREFIX)) for reach in card.reach if reach.table.startswith(_PREFIX)}


def _row(facts: Facts, language: str) -> tuple[str | int, ...]:
    document, newest = facts.document, facts.newest
    status = STATUSES[language][ParseStatus(newest.parse_status)]
    return document.title, document.filename, newest.size_bytes, status, facts.chunks


def _counted(facts: Sequence[Facts], language: str) -> str:
    """How many documents there are, and how many of each status: what a question about all of them is answered with."""
    counts = Counter(ParseStatus(each.newest.parse_status) for each in facts)
    passages = sum(each.chunks for each in facts)
    names = STATUSES[language]
    if language == "zh":
        parts = ",".join(f"{count} 篇{names[status]}" for status, count in sorted(counts.items()))
        return f"{len(facts)} 篇文档:{parts};共 {passages} 个分块。"
    parts = ", ".join(f"{count} {names[status]}" for status, count in sorted(counts.items()))
    noun = "document" if len(facts) == 1 else "documents"
    return f"{len(facts)} {noun}: {parts}; {passages} passages in all."


def _told(facts: Facts) -> str:
    document, newest = facts.document, facts.newest
    status = ParseStatus(newest.parse_status)
    total = "?" if facts.total is None else facts.total
    return (
        f"“{document.title}” ({document.filename}, {newest.size_bytes} bytes): {STATUSES['en'][status]}, "
        f"{facts.done} of {total} passages. 《{document.title}》的状态:{STATUSES['zh'][status]},已完成 {facts.done}/{total} 个分块。"
    )
