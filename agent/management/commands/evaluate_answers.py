"""`manage.py evaluate_answers DIR --as USER [--hide-relevant]`: how true and how honest the answers are."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from agent.evaluation import evaluate_answers
from authz.principal import Principal
from copilot_site.lib.commands import one_sentence
from knowledge.evaluation.corpus import load_corpus
from knowledge.evaluation.datasets import DatasetError, load_dataset
from knowledge.evaluation.runs import Languages


class Command(BaseCommand):
    help = "Load a corpus into a knowledge base of its own and measure the answers to its questions."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="holds corpus.jsonl, queries.SPLIT.jsonl and qrels.SPLIT.tsv")
        parser.add_argument("--split", default="dev")
        parser.add_argument(
            "--as", dest="username", required=True, help="who asks; is given the right to view the corpus"
        )
        parser.add_argument("--corpus", type=Path, help="another corpus file, such as a masked one")
        parser.add_argument("--hide-relevant", action="store_true", help="ask again without the documents that answer")
        parser.add_argument(
            "--all-languages",
            dest="languages",
            action="store_const",
            const=Languages.ALL,
            default=Languages.OWN,
            help="do not keep to the question's language",
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
            report = evaluate_answers(
                dataset,
                loaded,
                reader,
                hide_relevant=options["hide_relevant"],
                languages=options["languages"],
                asking=lambda queries: tqdm(queries, desc="ask", unit="question", disable=None),
            )
        for key, value in report.items():
            if not isinstance(value, list):
                self.stdout.write(f"{key:<18} {value}")
        for key in ("curve", "curve_hidden"):
            if key in report:
                self.stdout.write(f"{key}: refused → abstained")
                self.stdout.write("  ".join(f"{p['refused']:.0%}→{p['abstained']:.0%}" for p in report[key]))
        if options["report"]:
            options["report"].write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
