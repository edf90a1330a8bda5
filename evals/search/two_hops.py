"""Questions whose answer stands in two documents: how often both are among the first passages, with the graph and without it."""

import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.graph.search import search_graph
from knowledge.models import Document
from knowledge.retrieval.search import Scope, search
from knowledge.selectors import ShownPassage

HOPS = 2
TOP_K = 8  # passages that an answer may stand on; the specification's number


class TwoHopQuestion(BaseModel):
    """documents: what both are called, by file name or by the id of a corpus. username: who asks, where the file says so."""

    id: str
    query: str
    lang: str = "en"
    documents: list[str] = Field(min_length=2)
    username: str = Field(default="", alias="as")


def read_questions(lines: Iterable[str], *, name: str) -> list[TwoHopQuestion]:
    """One a line, as JSON. Raises InvalidInput with the line."""
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(TwoHopQuestion.model_validate_json(line))
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                raise InvalidInput(
                    f"{name}, line {number}: {' '.join(map(str, first['loc']))}: {first['msg']}."
                ) from None
    return found


def measured(
    questions: Sequence[TwoHopQuestion],
    reader: Callable[[str], Principal],
    scope: Scope,
    names: Callable[[Document], set[str]],
) -> dict[str, Any]:
    """The report, as JSON. names: what a document is called in the questions."""
    details = [_asked(question, reader(question.username), scope, names) for question in questions]
    report: dict[str, Any] = {"questions": len(details), "top_k": TOP_K, "hops": HOPS, "details": details}
    for way in ("search", "graph"):
        rows = [row[way] for row in details]
        report[way] = {
            "both": sum(row["found"] == row["of"] for row in rows) / max(len(rows), 1),
            "recall": sum(row["found"] / row["of"] for row in rows) / max(len(rows), 1),
            "ms_p50": median(row["ms"] for row in rows) if rows else 0.0,
        }
    report["graph"]["answered_by_graph"] = sum(row["graph"]["is_from_graph"] for row in details)
    return report


def _asked(
    question: TwoHopQuestion, reader: Principal, scope: Scope, names: Callable[[Document], set[str]]
) -> dict[str, Any]:
    began = time.perf_counter()
    plain = [hit.passage for hit in search(reader, question.query, scope=scope, top_k=TOP_K).hits]
    between = time.perf_counter()
    found = search_graph(reader, question.query, scope=scope, hops=HOPS, top_k=TOP_K)
    ended = time.perf_counter()
    wanted = set(question.documents)

    def counted(shown: Sequence[ShownPassage]) -> int:
        rows = Document.objects.visible_to(reader).filter(pk__in={passage.document_id for passage in shown})
        return len(wanted & {name for row in rows for name in names(row)})

    return {
        "id": question.id,
        "search": {"found": counted(plain), "of": len(wanted), "ms": 1_000 * (between - began)},
        "graph": {
            "found": counted([passage for passage, _score in found.passages]), "of": len(wanted),
            "ms": 1_000 * (ended - between), "is_from_graph": found.is_from_graph,
        },
    }  # fmt: skip
