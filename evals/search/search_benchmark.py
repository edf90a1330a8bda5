"""`manage.py benchmark search`: measure searches of a person who sees all and of one who sees 1 %, beside plain pgvector."""

import random
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import psutil
from django.contrib.auth.models import User
from django.db import connection, transaction
from pgvector import HalfVector

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import give
from copilot_site.lib.progress import progress
from evals.report import Report, Row
from evals.titles import titles_in
from knowledge.models import Folder, KnowledgeBase
from knowledge.retrieval.engine import engine
from knowledge.retrieval.plan import Scope, make_plan
from knowledge.retrieval.search import search
from knowledge.selectors import base_named

TOP_K = 10
WARM_UP = 5  # questions: statements are planned, the model and the pages are in memory
SHARE = 0.01  # of the passages, for the person who sees little
PLAIN = """
SELECT chunk_id FROM knowledge_chunkindex
ORDER BY vector::halfvec({dimensions}) <#> %s::halfvec({dimensions}) LIMIT 10
"""
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
        parser.add_argument("--seed", type=int, default=1, help="chooses questions and folders")

    def run(self, options: Mapping[str, Any]) -> Report:
        principal = Principal.named(options["username"])
        base = base_named(principal, options["kb"])
        scope = Scope(knowledge_base_ids=(base.pk,))
        chance = random.Random(options["seed"])  # noqa: S311 - repeats a run, hides nothing
        questions = titles_in(principal, base, options["questions"] + WARM_UP, chance)
        rows, facts = [], dict[str, Any]()
        plain = timed(_plain_pgvector, questions)
        with _who_sees_little(principal, base, chance) as other:
            for who, person in (("all", principal), (f"{SHARE:.0%}", other)):
                visible = make_plan(person, scope).visible
                found: list[int] = []
                times = timed(partial(_search, person, scope, found), questions)
                rows += [
                    Row(f"sees {who}, {name}", "ms", ours, peer)
                    for (name, ours), peer in zip(times.items(), plain.values(), strict=True)
                ]
                facts[f"passages seen by who sees {who}"] = visible
                facts[f"questions with {min(TOP_K, visible)} results, sees {who}"] = (
                    f"{sum(count >= min(TOP_K, visible) for count in found)} of {len(found)}"
                )
        rows.append(Row("disk of 10,000 passages", "MB", *_disk()))
        return Report(
            peer="one embedding and one plain pgvector statement, no rights, no words, no reranker, no texts; "
            "the vectors alone for disk",
            rows=rows,
            facts=facts | {"questions": options["questions"]},
        )


@contextmanager
def _who_sees_little(principal: Principal, base: KnowledgeBase, chance: random.Random) -> Iterator[Principal]:
    """Make a person who sees about SHARE of the base through grants on single folders, until the block ends."""
    scope = Scope(knowledge_base_ids=(base.pk,))
    everything = make_plan(principal, scope).visible
    leaves = Folder.objects.visible_to(principal).filter(knowledge_base=base, chunk_count__gt=0, children=None)
    folders = list(leaves.order_by("pk"))
    chance.shuffle(folders)
    with transaction.atomic():
        user = User.objects.create(username=f"benchmark-{time.time_ns()}")
        seen = 0
        for folder in folders:
            if seen >= everything * SHARE:
                break
            give(None, [Right.VIEW], folder, to=user)
            seen += folder.chunk_count
        yield Principal.of(user)
        transaction.set_rollback(True)


def _search(principal: Principal, scope: Scope, found: list[int], text: str) -> None:
    """Ask, and note how many hits came."""
    found.append(len(search(principal, text, scope=scope, top_k=TOP_K).hits))


def _plain_pgvector(text: str) -> None:
    vector = engine().embedder.embed_query(text)
    with connection.cursor() as cursor:
        cursor.execute(PLAIN.format(dimensions=len(vector)), [HalfVector(vector).to_text()])
        cursor.fetchall()


def timed(ask: Callable[[str], object], questions: Sequence[str]) -> dict[str, float]:
    """Ask every question; return p50 and p95 of the clock, and the mean processor time here and in PostgreSQL, in ms."""
    for text in questions[:WARM_UP]:
        ask(text)
    measured = questions[WARM_UP:]
    clocked = []
    cpu = time.process_time(), _server_cpu_s()
    for text in progress(measured, desc="ask", unit="question"):
        began = time.perf_counter()
        ask(text)
        clocked.append((time.perf_counter() - began) * 1e3)
    ours, server = time.process_time() - cpu[0], _server_cpu_s() - cpu[1]
    return {
        "p50": float(np.percentile(clocked, 50)),
        "p95": float(np.percentile(clocked, 95)),
        "processor here": ours / len(measured) * 1e3,
        "processor in PostgreSQL": server / len(measured) * 1e3,
    }


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
