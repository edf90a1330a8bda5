"""`manage.py benchmark guard`: measure guard, sandbox and the look at the plan, beside the owner's own run of the same statement."""

import asyncio
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from business.connections.postgres_session import open_read_only, require_affordable_aggregates
from business.execute import Access, run_sql
from business.guard.guard import guard_statement
from business.guard.refusal import SqlRefused
from business.guard.rewrite import ProjectionTarget
from business.sandbox import sql_views
from copilot_site.lib.errors import InvalidInput
from evals.guard_cases import arena, as_owner, read_case_file
from evals.report import Report, Row, percentile_rows

# milliseconds of each run of each statement; `ours` and `owner` alternate, each place is one pair; `guard_statement`: processor time
Taken = defaultdict[str, list[float]]


class GuardBenchmark:
    """Runs each statement on a connection of its own, for us and for the owner, as in the product."""

    help = (
        "Run the statements of a file that are allowed, on a seed, as a person of one org unit, by turns with both and as the "
        "owner. The databases are made for it and removed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("cases", type=Path, help="JSON lines: id, sql, expect; those to allow are measured")
        parser.add_argument("--seed", type=Path, required=True, help="SQL file that fills an empty database")
        parser.add_argument("--unit", required=True, help="org unit of the person, as the rows name it")
        parser.add_argument("--rounds", type=int, default=5)

    def run(self, options: Mapping[str, Any]) -> Report:
        texts = [case.sql for case in read_case_file(options["cases"]) if case.expect == "allow"]
        if not texts:
            raise InvalidInput(f"{options['cases'].name} has no case to allow.")
        with arena(options["seed"], options["unit"]) as place:
            statements, taken = asyncio.run(_measured(place.full, texts, options["rounds"]))
        more = np.subtract(taken["ours"], taken["owner"])
        return Report(
            peer="the owner's own run of the same statement on a connection of its own, without guard and sandbox",
            rows=[
                *percentile_rows("whole run", taken["ours"], taken["owner"]),
                Row("more than the owner's run, p50", "ms", float(np.median(more))),
                *percentile_rows("guard, processor", taken["guard"]),
                *percentile_rows("look at the plan", taken["plan"]),
            ],
            facts={"statements": statements, "rounds": options["rounds"]},
        )


async def _measured(access: Access, texts: Sequence[str], rounds: int) -> tuple[int, Taken]:
    """Run every accepted statement, and count them. Raises InvalidInput where none is accepted."""
    statements, taken = 0, Taken(list)
    for text in texts:
        try:
            await run_sql(access, text)  # builds the views, and fills the caches of the database
        except SqlRefused:
            continue
        statements += 1
        for _round in range(rounds):
            await _measure(access, text, taken)
    if not statements:
        raise InvalidInput("None of the statements is accepted.")
    return statements, taken


async def _measure(access: Access, text: str, taken: Taken) -> None:
    schema = sql_views.build_sandbox_name(access.admin, access.policy)
    began = time.process_time_ns()
    checked = guard_statement(text, access.policy, ProjectionTarget(schema))
    taken["guard"].append((time.process_time_ns() - began) / 1e6)
    async with open_read_only(access.admin.as_role(schema)) as connection:
        taken["plan"].append(await _ms(require_affordable_aggregates(connection, checked, access.limits)))
    taken["ours"].append(await _ms(run_sql(access, text)))
    taken["owner"].append(await _ms(as_owner(access.admin, text)))


async def _ms(work: Awaitable[object]) -> float:
    began = time.perf_counter_ns()
    await work
    return (time.perf_counter_ns() - began) / 1e6
