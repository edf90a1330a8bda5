"""`manage.py benchmark rights`: measure how long the server takes to find the folders that a person may see."""

import json
import random
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.db import connection, transaction

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import folder_ids_with
from evals.report import Report, Row
from evals.rights.rights_world import make_audience, make_member, make_tree, share_out

AUDIENCES = (10, 100, 499)  # others who read along: a group of a chat platform


class RightsBenchmark:
    """Measures the statement of visible folders, for a person alone and before an audience."""

    help = (
        "Make synthetic folders and people in a transaction that is rolled back, and measure the visible folders of a person in many "
        "groups, alone and before others."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--folders", type=int, default=20_000)
        parser.add_argument("--groups", type=int, default=50)
        parser.add_argument("--runs", type=int, default=50, help="of each statement")
        parser.add_argument("--seed", type=int, default=1)

    def run(self, options: Mapping[str, Any]) -> Report:
        facts: dict[str, Any] = {name: options[name] for name in ("folders", "groups", "runs")}
        with transaction.atomic():
            rows = _measure(options, facts)
            transaction.set_rollback(True)
        return Report(peer="a statement that reads as many folders and knows no rights", rows=rows, facts=facts)


def _measure(options: Mapping[str, Any], facts: dict[str, Any]) -> list[Row]:
    """Measure the execution of each statement on the server, planning apart; note how many folders it finds."""
    _base, folders = make_tree(options["folders"])
    user, groups = make_member(options["groups"])
    share_out(folders, groups, random.Random(options["seed"]))  # noqa: S311 - repeats a run, hides nothing
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE knowledge_folder, knowledge_folderlink, authz_foldergroupgrant, authz_denial")
    principal, runs = Principal.of(user), options["runs"]
    ids = folder_ids_with(principal, Right.VIEW)
    facts["visible folders"] = len(_rows(ids.sql, ids.params))
    peer = _explained("SELECT id FROM knowledge_folder LIMIT %s", [facts["visible folders"]], runs)
    ours = _explained(ids.sql, ids.params, runs)
    rows = [Row(f"visible folders, {name}", "ms", cost, peer[name]) for name, cost in ours.items()]
    for people in AUDIENCES:
        shared = folder_ids_with(principal.before(make_audience(people, groups)), Right.VIEW)
        facts[f"visible folders before {people}"] = len(_rows(shared.sql, shared.params))
        costs = _explained(shared.sql, shared.params, runs)
        rows += [Row(f"visible folders before {people}, {name}", "ms", cost) for name, cost in costs.items()]
    return rows


def _explained(statement: str, params: Sequence[Any], times: int) -> dict[str, float]:
    """Run a statement so often, and return how long the server executed and planned it, in ms."""
    runs = [_explain(statement, params) for _run in range(times)]
    execution, planning = ([run[f"{name} Time"] for run in runs] for name in ("Execution", "Planning"))
    return {
        "p50": float(np.percentile(execution, 50)),
        "p95": float(np.percentile(execution, 95)),
        "planning p50": float(np.percentile(planning, 50)),
    }


def _explain(statement: str, params: Sequence[Any]) -> dict[str, float]:
    ((found,),) = _rows(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}", params)
    run: dict[str, float] = (json.loads(found) if isinstance(found, str) else found)[0]
    return run


def _rows(statement: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found
