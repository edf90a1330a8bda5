"""Share what the evaluation commands have in common: reading their files, counting by group, and the report."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from django.core.management.base import BaseCommand, CommandParser
from pydantic import BaseModel, ValidationError

from copilot_site.lib.commands import check_output_file, read_text_file, report_command_errors
from copilot_site.lib.errors import InvalidInput

GOLD_DAY = date(2026, 11, 21)  # the day that the gold statements of the question files name
Row = TypeVar("Row", bound=BaseModel)
Detail = Mapping[str, Any]  # what became of one question
Summary = TypeVar("Summary")


class ReportCommand(BaseCommand):
    """Measure, write the report where `--json` says, and print it."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", type=check_output_file, help="write the whole report to this file")

    def handle(self, **options: Any) -> None:
        with report_command_errors():
            report = self.measure(options)
        if options["json"]:
            text = json.dumps(report, indent=1, ensure_ascii=False)
            options["json"].write_text(text + "\n", encoding="utf-8")
        self.print_report(report)

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the report as JSON. Errors for people become one sentence."""
        raise NotImplementedError

    def print_report(self, report: dict[str, Any]) -> None:
        """Print the report for people: by default without its single questions."""
        short = {key: value for key, value in report.items() if key not in {"details", "missed"}}
        self.stdout.write(json.dumps(short, indent=1, ensure_ascii=False))

    def print_counts(self, report: dict[str, Any], names: tuple[str, ...]) -> None:
        """Print one line of counts for each group, and one for all."""
        for group, counts in [*report["groups"].items(), ("all", report)]:
            self.stdout.write(f"{group:<16} " + "  ".join(f"{name} {counts[name]:>3}" for name in names))


class QuestionFileCommand(ReportCommand):
    """Measure the rows of one file of JSON lines, with a day that stands still."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="one row a line, as JSON")
        parser.add_argument(
            "--today", type=date.fromisoformat, default=GOLD_DAY, help="the day that the file stands on"
        )
        super().add_arguments(parser)


def read_rows(file: Path, model: type[Row]) -> list[Row]:
    """Read a file of JSON lines, blank lines skipped. Raises InvalidInput with file and line."""
    rows = []
    for number, line in enumerate(read_text_file(file).split("\n"), 1):
        if line.strip():
            try:
                rows.append(model.model_validate_json(line))
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                place = ".".join(map(str, first["loc"]))
                why = ": ".join(filter(None, (place, first["msg"])))
                raise InvalidInput(f"{file}, line {number}: {why}.") from None
    return rows


def by_group(
    details: Sequence[Detail], summarise: Callable[[Sequence[Detail]], Summary], key: str = "group"
) -> dict[str, Summary]:
    """Summarise the details of each group. key: names the group in a detail."""
    groups = sorted({detail[key] for detail in details})
    return {group: summarise([detail for detail in details if detail[key] == group]) for group in groups}


def counted(
    details: Sequence[Detail], names: Sequence[str], counted_as: Callable[[Detail], Iterable[str]]
) -> dict[str, Any]:
    """Return counts over all, `groups` with those of each group, and the `details`. counted_as: the names under which one counts."""

    def counts(some: Sequence[Detail]) -> dict[str, int]:
        found = Counter(name for detail in some for name in counted_as(detail))
        return {name: found[name] for name in names}

    return counts(details) | {"groups": by_group(details, counts), "details": details}
