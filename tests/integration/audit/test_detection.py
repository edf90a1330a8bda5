"""Whoever rules the database changes the log: each way is found, and located."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection

from audit.chain.checkpoints import sign_checkpoint
from audit.chain.verification import verify_log
from audit.models import build_chain_content
from audit.verify_export import compute_content_hash
from tests.integration.audit.logbook import Logbook, found, relink, verified, write
from tests.integration.audit.test_odd_rows import undone

Attack = Callable[[Any, Logbook], object]


def sql(statement: str) -> Attack:
    return lambda cursor, book: cursor.execute(statement)


def entry_where(seq: int) -> str:
    return f"id = (SELECT entry_id FROM audit_link WHERE seq = {seq})"


def rewrite_one(cursor: Any, book: Logbook, seq: int) -> None:
    """Change an entry and make its own hash fit."""
    entry = book.entry(seq)
    entry.outcome = "deny"
    digest = compute_content_hash(build_chain_content(entry))
    cursor.execute("UPDATE audit_entry SET outcome = 'deny', content_hash = %s WHERE id = %s", [digest, entry.pk])


def rewrite_suffix(cursor: Any, book: Logbook, seq: int = 13) -> None:
    rewrite_one(cursor, book, seq)
    relink(cursor, seq)


def swap(cursor: Any, book: Logbook) -> None:
    five, six = book.entry(5).pk, book.entry(6).pk
    for seq, entry in ((5, -1), (6, five), (5, six)):
        cursor.execute("UPDATE audit_link SET entry_id = %s WHERE seq = %s", [entry, seq])


def insert_between(cursor: Any, book: Logbook) -> None:
    """A forged entry as number 13; the later ones move one up, all hashes made anew."""
    cursor.execute(f"INSERT INTO audit_entry SELECT (r).* FROM (SELECT jsonb_populate_record(e, '{{\"id\": 9999999}}') r"
                   f" FROM audit_entry e WHERE {entry_where(3)}) x")  # fmt: skip
    cursor.execute("UPDATE audit_link SET seq = seq + 1000 WHERE seq >= 13")
    cursor.execute("UPDATE audit_link SET seq = seq - 999 WHERE seq >= 1000")
    cursor.execute("INSERT INTO audit_link (seq, entry_id, hash) VALUES (13, 9999999, '')")
    relink(cursor, 13)
    cursor.execute("UPDATE audit_head SET seq = seq + 1")


def delete_tail(cursor: Any, book: Logbook) -> None:
    cursor.execute("DELETE FROM audit_entry WHERE id IN (SELECT entry_id FROM audit_link WHERE seq > 15)")
    cursor.execute("DELETE FROM audit_link WHERE seq > 15")


def delete_tail_and_head(cursor: Any, book: Logbook) -> None:
    delete_tail(cursor, book)
    cursor.execute("UPDATE audit_head SET seq = 15, hash = (SELECT hash FROM audit_link WHERE seq = 15)")


def delete_tail_and_checkpoints(cursor: Any, book: Logbook) -> None:
    delete_tail_and_head(cursor, book)
    cursor.execute("DELETE FROM audit_checkpoint WHERE seq > 15")


ATTACKS: dict[str, tuple[Attack, tuple[int | None, str]]] = {
    "one letter of a reason": (sql(f"UPDATE audit_entry SET reason = '原因 8.' WHERE {entry_where(8)}"), (8, "changed")),
    "a microsecond": (sql(f"UPDATE audit_entry SET at = at + interval '1us' WHERE {entry_where(9)}"), (9, "changed")),
    "a name": (sql(f"UPDATE audit_entry SET actor_name = 'carl' WHERE {entry_where(6)}"), (6, "changed")),
    "an address": (sql(f"UPDATE audit_entry SET address = '203.0.113.1' WHERE {entry_where(6)}"), (6, "changed")),
    "a name and a salt where there was none": (
        sql("UPDATE audit_entry SET on_behalf_of_name = 'carl', salts = salts || jsonb_build_object('on_behalf_of_name', repeat('0', 32))"
            f" WHERE {entry_where(6)}"),
        (6, "changed"),
    ),
    "a salt": (sql(f"UPDATE audit_entry SET salts = '{{}}' WHERE {entry_where(6)}"), (6, "changed")),
    "an unrecorded erasure": (
        sql(f"UPDATE audit_entry SET actor_name = '', salts = salts - 'actor_name' WHERE {entry_where(6)}"), (6, "erased"),
    ),
    "a bit of a content hash": (
        sql(f"UPDATE audit_entry SET content_hash = set_bit(content_hash, 3, 1 - get_bit(content_hash, 3)) WHERE {entry_where(8)}"),
        (8, "changed"),
    ),
    "a bit of the chain": (sql("UPDATE audit_link SET hash = set_bit(hash, 9, 1 - get_bit(hash, 9)) WHERE seq = 8"), (8, "link")),
    "an entry with its hash": (lambda cursor, book: rewrite_one(cursor, book, 8), (8, "link")),
    "an entry in the middle": (sql(f"DELETE FROM audit_entry WHERE {entry_where(8)}"), (8, "missing")),
    "a link in the middle": (sql("DELETE FROM audit_link WHERE seq = 8"), (8, "missing")),
    "the tail": (delete_tail, (16, "missing")),
    "the tail and the head": (delete_tail_and_head, (16, "behind")),
    "the tail, the head and their checkpoints": (delete_tail_and_checkpoints, (16, "behind")),
    "the head": (sql("DELETE FROM audit_head"), (21, "head")),
    "the head's number": (sql("UPDATE audit_head SET seq = 18"), (19, "head")),
    "two entries swapped": (swap, (5, "link")),
    "an entry inserted": (insert_between, (11, "rewritten")),
    "the end rewritten, all hashes made anew": (rewrite_suffix, (11, "rewritten")),
    "the beginning rewritten": (lambda cursor, book: rewrite_suffix(cursor, book, 2), (1, "rewritten")),
    "a checkpoint": (sql("DELETE FROM audit_checkpoint WHERE seq = 10"), (10, "checkpoint")),
    "a checkpoint's hash": (
        sql("UPDATE audit_checkpoint SET hash = set_bit(hash, 9, 1 - get_bit(hash, 9)) WHERE seq = 10"), (10, "checkpoint"),
    ),
    "everything": (
        sql("DELETE FROM audit_entry; DELETE FROM audit_link; DELETE FROM audit_head; DELETE FROM audit_checkpoint"), (1, "behind"),
    ),
}  # fmt: skip


def test_an_untouched_log_verifies(logbook: Logbook) -> None:
    report = verify_log()
    assert report.faults == []
    assert (report.entries, report.first, report.last, report.checkpoints, report.outside) == (20, 1, 20, 2, 2)
    call_command("verify_audit")


def test_a_change_is_found_and_located(logbook: Logbook) -> None:
    for name, (attack, first) in ATTACKS.items():
        with undone():
            with logbook.as_ruler() as cursor:
                attack(cursor, logbook)
            report = verify_log()
            assert (found(report)[0], report.first_bad) == (first, first[0]), name
    with logbook.as_ruler() as cursor:
        swap(cursor, logbook)
    with pytest.raises(CommandError, match="First bad sequence number: 5"):
        call_command("verify_audit")


def test_without_checkpoints_a_rewritten_end_would_pass(logbook: Logbook) -> None:
    """The control: it is the signatures that show it."""
    attack, _first = ATTACKS["an entry inserted"]
    with logbook.as_ruler() as cursor:
        attack(cursor, logbook)
        cursor.execute("DELETE FROM audit_checkpoint")
    for file in settings.AUDIT_CHECKPOINTS.glob("*/*"):
        file.unlink()
    assert verified() == []


def test_signatures_in_the_database_alone_do_not_survive_its_ruler(logbook: Logbook) -> None:
    """The control for the copy outside: deleted with the tail, they would show nothing."""
    with logbook.as_ruler() as cursor:
        delete_tail_and_checkpoints(cursor, logbook)
    assert verified() != []
    for file in settings.AUDIT_CHECKPOINTS.glob("*/*0020-*"):
        file.unlink()
    assert verified() == []


def test_a_checkpoint_signed_by_another_key_does_not_count(logbook: Logbook) -> None:
    for name in settings.AUDIT_KEYS.glob("*.pub"):
        name.unlink()
    assert {kind for _seq, kind in verified()} == {"checkpoint"}


def test_an_old_backup_is_noticed_and_so_is_what_is_written_on_it(logbook: Logbook) -> None:
    """The state of number 15 comes back; the files outside stay as they are."""
    with logbook.as_ruler() as cursor:
        delete_tail_and_checkpoints(cursor, logbook)
    assert verified()[0] == (16, "behind")
    for number in range(16, 24):
        write(number)
    assert verified()[0] == (11, "rewritten")


def test_a_disabled_trigger_is_noticed_while_it_is_off_and_after(logbook: Logbook) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE audit_entry DISABLE TRIGGER audit_entry_link")
        write(21)
        assert verified() == [(21, "stray"), (None, "guard")]
        cursor.execute("ALTER TABLE audit_entry ENABLE TRIGGER audit_entry_link")
    write(22)
    assert verified() == [(21, "stray")]


def test_disabled_guards_are_noticed(logbook: Logbook) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE audit_link DISABLE TRIGGER USER")
        assert verified() == [(None, "guard"), (None, "guard")]
        with pytest.raises(CommandError, match="their guards are not"):
            call_command("verify_audit")
        cursor.execute("ALTER TABLE audit_link ENABLE TRIGGER USER")
    assert verified() == []


def test_a_missing_file_outside_is_noticed_and_written_again(logbook: Logbook) -> None:
    file = next(settings.AUDIT_CHECKPOINTS.glob("*/*0010-*"))
    file.unlink()
    assert verified() == [(10, "checkpoint")]
    sign_checkpoint()
    assert verified() == []


def test_many_faults_of_a_kind_do_not_hide_one_of_another(logbook: Logbook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.chain.verification.MAX_FAULTS", 1)
    for file in settings.AUDIT_CHECKPOINTS.glob("*/*"):
        file.unlink()
    with logbook.as_ruler() as cursor:
        cursor.execute(f"UPDATE audit_entry SET reason = 'x' WHERE {entry_where(15)} OR {entry_where(16)}")
    assert verified() == [(10, "checkpoint"), (15, "changed")]
