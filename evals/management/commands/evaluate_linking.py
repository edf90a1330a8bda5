"""Measure schema linking on sets of questions with their databases."""

from argparse import ArgumentParser
from itertools import groupby
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from business.linking.linker import WHOLE_COLUMNS
from copilot_site.lib.commands import file_to_write, one_sentence
from evals.data.linking import Report, evaluate_linking, stored_linker
from evals.data.questions import in_short, loaded, questions_in


class Command(BaseCommand):
    help = (
        "Read DIR/questions.*.jsonl {id, question, query, db_name}, and report how much of what their statements need is shown, "
        "beside how many other columns, in how many tokens and milliseconds."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="questions.*.jsonl, and layers/<name>.yaml where written")
        parser.add_argument("--databases", type=Path, action="append", default=[], help="further folder of <name>.sql")
        parser.add_argument("--questions", default="questions.*.jsonl", help="which files of the folder")
        parser.add_argument(
            "--whole-columns",
            type=int,
            default=WHOLE_COLUMNS,
            help="a layer of no more columns is shown whole; 0: none is",
        )
        parser.add_argument("--json", type=file_to_write, help="write the report, with what was missed, to this file")

    def handle(self, **options: Any) -> None:
        with one_sentence():
            folder = options["folder"]
            asked = questions_in(folder, options["questions"])
            seeds = [folder / "dbs", folder, *options["databases"]]
            report = Report()
            for name, group in groupby(sorted(asked, key=lambda one: one.database), key=lambda one: one.database):
                with loaded(name, folder, seeds) as (_address, own):
                    layer = own
                with stored_linker(layer, whole_columns=options["whole_columns"]) as linker:
                    linker.link("warm up")
                    evaluate_linking(list(group), layer, linker.link, report)
        self.stdout.write(in_short(report.as_json(), options["json"]))
