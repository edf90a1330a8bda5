"""Writers in a process of their own: `python writer.py KIND WRITERS SECONDS`, printing how many entries they committed.

KIND: `record`, our one way into the log; `model`, the same row made and hashed by Django's model, inserted into a copy of the table
without triggers; `chained` and `plain`, both again with a row made once, so that the database is the limit and not Python.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import django

PLAIN = "audit_benchmark_plain"
DETAIL = {"characters": 20, "top_k": 8}


def writer(kind: str) -> Callable[[], object]:
    """What one thread does again and again; each call is one committed entry."""
    from audit.actions import Action
    from audit.durability import flush
    from audit.models import Entry, seal
    from audit.record import record

    def sealed() -> tuple[str, list[Any]]:
        entry = Entry(action=str(Action.SEARCHED), run_id="benchmark", detail=DETAIL)
        seal(entry)
        return insert_of(entry, PLAIN if kind in {"model", "plain"} else "audit_entry")

    if kind == "record":
        return lambda: record(None, Action.SEARCHED, run_id="benchmark", detail=DETAIL)
    if kind == "model":
        return lambda: execute(*sealed())
    ready = sealed()
    if kind == "plain":
        return lambda: execute(*ready)

    def linked() -> None:
        execute(*ready)
        flush()

    return linked


def insert_of(entry: Any, table: str) -> tuple[str, list[Any]]:
    """The statement that inserts the row, and its values."""
    from django.db import connection

    fields = [field for field in entry._meta.concrete_fields if not field.primary_key]
    values = [field.get_db_prep_save(getattr(entry, field.attname), connection) for field in fields]
    names, places = ", ".join(field.column for field in fields), ", ".join(["%s"] * len(fields))
    return f"INSERT INTO {table} ({names}) VALUES ({places})", values  # noqa: S608 - names of our own


def execute(statement: str, values: list[Any]) -> None:
    """One statement, prepared as ours is."""
    from django.db import connections
    from django.db.utils import DEFAULT_DB_ALIAS

    from copilot_site.lib.database import prepared_cursor

    with prepared_cursor(connections[DEFAULT_DB_ALIAS]) as cursor:
        cursor.execute(statement, values)


def main(kind: str, writers: int, seconds: float) -> None:
    """Wait for a line of input, so that all processes begin together; then write."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "copilot_site.settings")
    django.setup()
    from django.db import connection

    counts, begin = [0] * writers, threading.Event()

    def work(number: int) -> None:
        write = writer(kind)
        connection.ensure_connection()
        begin.wait()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            write()
            counts[number] += 1
        connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    sys.stdin.readline()
    begin.set()
    for thread in threads:
        thread.join()
    print(sum(counts), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
