"""`manage.py evaluate_parsing DIR --json OUT`: measure how true our parsers are to files, beside markitdown.

DIR holds pairs.json, a list of {"source", "groundtruth"} (a file and its text as Markdown), and expected.json, a list of
{"source", "cell", "row", "column"} (a cell with the names of its row and column, from the outermost) and {"source", "part", "text"}
(a footnote, link, chart, formula … and what it says; `part` is a key of `knowledge.parsers.losses.LOSSES` where there is one for it).

- numbers_unchanged: the share of the numbers of the references and expected cells that occur unchanged in the output. Numbers are words
  with digits, with their signs, currencies, percent signs, superscripts and fractions.
- headers_right: the share of the expected cells that the output's tables hold under exactly their row and their column. A row is known by
  its first cell, or its first two, and the title of its group. Markdown names columns above its rule.
- token_f1: F1 of the words (characters of Chinese) against the references, the mean of the files.
- unreported_losses: how many of the expected parts neither occur in the output nor are named as not read.

Markup of emphasis, escapes and `<sup>` do not count as changes. The peer is scored on the files that it can open, ours on all: `files`.
"""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from copilot_site.lib.progress import progress
from evals.command import ReportCommand
from evals.documents.parsing import Expected, Reader, Score, expected_of, markitdown, ours
from knowledge.parsers.base import load


class Command(ReportCommand):
    help = "Measure how true our parsers are to the files in a folder, beside markitdown."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="holds pairs.json, expected.json or both")
        super().add_arguments(parser)

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        load()
        expected = expected_of(options["folder"])
        readers = {"ours": ours, "markitdown": markitdown()}
        return {name: self._figures(options["folder"], expected, name, read) for name, read in readers.items()}

    def print_report(self, report: dict[str, Any]) -> None:
        rows = [["", *report["ours"]], *([name, *map(str, item.values())] for name, item in report.items())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    def _figures(self, folder: Path, expected: dict[str, Expected], name: str, read: Reader) -> dict[str, Any]:
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
        return score.figures
