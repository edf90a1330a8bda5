"""Whoever may only add rows, as the application's role may, stops neither the signing nor an export, and signs nothing."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from audit import verify_export
from audit.chain.checkpoints import add_signed_checkpoint, sign_checkpoint
from audit.chain.keys import public_key_of, read_signing_key
from audit.export import export_entries, find_export_format
from audit.exports import FORMATS
from audit.models import Checkpoint, Hold, Kind, Link, build_chain_content
from audit.retention import place_hold
from audit.selectors import EntryFilter, find_signing_state
from tests.integration.audit.logbook import ANNA, Logbook, relink, verified, write
from tests.integration.audit.test_odd_rows import DEEP, HUGE, undone

NO_TIMES = ("infinity", "0044-03-15 BC", "20000-01-01")
UNREADABLE: list[tuple[str, Any]] = [
    *(("at", value) for value in NO_TIMES),
    *(("detail", value) for value in ("[]", "null", "1e400", HUGE, DEEP)),
    ("personal", "null"),
    ("personal", '{"actor_name": []}'),
    ("salts", DEEP),
    ("address", "10.0.0.0/8"),
]


def false_checkpoint(seq: int, **given: Any) -> None:
    """A row as anybody may add it."""
    row: dict[str, Any] = {
        "seq": seq,
        "kind": "periodic",
        "hash": b"0" * 32,
        "at": timezone.now(),
        "key": "ab" * 32,
        "signature": "cd" * 64,
    }
    row |= given
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO audit_checkpoint ({', '.join(row)}) VALUES ({', '.join(['%s'] * len(row))})",
            list(row.values()),
        )


def false_entry(column: str, value: Any) -> int:
    """An entry that this system did not write; its number."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_entry (at, actor_name, on_behalf_of_name, action, outcome, reason, target_type, target_id, target_name,"
            " request_id, run_id, detail, personal, salts, content_hash, address) SELECT at, actor_name, on_behalf_of_name, action,"
            " outcome, reason, target_type, target_id, target_name, request_id, run_id, detail, personal, salts, content_hash,"
            " address FROM audit_entry ORDER BY id DESC LIMIT 1 RETURNING id"
        )
        number = cursor.fetchone()[0]
        cursor.execute("ALTER TABLE audit_entry DISABLE TRIGGER audit_entry_append_only")  # it was inserted so
        cursor.execute(f"UPDATE audit_entry SET {column} = %s WHERE id = %s", [value, number])
        cursor.execute("ALTER TABLE audit_entry ENABLE TRIGGER audit_entry_append_only")
    return int(Link.objects.get(entry_id=number).seq)


def exported(name: str) -> bytes:
    return b"".join(export_entries(ANNA, chosen=EntryFilter(), form=find_export_format(name)))


def checked() -> verify_export.Export:
    return verify_export.check_export(
        iter(exported("jsonl").splitlines(keepends=True)), [public_key_of(read_signing_key())]
    )


def test_a_row_at_a_number_that_is_signed_later_does_not_stop_the_signing(logbook: Logbook) -> None:
    false_checkpoint(22, key=public_key_of(read_signing_key()))
    for number in (21, 22):
        write(number)
    made = sign_checkpoint()
    assert (made and made.seq, sign_checkpoint()) == (22, None)
    assert len(list(settings.AUDIT_CHECKPOINTS.glob("*/*"))) == 3, "what is false is not copied outside"
    assert verified() == [(22, "checkpoint")]


def test_a_row_where_a_purge_cuts_is_named_and_stops_nothing_else(logbook: Logbook) -> None:
    false_checkpoint(12, kind="cut")
    assert verified() == [(12, "checkpoint")]
    with transaction.atomic():
        add_signed_checkpoint(12, bytes(Link.objects.get(seq=12).hash), Kind.CUT, read_signing_key())


def test_the_same_signature_is_stored_once(logbook: Logbook) -> None:
    row = Checkpoint.objects.get(seq=20)
    with pytest.raises(IntegrityError), transaction.atomic():
        Checkpoint(seq=row.seq, kind=row.kind, hash=row.hash, at=row.at, key=row.key, signature=row.signature).save(
            force_insert=True
        )


@pytest.mark.parametrize("at", ["infinity", "0044-03-15 BC"])
def test_a_row_that_cannot_be_read_does_not_stop_the_signing(logbook: Logbook, at: str) -> None:
    false_checkpoint(10**9, at=at)
    write(21)
    made = sign_checkpoint()
    assert (made and made.seq) == 21
    assert find_signing_state().checkpoint == made
    assert [fault.what for fault in checked().faults] == []
    assert (10**9, "checkpoint") in verified()


def test_a_false_checkpoint_signs_nothing_on_the_page(logbook: Logbook) -> None:
    false_checkpoint(10**9)
    false_checkpoint(21, key=public_key_of(read_signing_key()))
    write(21)
    found = find_signing_state()
    assert (found.checkpoint and found.checkpoint.seq) == 20
    assert (found.unsigned and found.unsigned.seq) == 21


def test_a_host_without_keys_believes_what_the_chain_says(logbook: Logbook, settings: Any, tmp_path: Any) -> None:
    settings.AUDIT_KEYS = tmp_path / "none"
    false_checkpoint(10**9)
    false_checkpoint(19)
    write(21)
    found = find_signing_state()
    assert (found.checkpoint and found.checkpoint.seq, found.unsigned and found.unsigned.seq) == (20, 21)


def test_an_impossible_time_does_not_hide_that_the_signing_is_late(logbook: Logbook) -> None:
    for at in (*NO_TIMES, "9999-12-31 23:59:59+00"):
        with undone():
            seq = false_entry("at", at)
            found = find_signing_state()
            assert (found.unsigned and found.unsigned.seq) == seq, at
            assert found.due_at is not None


def test_false_checkpoints_push_no_genuine_one_out_of_an_export(logbook: Logbook) -> None:
    false_checkpoint(19)
    false_checkpoint(21, key=public_key_of(read_signing_key()))
    export = checked()
    assert (export.faults, export.signatures, set(export.signed)) == ([], 3, {21})


def test_an_export_names_an_entry_that_cannot_be_read_and_goes_on(logbook: Logbook) -> None:
    key = public_key_of(read_signing_key())
    for column, value in UNREADABLE:
        with undone():
            seq = false_entry(column, value)
            write(22)
            export = verify_export.check_export(iter(exported("jsonl").splitlines(keepends=True)), [key])
            assert (export.first_bad, export.closed, export.last) == (seq, True, 23), (column, value[:12])
    for name in FORMATS.names():
        with undone():
            false_entry("at", "infinity")
            false_entry("personal", '{"actor_name": []}')
            write(23)
            assert "原因 23".encode() in exported(name), name


def test_an_export_of_a_rewritten_log_fails_by_what_lies_outside_the_database(logbook: Logbook) -> None:
    """Whoever rules the database takes the signatures in it away; the export, signed anew, would be right in itself."""
    with logbook.as_ruler() as cursor:
        cursor.execute("UPDATE audit_entry SET reason = 'nothing' WHERE id = %s", [logbook.entry(13).pk])
        entry = logbook.entry(13)
        digest = verify_export.compute_content_hash(build_chain_content(entry))
        cursor.execute("UPDATE audit_entry SET content_hash = %s WHERE id = %s", [digest, entry.pk])
        relink(cursor, 13)
        cursor.execute("DELETE FROM audit_checkpoint WHERE seq >= 13")
    assert [(fault.seq, "rewritten" in fault.what) for fault in checked().faults] == [(20, True)]


def test_an_export_of_a_log_without_its_end_fails_by_what_lies_outside_the_database(logbook: Logbook) -> None:
    with logbook.as_ruler() as cursor:
        cursor.execute("DELETE FROM audit_checkpoint WHERE seq > 10")
        cursor.execute("DELETE FROM audit_entry WHERE id IN (SELECT entry_id FROM audit_link WHERE seq > 15)")
        cursor.execute("DELETE FROM audit_link WHERE seq > 15")
        cursor.execute("UPDATE audit_head SET seq = 15, hash = (SELECT hash FROM audit_link WHERE seq = 15)")
    assert [fault.what for fault in checked().faults] == ["a signed checkpoint names 20: the end of the log is missing"]


HELD = [
    "UPDATE audit_hold SET reason = 'x'",
    "UPDATE audit_hold SET person_id = 7",
    "UPDATE audit_hold SET until_at = now()",
    "UPDATE audit_hold SET released_at = 'infinity'",
    "UPDATE audit_hold SET released_at = now(), from_at = now()",
    "DELETE FROM audit_hold",
    "TRUNCATE audit_hold",
]


def test_a_hold_is_released_once_and_otherwise_never_changed(logbook: Logbook) -> None:
    hold = place_hold(None, Hold(reason="Case 12"))
    for statement in HELD:
        with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
            connection.cursor().execute(statement)
    Hold.objects.filter(pk=hold.pk).update(released_at=timezone.now())
    for value in (None, datetime(2020, 1, 1, tzinfo=UTC)):
        with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
            Hold.objects.filter(pk=hold.pk).update(released_at=value)
