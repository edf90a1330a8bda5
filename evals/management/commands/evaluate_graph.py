"""`manage.py evaluate_graph FILE [--corpus DIR] --as USER`: questions over two documents, with the graph and without it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from authz.principal import Principal
from copilot_site.lib.commands import file_to_write, one_sentence, read_text
from copilot_site.lib.progress import progress
from evals.search.corpus import load_corpus
from evals.search.datasets import DatasetError, load_dataset
from evals.search.two_hops import measured, read_questions
from knowledge.graph.building import fill
from knowledge.retrieval.search import Scope


class Command(BaseCommand):
    help = "Count how often both documents that a question needs are among the first passages, with the graph and without it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="one question a line, as JSON: id, query, documents, as")
        parser.add_argument(
            "--corpus", type=Path, help="a folder with corpus.jsonl to ask; default: what the person may read"
        )
        parser.add_argument("--only", default="", help="of the corpus, the documents whose id begins so")
        parser.add_argument("--as", dest="username", default="", help="who asks where the file names nobody")
        parser.add_argument("--json", dest="report", type=file_to_write, help="write the report to this file")

    def handle(
        self, *, file: Path, corpus: Path | None, only: str, username: str, report: Path | None, **options: Any
    ) -> None:
        with one_sentence():
            questions = read_questions(read_text(file).splitlines(), name=file.name)
            scope, ids = self._loaded(corpus, only, Principal.named(username)) if corpus else (Scope(), {})
            counts = measured(
                questions,
                lambda name: Principal.named(name or username),
                scope,
                lambda row: {ids.get(row.pk, row.filename), row.filename},
            )
        if report is not None:
            report.write_text(json.dumps(counts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        self.stdout.write(f"{counts['questions']} questions, first {counts['top_k']} passages")
        for way in ("search", "graph"):
            said = counts[way]
            self.stdout.write(
                f"{way:<8} both {100 * said['both']:5.1f} %  each {100 * said['recall']:5.1f} %  p50 {said['ms_p50']:.0f} ms"
            )
        self.stdout.write(f"the graph knew something in {counts['graph']['answered_by_graph']}")

    def _loaded(self, folder: Path, only: str, reader: Principal) -> tuple[Scope, dict[Any, str]]:
        try:
            dataset = load_dataset(folder)
        except DatasetError as error:
            raise CommandError(str(error)) from error
        kept = replace(dataset, corpus=tuple(row for row in dataset.corpus if row.id.startswith(only)))
        name = f"evaluation graph {dataset.name} {only}".strip()
        loaded = load_corpus(
            kept, reader, name=name, progress=lambda rows: progress(rows, desc="read and index", unit="document")
        )
        fill(loaded.base.pk)
        return Scope(knowledge_base_ids=(loaded.base.pk,)), dict(loaded.external_ids)
