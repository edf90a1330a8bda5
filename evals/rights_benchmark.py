"""`manage.py benchmark rights`: measure how long the server takes to find the folders that a person may see."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import Ids, select_folder_ids
from evals.report import Report, Row, percentile, percentile_rows
from evals.rights_world import make_audience, make_member, make_tree, share_out

AUDIENCES = (10, 100, 499)  # others who read along: a group of a chat platform
Times = tuple[list[float], list[float]]  # of execution, of planning


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
    share_out(folders, groups)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE knowledge_folder, knowledge_folderlink, authz_foldergroupgrant, authz_denial")
        principal, runs = Principal.of(user), options["runs"]
        ids = select_folder_ids(principal, Right.VIEW)
        facts["visible folders"] = _count(cursor, ids)
        peer = _times(cursor, "SELECT id FROM knowledge_folder LIMIT %s", [facts["visible folders"]], runs)
        rows = _rows("visible folders", _times(cursor, ids.sql, ids.params, runs), peer)
        for people in AUDIENCES:
            shared = select_folder_ids(principal.before(make_audience(people, groups)), Right.VIEW)
            facts[f"visible folders before {people}"] = _count(cursor, shared)
            rows += _rows(f"visible folders before {people}", _times(cursor, shared.sql, shared.params, runs))
    return rows


def _count(cursor: CursorWrapper, ids: Ids) -> int:
    cursor.execute(ids.sql, ids.params)
    return len(cursor.fetchall())


def _times(cursor: CursorWrapper, statement: str, params: Sequence[Any], runs: int) -> Times:
    """Run a statement so often; return for how long the server executed it each time, and planned it, in ms."""
    found: Times = ([], [])
    for _run in range(runs):
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}", params)
        explained = cursor.fetchone()[0]
        run = (json.loads(explained) if isinstance(explained, str) else explained)[0]
        found[0].append(run["Execution Time"])
        found[1].append(run["Planning Time"])
    return found


def _rows(name: str, ours: Times, peer: Times | None = None) -> list[Row]:
    planning = Row(f"{name}, planning p50", "ms", percentile(ours[1], 50), percentile(peer[1], 50) if peer else None)
    return [*percentile_rows(name, ours[0], peer[0] if peer else None), planning]
