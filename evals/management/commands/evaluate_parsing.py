"""`manage.py evaluate_parsing DIR --json OUT`: how true our parsers are to files, beside markitdown and unstructured in one run.

DIR holds pairs.json, a list of {"source", "groundtruth"} (a file and its text as Markdown), and expected.json, a list of
{"source", "cell", "row", "column"} (a cell with the names of its row and column, from the outermost) and {"source", "part", "text"}
(a footnote, link, chart, formula … and what it says; `part` is a key of `knowledge.parsers.losses.LOSSES` where there is one for it).

- numbers_unchanged: the share of the numbers of the references and expected cells that occur unchanged in the output. Numbers are words
  with digits, with their signs, currencies, percent signs, superscripts and fractions.
- headers_right: the share of the expected cells that the output's tables hold under exactly their row and their column. A row is known by
  its first cell, or its first two, and the title of its group. Markdown names columns above its rule, HTML in `<thead>` or `<th>`; a
  table of HTML without either is read both with its first row as names and without names, whichever is right.
- token_f1: F1 of the words (characters of Chinese) against the references, the mean of the files.
- unreported_losses: how many of the expected parts neither occur in the output nor are named as not read.

Markup of emphasis, escapes and `<sup>` do not count as changes. A peer is scored on the files that it can open, ours on all: `files`.
"""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from copilot_site.lib.commands import file_to_write, one_sentence
from copilot_site.lib.progress import progress
from evals.documents.parsing import Expected, Score, expected_of, ours
from evals.documents.parsing_peers import Reader, peers
from knowledge.parsers.base import load


class Command(BaseCommand):
    help = "Measure how true our parsers are to the files in a folder, beside markitdown and unstructured."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="holds pairs.json, expected.json or both")
        parser.add_argument("--json", dest="report", type=file_to_write, help="write the report to this file")

    def handle(self, *, folder: Path, report: Path | None, **options: Any) -> None:
        load()
        with one_sentence():
            expected = expected_of(folder)
            readers = {"ours": ours, **peers()}
        found = {name: self._scored(folder, expected, name, read).figures for name, read in readers.items()}
        rows = [["", *found["ours"]], *([name, *map(str, each.values())] for name, each in found.items())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if report:
            report.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")

    def _scored(self, folder: Path, expected: dict[str, Expected], name: str, read: Reader) -> Score:
        score = Score()
        for source, known in progress(list(expected.items()), desc=name, unit="file"):
            try:
                given = read(folder / source)
            except Exception as error:
                if name == "ours":
                    raise
                self.stderr.write(f"{name} cannot open {source} ({type(error).__name__}).")
            else:
                score.add(known, given)
        return score
