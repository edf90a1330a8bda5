"""What the first wall costs: processor time of the guard on the cases that it lets through.

    python -m tests.benchmarks.guard_overhead CASES.jsonl [--rounds 5]

Prints JSON: statements, p50_ms, p95_ms. Processor time, so that a busy machine does not change it.
"""

import argparse
import json
import time
from pathlib import Path
from statistics import median, quantiles

import django
from django.conf import settings

from agent.business.guard.guard import guard
from agent.business.guard.policy import AllowedTable, Policy
from agent.business.guard.refusal import SqlRefused
from agent.business.guard.rewrite import Target

TABLES = {  # of sql_guard_seed.sql, as drafted
    "customers": "id org_unit name region created_at",
    "sales_orders": "id org_unit customer_id amount status created_at",
    "employees": "id org_unit name title status hired_at",
    "projects": "id org_unit name status started_at",
}


def measured(cases: list[str], rounds: int) -> dict[str, float | int]:
    """Times of accepted statements, in milliseconds."""
    policy = Policy.of(
        AllowedTable("public", name, tuple(columns.split()), "org_unit", ("team-a",))
        for name, columns in TABLES.items()
    )
    times: list[float] = []
    accepted = 0
    for text in cases:
        try:
            guard(text, policy, Target())
        except SqlRefused:
            continue
        accepted += 1
        for _round in range(rounds):
            began = time.process_time_ns()
            guard(text, policy, Target())
            times.append((time.process_time_ns() - began) / 1e6)
    return {
        "statements": accepted,
        "p50_ms": round(median(times), 2),
        "p95_ms": round(quantiles(times, n=20)[-1], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    settings.configure(USE_I18N=False)
    django.setup()
    rows = [json.loads(line) for line in options.cases.read_text().splitlines()]
    print(json.dumps(measured([row["sql"] for row in rows], options.rounds)))


if __name__ == "__main__":
    main()
