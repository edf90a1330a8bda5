"""A committed log, and the hands of somebody who rules the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import connection, transaction

from audit.actions import Action
from audit.chain.checkpoints import sign_checkpoint
from audit.chain.verification import VerificationReport, verify_log
from audit.models import Entry, Link
from audit.record import record_action
from audit.verify_export import GENESIS, compute_link_hash

GUARDED = ("audit_entry", "audit_link", "audit_head", "audit_checkpoint")


@dataclass(frozen=True)
class Person:
    user_id: int
    username: str


ANNA, BERT = Person(7_000_007, "anna"), Person(7_000_008, "bert")  # no account that a test makes has these numbers


class Logbook:
    """Twenty entries; the first is the key's. Sequence numbers begin at 1."""

    SIZE = 20

    @classmethod
    def written(cls) -> "Logbook":
        for number in range(2, cls.SIZE + 1):
            write(number)
            if number in {10, cls.SIZE}:
                sign_checkpoint()
        return cls()

    @contextmanager
    def as_ruler(self) -> Iterator[Any]:
        """A cursor with every trigger off, as the owner of the tables can."""
        with transaction.atomic(), connection.cursor() as cursor:
            for table in GUARDED:
                cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            yield cursor
            for table in GUARDED:
                cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")

    def entry(self, seq: int) -> Entry:
        entry: Entry = Entry.objects.get(link__seq=seq)
        return entry


def write(number: int) -> Entry:
    """One committed entry."""
    with structlog.contextvars.bound_contextvars(ip=f"192.0.2.{number % 250}", request_id=f"r-{number}"):
        return record_action(
            ANNA if number % 2 else BERT,
            Action.SEARCHED,
            run_id=f"run-{number // 4}",
            reason=f"原因 {number}",
            detail={"characters": number, "score": number / 7},
            target_name=f"Handbook {number}",
        )


def relink(cursor: Any, since: int) -> None:
    """Make all hashes of the chain fit again from here on, head included."""
    before = bytes(Link.objects.get(seq=since - 1).hash) if since > 1 else GENESIS
    for link in Link.objects.filter(seq__gte=since).order_by("seq").select_related("entry"):
        before = compute_link_hash(before, link.seq, bytes(link.entry.content_hash))
        cursor.execute("UPDATE audit_link SET hash = %s WHERE seq = %s", [before, link.seq])
    cursor.execute("UPDATE audit_head SET hash = %s", [before])


def found(report: VerificationReport) -> list[tuple[int | None, str]]:
    """Where and what."""
    return [(fault.seq, fault.kind) for fault in report.faults]


def verified() -> list[tuple[int | None, str]]:
    return found(verify_log())
