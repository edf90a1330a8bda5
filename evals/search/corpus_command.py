"""Share what `evaluate_retrieval` and `evaluate_answers` have in common: their options, and the corpus that they load."""

from argparse import ArgumentTypeError
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.progress import progress
from evals.command import ReportCommand
from evals.search.corpus import Languages, LoadedCorpus, load_corpus
from evals.search.datasets import Dataset, Query, load_dataset


class CorpusCommand(ReportCommand):
    """Load a corpus into a knowledge base of its own, and measure the questions on it."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="holds corpus.jsonl, queries.SPLIT.jsonl and qrels.SPLIT.tsv")
        parser.add_argument("--split", default="dev")
        parser.add_argument("--as", dest="username", required=True, help="who asks; gets the right to view the corpus")
        parser.add_argument("--corpus", type=Path, help="another corpus file, such as a masked one, in the folder")
        parser.add_argument(
            "--all-languages",
            dest="languages",
            action="store_const",
            const=Languages.ALL,
            default=Languages.OWN,
            help="search in all languages, not only in the question's",
        )
        parser.add_argument("--every", type=_at_least_one, default=1, help="ask only every Nth question")
        super().add_arguments(parser)

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        for package in self.required_packages(options):
            if find_spec(package) is None:
                raise InvalidInput(f"{package} is not installed; pip install -r requirements/dev.txt brings it.")
        corpus = options["corpus"]
        dataset = load_dataset(options["folder"], split=options["split"], corpus=corpus)
        dataset = replace(dataset, queries=dataset.queries[:: options["every"]])
        reader = Principal.named(options["username"])
        name = f"evaluation {dataset.name}" + (f" {corpus.stem}" if corpus else "")
        return self.ask(dataset, load_corpus(dataset, reader, name=name), reader, options)

    def required_packages(self, options: dict[str, Any]) -> Iterable[str]:
        """Name the packages of the development requirements that the measure imports."""
        return ()

    def ask(self, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, options: dict[str, Any]) -> dict[str, Any]:
        """Ask the questions, and return the report as JSON."""
        raise NotImplementedError

    @staticmethod
    def asking(queries: Sequence[Query]) -> Iterable[Query]:
        """Give the questions behind a progress bar."""
        return progress(queries, desc="ask", unit="question")


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("a whole number from 1")
    return int(text)
