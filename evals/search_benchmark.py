"""`manage.py benchmark search`: measure searches of a person who sees all and of one who sees 1 %, beside plain pgvector."""

import random
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import psutil
from django.db import connection, transaction
from pgvector import HalfVector

from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.progress import show_progress_bar
from evals.report import Report, Row, percentile_rows
from evals.rights_world import make_reader
from knowledge.models import Chunk, KnowledgeBase
from knowledge.retrieval.engine import load_engine
from knowledge.retrieval.plan import Scope, make_plan
from knowledge.retrieval.search import search
from knowledge.selectors import find_base_by_name

TOP_K = 10
WARM_UP = 5  # questions: statements are planned, the model and the pages are in memory
SHARE = 0.01  # of the passages, for the person who sees little
PLAIN = """
SELECT chunk_id FROM knowledge_chunkindex
ORDER BY vector::halfvec({dimensions}) <#> %s::halfvec({dimensions}) LIMIT 10
"""
Measured = tuple[list[float], float, float]
TABLES = ("knowledge_chunk", "knowledge_chunkindex", "knowledge_chunktokens", "knowledge_termfrequency")


class SearchBenchmark:
    """Measures the whole search, with rights, words, reranker and texts, beside a statement that knows none of them."""

    help = (
        "Ask a knowledge base questions made of its own titles and headings, as a person who sees all of it and as one who sees 1 %% "
        "of it (made for the run and taken back)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kb", required=True, help="a knowledge base with some 10,000 passages")
        parser.add_argument("--as", dest="username", required=True, help="a person who sees all of it")
        parser.add_argument("--questions", type=int, default=100)

    def run(self, options: Mapping[str, Any]) -> Report:
        principal = Principal.named(options["username"])
        base = find_base_by_name(principal, options["kb"])
        scope = Scope(knowledge_base_ids=(base.pk,))
        questions = titles_in(principal, base, options["questions"] + WARM_UP)
        rows, facts = list[Row](), dict[str, Any]()
        plain = measured(_plain_pgvector, questions)
        with transaction.atomic():
            for who, person in (("all", principal), (f"{SHARE:.0%}", make_reader(base, SHARE))):
                visible = make_plan(person, scope).visible
                found: list[int] = []
                rows += beside(f"sees {who}", measured(partial(_search, person, scope, found), questions), plain)
                facts[f"passages seen by who sees {who}"] = visible
                facts[f"questions with {min(TOP_K, visible)} results, sees {who}"] = (
                    f"{sum(count >= min(TOP_K, visible) for count in found)} of {len(found)}"
                )
            transaction.set_rollback(True)
        rows.append(Row("disk of 10,000 passages", "MB", *_disk()))
        return Report(
            peer="one embedding and one plain pgvector statement, no rights, no words, no reranker, no texts; "
            "the vectors alone for disk",
            rows=rows,
            facts=facts | {"questions": options["questions"]},
        )


def titles_in(principal: Principal, base: KnowledgeBase, count: int) -> list[str]:
    """Choose so many titles of documents, each with a heading below it where there is one, the same ones in each run.

    Raises InvalidInput where this person sees no passage of the base.
    """
    rows = Chunk.objects.visible_to(principal).filter(knowledge_base=base)
    titles = sorted(
        {" ".join([title, *path[-1:]]) for title, path in rows.values_list("document__title", "heading_path")}
    )
    if not titles:
        raise InvalidInput(f"“{base.name}” has no passages that you may see; import documents first.")
    return random.Random(1).choices(titles, k=count)  # noqa: S311 - repeats a run, hides nothing


def _search(principal: Principal, scope: Scope, found: list[int], text: str) -> None:
    """Ask, and note how many hits came."""
    found.append(len(search(principal, text, scope=scope, top_k=TOP_K).hits))


def _plain_pgvector(text: str) -> None:
    vector = load_engine().embedder.embed_query(text)
    with connection.cursor() as cursor:
        cursor.execute(PLAIN.format(dimensions=len(vector)), [HalfVector(vector).to_text()])
        cursor.fetchall()


def measured(ask: Callable[[str], object], questions: Sequence[str]) -> Measured:
    """Ask every question; return ms of the clock of each, and the mean processor time here and in PostgreSQL, in ms."""
    for text in questions[:WARM_UP]:
        ask(text)
    clocked = []
    cpu = time.process_time(), _server_cpu_s()
    for text in show_progress_bar(questions[WARM_UP:], desc="ask", unit="question"):
        began = time.perf_counter()
        ask(text)
        clocked.append((time.perf_counter() - began) * 1e3)
    taken = time.process_time() - cpu[0], _server_cpu_s() - cpu[1]
    return clocked, taken[0] / len(clocked) * 1e3, taken[1] / len(clocked) * 1e3


def beside(name: str, ours: Measured, peer: Measured) -> Iterator[Row]:
    """Give the rows of what was measured."""
    yield from percentile_rows(name, ours[0], peer[0])
    yield Row(f"{name}, processor here", "ms", ours[1], peer[1])
    yield Row(f"{name}, processor in PostgreSQL", "ms", ours[2], peer[2])


def _server_cpu_s() -> float:
    """Return the processor time of the server process behind our connection; 0 where it runs on another machine."""
    connection.ensure_connection()
    try:
        process = psutil.Process(connection.connection.info.backend_pid)
        if not process.name().startswith("postgres"):
            return 0.0
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _disk() -> tuple[float, float]:
    """Return MB for 10,000 passages: tables with their indexes and out-of-line values; and the bare vectors."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {' + '.join(f'pg_total_relation_size({name!r})' for name in TABLES)}")
        (size,) = cursor.fetchone()
        cursor.execute("SELECT count(*), coalesce(avg(pg_column_size(vector)), 0)::float FROM knowledge_chunkindex")
        count, vector = cursor.fetchone()
    return size / max(count, 1) / 100, vector / 100
