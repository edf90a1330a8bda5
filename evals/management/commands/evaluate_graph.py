"""`manage.py evaluate_graph FILE [--corpus DIR] --as USER`: measure questions over two documents, with the graph and without it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser
from pydantic import BaseModel, Field

from authz.principal import Principal
from evals.command import Detail, ReportCommand, read_rows
from evals.corpus import load_corpus, load_dataset
from knowledge.graph.building import fill_base_graph
from knowledge.graph.search import search_graph
from knowledge.models import Document
from knowledge.retrieval.search import Scope, search
from knowledge.selectors import ShownPassage

HOPS = 2
TOP_K = 8  # passages that an answer is made of; the specification's number


class TwoHopQuestion(BaseModel):
    """A question over two documents. documents: by file name, or by the id of a corpus. username: who asks, where the file says so."""

    id: str
    query: str
    documents: list[str] = Field(min_length=2)
    username: str = Field(default="", alias="as")


class Command(ReportCommand):
    help = "Count how often both documents that a question needs are among the first passages, with the graph and without it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="one question a line, as JSON: id, query, documents, as")
        parser.add_argument("--corpus", type=Path, help="a folder with corpus.jsonl; default: what the person may read")
        parser.add_argument("--only", default="", help="load only the documents of the corpus whose id begins so")
        parser.add_argument("--as", dest="username", default="", help="who asks where the file names nobody")
        super().add_arguments(parser)

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        questions, scope, ids = read_rows(options["file"], TwoHopQuestion), Scope(), dict[UUID, str]()
        if options["corpus"]:
            scope, ids = _load_graph(options["corpus"], options["only"], Principal.named(options["username"]))
        reader = options["username"]
        details = [_detail(item, Principal.named(item.username or reader), scope, ids) for item in questions]
        ways = {way: _shares([detail[way] for detail in details]) for way in ("search", "graph")}
        ways["graph"]["answered_by_graph"] = sum(detail["graph"]["is_from_graph"] for detail in details)
        return {"questions": len(details), "top_k": TOP_K, "hops": HOPS, **ways, "details": details}

    def print_report(self, report: dict[str, Any]) -> None:
        self.stdout.write(f"{report['questions']} questions, first {report['top_k']} passages")
        for way in ("search", "graph"):
            both, each = 100 * report[way]["both"], 100 * report[way]["recall"]
            self.stdout.write(f"{way:<8} both {both:5.1f} %  each {each:5.1f} %  p50 {report[way]['ms_p50']:.0f} ms")
        self.stdout.write(f"the graph knew something in {report['graph']['answered_by_graph']}")


def _load_graph(folder: Path, only: str, reader: Principal) -> tuple[Scope, dict[UUID, str]]:
    """Load a corpus, and build its graph; return where to ask, and the ids of its documents in the set."""
    dataset = load_dataset(folder)
    kept = replace(dataset, corpus=tuple(row for row in dataset.corpus if row.id.startswith(only)))
    loaded = load_corpus(kept, reader, name=f"evaluation graph {dataset.name} {only}".strip())
    fill_base_graph(loaded.base.pk)
    return Scope(knowledge_base_ids=(loaded.base.pk,)), loaded.external_ids


def _shares(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {
        "both": sum(row["found"] == row["of"] for row in rows) / max(len(rows), 1),
        "recall": sum(row["found"] / row["of"] for row in rows) / max(len(rows), 1),
        "ms_p50": median(row["ms"] for row in rows) if rows else 0.0,
    }


def _detail(question: TwoHopQuestion, reader: Principal, scope: Scope, ids: Mapping[UUID, str]) -> Detail:
    """Ask both ways. ids: what a document is called in the questions, besides its file name."""
    began = time.perf_counter()
    plain = [hit.passage for hit in search(reader, question.query, scope=scope, top_k=TOP_K).hits]
    between = time.perf_counter()
    found = search_graph(reader, question.query, scope=scope, hops=HOPS, top_k=TOP_K)
    ended = time.perf_counter()
    wanted = set(question.documents)

    def counted(shown: Sequence[ShownPassage], seconds: float) -> dict[str, Any]:
        rows = Document.objects.visible_to(reader).filter(pk__in={passage.document_id for passage in shown})
        names = {name for row in rows for name in (ids.get(row.pk, row.filename), row.filename)}
        return {"found": len(wanted & names), "of": len(wanted), "ms": 1_000 * seconds}

    by_graph = counted([passage for passage, _score in found.passages], ended - between)
    return {
        "id": question.id,
        "search": counted(plain, between - began),
        "graph": by_graph | {"is_from_graph": found.is_from_graph},
    }
