"""`manage.py benchmark audit`: committed entries a second with many writers, beside plain inserts of the same rows."""

import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import IO, Any, cast

from django.conf import settings
from django.db import connection

from audit.db_owner import as_owner
from audit.models import Head, Link
from audit.verification import verify
from evals.audit_log import writer
from evals.audit_log.writer import PLAIN
from evals.report import Report, Row


class EntriesBenchmark:
    """The chain's price: lock, link and wait for the disk, against rows that are only inserted."""

    help = "Write audit entries with many writers, one a transaction, beside plain inserts. The entries stay: use a home of its own."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--writers", type=int, default=50, help="at a time")
        parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="that share the writers")
        parser.add_argument("--seconds", type=float, default=10, help="for each of the four")

    def run(self, options: Mapping[str, Any]) -> Report:
        processes = max(1, min(options["processes"], options["writers"]))
        share, seconds = options["writers"] // processes, options["seconds"]
        before = Head.objects.first()
        with _plain_table():
            speeds = {kind: _speed(kind, processes, share, seconds) for kind in ("model", "record", "plain", "chained")}
        began = time.perf_counter()
        report = verify()
        took = time.perf_counter() - began
        return Report(
            peer="the same rows, hashed and inserted into a table without chain and guards, as durable",
            rows=[
                Row("by record()", "entries/s", speeds["record"], speeds["model"]),
                Row("by bare statements", "entries/s", speeds["chained"], speeds["plain"]),
                Row("verified", "entries/s", report.entries / took),
            ],
            facts={
                "writers": share * processes,
                "processes": processes,
                "entries": Link.objects.count() - (before.seq if before else 0),
                "gaps or broken links": len(report.faults),
                "synchronous_commit": _setting("synchronous_commit"),
                "fsync": _setting("fsync"),
            },
        )


class _plain_table:  # noqa: N801 - reads as a function
    """A copy of the table with its indexes, for as long as the peer writes."""

    def __enter__(self) -> None:
        with as_owner(), connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {PLAIN}")
            cursor.execute(f"CREATE TABLE {PLAIN} (LIKE audit_entry INCLUDING ALL)")
            cursor.execute(f"GRANT INSERT ON {PLAIN} TO PUBLIC")

    def __exit__(self, *_: object) -> None:
        with as_owner(), connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {PLAIN}")


def _speed(kind: str, processes: int, share: int, seconds: float) -> float:
    """Committed rows a second of all processes together."""
    words = [sys.executable, writer.__file__, kind, str(share), str(seconds)]
    found = connection.settings_dict
    address = f"postgresql://{found['USER']}:{found['PASSWORD']}@{found['HOST']}:{found['PORT']}/{found['NAME']}"
    environment = os.environ | {"DATABASE_URL": address, "PYTHONPATH": str(settings.BASE_DIR)}
    started = [
        subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    for process in started:
        cast("IO[str]", process.stdout).readline()  # ready
    for process in started:
        stdin = cast("IO[str]", process.stdin)
        stdin.write("\n")
        stdin.flush()
    return sum(int(process.communicate()[0]) for process in started) / seconds


def _setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])
