"""`manage.py evaluate_retrieval DIR [--split dev] --as USER`: how well the search finds, stage by stage."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from authz.principal import Principal
from copilot_site.lib.commands import one_sentence
from knowledge.evaluation.corpus import load_corpus
from knowledge.evaluation.datasets import DatasetError, load_dataset
from knowledge.evaluation.runs import Languages, evaluate_retrieval


class Command(BaseCommand):
    help = "Load a corpus into a knowledge base of its own and measure the search on its questions."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="holds corpus.jsonl, queries.SPLIT.jsonl and qrels.SPLIT.tsv")
        parser.add_argument("--split", default="dev")
        parser.add_argument(
            "--as", dest="username", required=True, help="who asks; is given the right to view the corpus"
        )
        parser.add_argument("--corpus", type=Path, help="another corpus file, such as a masked one")
        parser.add_argument(
            "--all-languages",
            dest="languages",
            action="store_const",
            const=Languages.ALL,
            default=Languages.OWN,
            help="do not keep to the question's language",
        )
        parser.add_argument(
            "--other-language",
            dest="languages",
            action="store_const",
            const=Languages.OTHER,
            help="search in the language of the corpus that is not the question's",
        )
        parser.add_argument("--json", dest="report", type=Path, help="write the report to this file")

    def handle(self, *, folder: Path, split: str, username: str, corpus: Path | None, **options: Any) -> None:
        try:
            dataset = load_dataset(folder, split=split, corpus=corpus)
        except DatasetError as error:
            raise CommandError(str(error)) from error
        with one_sentence():
            reader = Principal.named(username)
            name = f"evaluation {dataset.name}" + (f" {corpus.stem}" if corpus else "")
            loaded = load_corpus(
                dataset,
                reader,
                name=name,
                progress=lambda rows: tqdm(rows, desc="ingest", unit="document", disable=None),
            )
            report = evaluate_retrieval(
                dataset,
                loaded,
                reader,
                languages=options["languages"],
                split=split,
                asking=lambda queries: tqdm(queries, desc="ask", unit="question", disable=None),
            )
        self._print(report)
        if options["report"]:
            options["report"].write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def _print(self, report: dict[str, Any]) -> None:
        names = list(report["stages"]["fused"]["all"])
        self.stdout.write(f"{report['dataset']} {report['split']}: {report['queries']} questions, %")
        self.stdout.write(f"{'':<34}{'n':>6}" + "".join(f"{name:>14}" for name in names))
        for stage, summary in report["stages"].items():
            self._line(stage, {"n": report["queries"], **summary["all"]}, names)
            for group, metrics in summary["groups"].items():
                self._line(f"  {group}", metrics, names)
        self.stdout.write("latency p50 {p50} ms, p95 {p95} ms".format(**report["latency_ms"]))

    def _line(self, label: str, metrics: dict[str, float], names: list[str]) -> None:
        self.stdout.write(f"{label:<34}{metrics['n']:>6}" + "".join(f"{100 * metrics[name]:>14.1f}" for name in names))
