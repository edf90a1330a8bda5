"""`manage.py evaluate_answers DIR --as USER [--hide-relevant]`: how true and how honest the answers are."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from agent.evaluation.answers import AnswerEvaluation, report_of
from authz.principal import Principal
from copilot_site.lib.file_arguments import file_to_write
from knowledge.evaluation.command import EvaluationCommand
from knowledge.evaluation.corpus import LoadedCorpus
from knowledge.evaluation.datasets import Dataset


class Command(EvaluationCommand):
    help = "Load a corpus into a knowledge base of its own and measure the answers to its questions."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--hide-relevant", action="store_true", help="ask again without the documents that answer")
        parser.add_argument(
            "--signals",
            type=file_to_write,
            help="write what was judged of every question to this file, a JSON line each",
        )

    def measure(
        self, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, options: dict[str, Any]
    ) -> dict[str, Any]:
        evaluation = AnswerEvaluation(dataset, corpus, reader, options["languages"])
        judged = evaluation.ask_all(hide_relevant=options["hide_relevant"], asking=self.asking)
        if options["signals"]:
            lines = [json.dumps({"set": dataset.name, **asdict(each)}, ensure_ascii=False) for each in judged]
            options["signals"].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return report_of(dataset, judged)

    def print_report(self, report: dict[str, Any]) -> None:
        for key, value in report.items():
            if not isinstance(value, list):
                self.stdout.write(f"{key:<18} {value}")
        for key in ("curve_unanswerable", "curve_hidden"):
            if key in report:
                self.stdout.write(f"{key}: refused of the open → of these")
                self.stdout.write("  ".join(f"{p['refused']:.0%}→{p['abstained']:.0%}" for p in report[key]))
