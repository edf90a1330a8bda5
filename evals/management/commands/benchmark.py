"""`manage.py benchmark NAME …`: our number beside a peer's from the same run, and the machine they come from."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from copilot_site.lib.commands import file_to_write, one_sentence
from evals.benchmarks import BENCHMARKS
from evals.report import Report, this_machine


class Command(BaseCommand):
    help = "Measure the running system beside a peer. `benchmark NAME --help` tells what each one needs."

    def add_arguments(self, parser: CommandParser) -> None:
        names = parser.add_subparsers(dest="name", metavar="NAME", required=True)
        for name, benchmark in BENCHMARKS.items():
            words = names.add_parser(name, help=benchmark.help, description=benchmark.help)
            benchmark.add_arguments(words)
            words.add_argument("--json", dest="report", type=file_to_write, help="write the report to this file, too")

    def handle(self, *, name: str, report: Path | None, **options: Any) -> None:
        machine = this_machine()
        with one_sentence():
            found = BENCHMARKS[name].run(options)
        self._print(found, machine)
        if report:
            text = json.dumps(found.as_json(name, machine), indent=2, ensure_ascii=False)
            report.write_text(text + "\n", encoding="utf-8")

    def _print(self, found: Report, machine: dict[str, Any]) -> None:
        has_aims = any(row.aim for row in found.rows)
        self.stdout.write(f"{'':<34}{'ours':>10}{'peer':>10}{'ours/peer':>11}{'  aim: at most' if has_aims else ''}")
        for row in found.rows:
            peer = "" if row.peer is None else f"{row.peer:.6g}"
            share = f"{row.ours / row.peer:.2f}" if row.peer else ""
            name = ", ".join(filter(None, (row.name, row.unit)))
            self.stdout.write(f"{name:<34}{row.ours:>10.6g}{peer:>10}{share:>11}  {row.aim}".rstrip())
        self.stdout.write(f"peer: {found.peer}")
        for title, facts in (("facts", found.facts), ("machine", machine)):
            self.stdout.write(f"{title}: " + ", ".join(f"{key} {value}" for key, value in facts.items()))
        if machine["busy"]:
            self.stdout.write("The machine was busy with other work: times are too long, ratios are still fair.")
