"""`manage.py benchmark NAME …`: our number beside a peer's from the same run, and the machine they come from."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from evals.command import ReportCommand
from evals.forbidden_benchmark import ForbiddenBenchmark
from evals.guard_benchmark import GuardBenchmark
from evals.import_benchmark import ImportBenchmark
from evals.load_benchmark import LoadBenchmark
from evals.model_benchmark import ModelBenchmark
from evals.permissions_benchmark import PermissionsBenchmark
from evals.report import Benchmark, this_machine
from evals.rights_benchmark import RightsBenchmark
from evals.scale_benchmark import ScaleBenchmark
from evals.search_benchmark import SearchBenchmark

BENCHMARKS: Mapping[str, Benchmark] = {
    "forbidden": ForbiddenBenchmark(),
    "guard": GuardBenchmark(),
    "import": ImportBenchmark(),
    "load": LoadBenchmark(),
    "model": ModelBenchmark(),
    "permissions": PermissionsBenchmark(),
    "rights": RightsBenchmark(),
    "scale": ScaleBenchmark(),
    "search": SearchBenchmark(),
}


class Command(ReportCommand):
    help = "Measure the running system beside a peer. `benchmark NAME --help` tells what each one needs."

    def add_arguments(self, parser: CommandParser) -> None:
        names = parser.add_subparsers(dest="name", metavar="NAME", required=True)
        for name, benchmark in BENCHMARKS.items():
            words = names.add_parser(name, help=benchmark.help, description=benchmark.help)
            benchmark.add_arguments(words)
            super().add_arguments(words)

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        machine = this_machine()
        found = BENCHMARKS[options["name"]].run(options)
        rows = [asdict(row) for row in found.rows]
        report = {"benchmark": options["name"], "machine": machine, "peer": found.peer, "rows": rows}
        return report | {"facts": found.facts, **found.parts}

    def print_report(self, report: dict[str, Any]) -> None:
        has_aims = any(row["aim"] for row in report["rows"])
        self.stdout.write(f"{'':<34}{'ours':>10}{'peer':>10}{'ours/peer':>11}{'  aim: at most' if has_aims else ''}")
        for row in report["rows"]:
            peer = "" if row["peer"] is None else f"{row['peer']:.6g}"
            share = f"{row['ours'] / row['peer']:.2f}" if row["peer"] else ""
            name = ", ".join(filter(None, (row["name"], row["unit"])))
            self.stdout.write(f"{name:<34}{row['ours']:>10.6g}{peer:>10}{share:>11}  {row['aim']}".rstrip())
        self.stdout.write(f"peer: {report['peer']}")
        for title in ("facts", "machine"):
            self.stdout.write(f"{title}: " + ", ".join(f"{key} {value}" for key, value in report[title].items()))
        if report["machine"]["busy"]:
            self.stdout.write("The machine was busy with other work: times are too long, ratios are still fair.")
