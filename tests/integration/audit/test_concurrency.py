"""Fifty writers at once, with rolled-back transactions and killed processes: no gap, no broken link, nothing lost."""

import subprocess
import threading
from contextlib import ExitStack

import pytest
from django.db import connection, transaction

from audit.actions import Action
from audit.chain.verification import verify_log
from audit.models import Entry, Head, Link
from audit.record import record_action
from tests.integration.audit.writers import WRITERS
from tests.processes import running

pytestmark = pytest.mark.django_db(transaction=True)

PROCESSES = 5
KILLED = 2
ENOUGH = 150  # committed entries that each process has reported before anything is killed


def committed(processes: list[subprocess.Popen[str]]) -> set[str]:
    """Let all of them write, kill two in the middle of it, end the others; returns what was reported as committed."""
    reported: list[list[str]] = [[] for _ in processes]
    busy = [threading.Event() for _ in processes]

    def read(number: int) -> None:
        for line in processes[number].stdout or ():
            reported[number].append(line.strip())
            if len(reported[number]) >= ENOUGH:
                busy[number].set()
        busy[number].set()

    readers = [threading.Thread(target=read, args=(number,)) for number in range(len(processes))]
    for reader in readers:
        reader.start()
    for event in busy:
        event.wait()
    for process in processes[:KILLED]:
        process.kill()
    for process in processes[KILLED:]:
        assert process.stdin
        process.stdin.close()
    for reader in readers:
        reader.join()
    assert [process.wait() for process in processes[KILLED:]] == [0] * (PROCESSES - KILLED)
    # the last line of a killed process may be half of one
    return {line for lines in reported for line in lines if line.count("-") == 3}


def test_fifty_writers_with_rollbacks_and_kills_leave_a_whole_chain() -> None:
    assert PROCESSES * WRITERS == 50
    with ExitStack() as stack:
        reported = committed(
            [stack.enter_context(running("tests.integration.audit.writers", str(seed))) for seed in range(PROCESSES)]
        )
    assert len(reported) >= PROCESSES * ENOUGH
    written = set(Entry.objects.values_list("run_id", flat=True))
    assert reported - written == set()
    assert "dropped" not in written
    report = verify_log()
    assert report.faults == []
    assert report.last == report.entries == Entry.objects.count() == Link.objects.count() == Head.objects.get().seq
    runs = Link.objects.order_by("seq").values_list("entry__run_id", flat=True)
    last: dict[str, int] = {}
    for run in runs:  # the order of the chain is the order of each writer's commits
        writer, number, part = run.rsplit("-", 2)
        assert last.get(writer, -1) < int(number) * 10 + int(part)
        last[writer] = int(number) * 10 + int(part)


def test_a_long_transaction_that_recorded_something_keeps_nobody_waiting() -> None:
    """The head of the chain is locked at the commit: another connection commits meanwhile, and comes first."""
    second = connection.copy()
    try:
        with transaction.atomic():
            slow = record_action(None, Action.SEARCHED, run_id="slow")
            with second.cursor() as cursor:
                cursor.execute("SET lock_timeout = '5s'")
                cursor.execute(
                    "INSERT INTO audit_entry (at, actor_name, on_behalf_of_name, action, outcome, reason, target_type, target_id,"
                    " target_name, request_id, run_id, detail, personal, salts, content_hash)"
                    " SELECT at, '', '', action, outcome, '', '', '', '', '', 'quick', '{}', '{}', '{}', content_hash"
                    " FROM (SELECT now() AS at, 'search.performed' AS action, 'allow' AS outcome, ''::bytea AS content_hash) x"
                )
    finally:
        second.close()
    order = list(Link.objects.order_by("seq").values_list("entry__run_id", flat=True))
    assert order == ["quick", "slow"]
    assert slow.link.seq == 2


def test_the_numbers_of_a_rolled_back_transaction_are_not_used_up() -> None:
    record_action(None, Action.SEARCHED)
    with transaction.atomic():
        record_action(None, Action.SEARCHED)
        transaction.set_rollback(True)
    record_action(None, Action.SEARCHED)
    assert list(Link.objects.order_by("seq").values_list("seq", flat=True)) == [1, 2]
    assert verify_log().faults == []
