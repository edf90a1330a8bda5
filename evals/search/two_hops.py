"""Measure questions whose answer is in two documents: how often both are among the first passages, with the graph and without it."""

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from pydantic import BaseModel, Field

from authz.principal import Principal
from knowledge.graph.search import search_graph
from knowledge.models import Document
from knowledge.retrieval.search import Scope, search
from knowledge.selectors import ShownPassage

HOPS = 2
TOP_K = 8  # passages that an answer is made of; the specification's number
Names = Callable[[Document], set[str]]


class TwoHopQuestion(BaseModel):
    """A question over two documents. documents: by file name, or by the id of a corpus. username: who asks, where the file says so."""

    id: str
    query: str
    documents: list[str] = Field(min_length=2)
    username: str = Field(default="", alias="as")


def evaluate_two_hops(questions: Sequence[TwoHopQuestion], username: str, scope: Scope, names: Names) -> dict[str, Any]:
    """Ask every question, as `username` where it names nobody. names: what a document is called in the questions."""
    details = [_detail(item, Principal.named(item.username or username), scope, names) for item in questions]
    ways = {way: _shares([detail[way] for detail in details]) for way in ("search", "graph")}
    ways["graph"]["answered_by_graph"] = sum(detail["graph"]["is_from_graph"] for detail in details)
    return {"questions": len(details), "top_k": TOP_K, "hops": HOPS, **ways, "details": details}


def _shares(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {
        "both": sum(row["found"] == row["of"] for row in rows) / max(len(rows), 1),
        "recall": sum(row["found"] / row["of"] for row in rows) / max(len(rows), 1),
        "ms_p50": median(row["ms"] for row in rows) if rows else 0.0,
    }


def _detail(question: TwoHopQuestion, reader: Principal, scope: Scope, names: Names) -> dict[str, Any]:
    began = time.perf_counter()
    plain = [hit.passage for hit in search(reader, question.query, scope=scope, top_k=TOP_K).hits]
    between = time.perf_counter()
    found = search_graph(reader, question.query, scope=scope, hops=HOPS, top_k=TOP_K)
    ended = time.perf_counter()
    wanted = set(question.documents)

    def count(shown: Sequence[ShownPassage]) -> int:
        rows = Document.objects.visible_to(reader).filter(pk__in={passage.document_id for passage in shown})
        return len(wanted & {name for row in rows for name in names(row)})

    by_search = {"found": count(plain), "of": len(wanted), "ms": 1_000 * (between - began)}
    passages = [passage for passage, _score in found.passages]
    by_graph = {"found": count(passages), "of": len(wanted), "ms": 1_000 * (ended - between)}
    return {"id": question.id, "search": by_search, "graph": by_graph | {"is_from_graph": found.is_from_graph}}
