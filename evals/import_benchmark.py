"""`manage.py benchmark import DIR`: measure passages a second through the whole pipeline, beside the embedder alone."""

import statistics
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import connection
from django.db.models import QuerySet

from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from evals.report import Report, Row, system_cpu_s
from knowledge.graph.building import is_graph_outdated
from knowledge.ingestion.completion import is_queue_served
from knowledge.models import Chunk, Document, DocumentVersion, KnowledgeBase, ParseStatus
from knowledge.retrieval.engine import load_engine
from knowledge.selectors import build_passage_text
from knowledge.services.folders import create_knowledge_base, find_root_folder
from knowledge.services.uploads import upload_document

UPLOAD_EVERY_S = 20.0
POLL_S = 0.1
TEXT = "# Upload {number}\n\nA note of a person who waits for it, number {number}.\n"


class ImportBenchmark:
    """Measures everything between a folder and passages that answer, beside the part that nobody can save."""

    help = (
        "Import a folder into a new knowledge base, which stays, by the running workers, while a person uploads notes to another new "
        "one; then embed the same passages in this process, with nothing else to do."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="the files to import")
        parser.add_argument("--as", dest="username", required=True, help="who imports, and holds the new base")
        parser.add_argument("--kb", default="", help="name of the new base; the folder's by default")
        parser.add_argument("--sample", type=int, default=1000, help="passages for the embedder alone, evenly spread")

    def run(self, options: Mapping[str, Any]) -> Report:
        principal = Principal.named(options["username"])
        if not is_queue_served("bulk"):
            raise InvalidInput(
                "No worker of the queue `bulk` answers: start the system first (`manage.py up`, or `make demo`)."
            )
        name = options["kb"] or f"Benchmark {options['folder'].name}"
        base = create_knowledge_base(principal, name=name)
        beside = create_knowledge_base(principal, name=f"{name}, beside it")
        began, cpu = time.perf_counter(), system_cpu_s()
        with _bystander(principal, beside) as waits_s:
            call_command("import_folder", options["folder"], kb=name, username=options["username"])
            import_s, import_cpu_s = time.perf_counter() - began, system_cpu_s() - cpu
        texts = _texts(principal, base)
        if not texts:
            raise InvalidInput("No passage came out of this folder; the lines above say why.")
        read_at = time.perf_counter()
        while is_graph_outdated(base):  # workers fill it now, and would take processor time from the peer
            time.sleep(1.0)
        graph_s = time.perf_counter() - read_at
        sample = texts[:: max(1, len(texts) // max(options["sample"], 1))]
        alone_s, alone_cpu_s = _embed(sample)
        ours, peer = len(texts) / import_s, len(sample) / alone_s
        return Report(
            peer=f"the embedder alone on {len(sample)} of the same passages, {settings.EMBEDDER_OPTIONS['threads']} threads",
            rows=[
                Row("speed", "passages/s", ours, peer),
                Row("processor", "ms/passage", import_cpu_s / len(texts) * 1e3, alone_cpu_s / len(sample) * 1e3),
                Row("time", "s", import_s, len(texts) / peer),
                *_waits(waits_s),
                Row("the knowledge graph, afterwards", "s", graph_s),
            ],
            facts={
                "documents": Document.objects.visible_to(principal).filter(knowledge_base=base).count(),
                "passages": len(texts),
                "embedder": load_engine().embedder.space,
            },
        )


def _waits(waits_s: Sequence[float]) -> list[Row]:
    """Return how long the uploads of a person waited; nothing where the import was over before one."""
    if not waits_s:
        return []
    shown = {"median": statistics.median(waits_s), "longest": max(waits_s)}
    return [Row(f"a person's upload beside it, {name}", "s", wait_s) for name, wait_s in shown.items()]


@contextmanager
def _bystander(principal: Principal, base: KnowledgeBase) -> Iterator[list[float]]:
    """Upload a note every 20 s from a thread of its own while the block runs; give the seconds that each waited until it answered."""
    waits_s, ended = list[float](), Event()

    def upload() -> None:
        try:
            while not ended.wait(UPLOAD_EVERY_S):
                began = time.perf_counter()
                finished = _upload(principal, base, len(waits_s))
                while not finished.exists():
                    if ended.wait(POLL_S):
                        return  # the import was faster
                waits_s.append(time.perf_counter() - began)
        finally:
            connection.close()

    thread = Thread(target=upload)
    thread.start()
    try:
        yield waits_s
    finally:
        ended.set()
        thread.join()


def _upload(principal: Principal, base: KnowledgeBase, number: int) -> QuerySet[DocumentVersion]:
    """Upload a note; return the query that finds it once it is read."""
    upload = upload_document(
        principal,
        folder_id=find_root_folder(base).pk,
        filename=f"{number}.md",
        file=ContentFile(TEXT.format(number=number).encode()),
    )
    mine = DocumentVersion.objects.visible_to(principal).filter(pk=upload.version.pk)
    return mine.filter(parse_status__in=(ParseStatus.COMPLETED, ParseStatus.FAILED))


def _texts(principal: Principal, base: KnowledgeBase) -> list[str]:
    chunks = Chunk.objects.visible_to(principal).filter(knowledge_base=base).select_related("document")
    return [build_passage_text(chunk.document.title, chunk.heading_path, chunk.text) for chunk in chunks.order_by("id")]


def _embed(texts: list[str]) -> tuple[float, float]:
    """Embed texts, the model being loaded; return seconds and processor seconds."""
    embedder = load_engine().embedder
    embedder.embed_passages(texts[:1])
    began, cpu = time.perf_counter(), time.process_time()
    embedder.embed_passages(texts)
    return time.perf_counter() - began, time.process_time() - cpu
