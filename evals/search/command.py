"""What the evaluation commands share: their words, the corpus brought in, the report on the screen and in a file."""

import json
from argparse import ArgumentTypeError
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from authz.principal import Principal
from copilot_site.lib.commands import file_to_write, one_sentence
from copilot_site.lib.progress import progress
from evals.search.corpus import LoadedCorpus, load_corpus
from evals.search.datasets import Dataset, DatasetError, Query, load_dataset
from evals.search.retrieval import Languages


class EvaluationCommand(BaseCommand):
    """Loads a corpus into a knowledge base of its own, measures, prints, and writes the report where `--json` says."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="holds corpus.jsonl, queries.SPLIT.jsonl and qrels.SPLIT.tsv")
        parser.add_argument("--split", default="dev")
        parser.add_argument(
            "--as", dest="username", required=True, help="who asks; is given the right to view the corpus"
        )
        parser.add_argument(
            "--corpus", type=Path, help="another corpus file, such as a masked one; relative to the folder"
        )
        parser.add_argument(
            "--all-languages",
            dest="languages",
            action="store_const",
            const=Languages.ALL,
            default=Languages.OWN,
            help="do not keep to the question's language",
        )
        parser.add_argument(
            "--every", type=_at_least_one, default=1, help="ask every Nth question alone, of the whole corpus"
        )
        parser.add_argument("--json", dest="report", type=file_to_write, help="write the report to this file")

    def handle(
        self, *, folder: Path, split: str, username: str, corpus: Path | None, every: int, **options: Any
    ) -> None:
        try:
            dataset = load_dataset(folder, split=split, corpus=corpus)
        except DatasetError as error:
            raise CommandError(str(error)) from error
        dataset = replace(dataset, queries=dataset.queries[::every])
        with one_sentence():
            self.prepare(options)
            reader = Principal.named(username)
            name = f"evaluation {dataset.name}" + (f" {corpus.stem}" if corpus else "")
            loaded = load_corpus(
                dataset,
                reader,
                name=name,
                progress=lambda rows: progress(rows, desc="read and index", unit="document"),
            )
            report = self.measure(dataset, loaded, reader, {**options, "split": split})
        self.print_report(report)
        if options["report"]:
            options["report"].write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def prepare(self, options: dict[str, Any]) -> None:
        """Look, before a corpus is taken in, whether all is there that the measure needs. Raises InvalidInput."""

    def measure(
        self, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, options: dict[str, Any]
    ) -> dict[str, Any]:
        """The report, as JSON."""
        raise NotImplementedError

    def print_report(self, report: dict[str, Any]) -> None:
        """The report, for people."""
        raise NotImplementedError

    @staticmethod
    def asking(queries: Sequence[Query]) -> Iterable[Query]:
        """The questions behind a progress bar."""
        return progress(queries, desc="ask", unit="question")


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("a whole number from 1")
    return int(text)
