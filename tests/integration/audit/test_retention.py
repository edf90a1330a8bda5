"""Old entries go through a signed cut, or they stay."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit.actions import Action, How
from audit.chain.verification import verify_log
from audit.export import export_entries, find_export_format
from audit.models import Checkpoint, Entry, Head, Hold, Link, Shown
from audit.retention import erase_person, place_hold, purge_entries, release_hold
from audit.selectors import EntryFilter
from audit.verify_export import check_export
from copilot_site.lib.errors import Conflict, InvalidInput
from tests.factories import make_user
from tests.integration.audit.logbook import ANNA, BERT, Logbook, verified, write
from tests.integration.audit.test_odd_rows import undone

DAY = timedelta(days=1)


def numbers() -> list[int]:
    return list(Link.objects.order_by("seq").values_list("seq", flat=True))


def test_a_purge_leaves_a_log_that_verifies_from_the_cut(logbook: Logbook) -> None:
    for seq in (12, 13):
        at = logbook.entry(seq)
        Shown.objects.create(entry=at, document_id=uuid4(), how=How.OPENED, at=at.at)
    assert purge_entries(BERT, before=logbook.entry(13).at) == 12
    assert numbers() == list(range(13, 22))
    assert Entry.objects.count() == 9
    assert list(Shown.objects.values_list("entry__link__seq", flat=True)) == [13]
    report = verify_log()
    assert (report.faults, report.first, report.last) == ([], 13, 21)
    last = Entry.objects.get(action=Action.AUDIT_PURGED)
    assert (last.actor_name, last.detail) == ("bert", {"from": 1, "through": 12, "entries": 12})
    write(22)
    assert verified() == []


def test_an_export_after_a_purge_begins_at_the_cut(logbook: Logbook) -> None:
    purge_entries(None, before=logbook.entry(13).at)
    content = b"".join(export_entries(None, chosen=EntryFilter(), form=find_export_format("jsonl")))
    found = check_export(iter(content.splitlines(keepends=True)))
    assert (found.faults, found.first) == ([], 13)


def test_after_a_purge_the_first_that_stayed_is_still_guarded(logbook: Logbook) -> None:
    purge_entries(None, before=logbook.entry(13).at)
    with logbook.as_ruler() as cursor:
        cursor.execute("DELETE FROM audit_entry WHERE id IN (SELECT entry_id FROM audit_link WHERE seq = 13)")
        cursor.execute("DELETE FROM audit_link WHERE seq = 13")
    assert verified()[0] == (13, "missing")


def test_a_cut_without_our_signature_is_no_cut(logbook: Logbook) -> None:
    """Whoever rules the database deletes the beginning and writes a cut of their own."""
    with logbook.as_ruler() as cursor:
        cursor.execute(
            "INSERT INTO audit_checkpoint (seq, kind, hash, at, key, signature)"
            " SELECT seq, 'cut', hash, now(), repeat('ab', 32), repeat('cd', 64) FROM audit_link WHERE seq = 12"
        )
        cursor.execute("DELETE FROM audit_entry WHERE id IN (SELECT entry_id FROM audit_link WHERE seq <= 12)")
        cursor.execute("DELETE FROM audit_link WHERE seq <= 12")
    assert verified()[0] == (1, "missing")


def test_the_database_deletes_only_up_to_a_cut(logbook: Logbook) -> None:
    purge_entries(None, before=logbook.entry(5).at)
    for statement in ("DELETE FROM audit_entry", "DELETE FROM audit_link", "UPDATE audit_link SET seq = seq + 100"):
        with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
            connection.cursor().execute(statement)
    assert verified() == []


HOLDS: dict[str, dict[str, Any]] = {
    "everything": {},
    "of that time": {"from_at": datetime(2020, 1, 1, tzinfo=UTC)},
    "a person": {"person_id": ANNA.user_id},
}


@pytest.mark.parametrize("name", HOLDS)
def test_a_legal_hold_keeps_old_entries(logbook: Logbook, name: str) -> None:
    hold = place_hold(BERT, Hold(reason="Case 12", **HOLDS[name]))
    before = logbook.entry(13).at
    with pytest.raises(Conflict, match="“Case 12” covers entries of that time"):
        purge_entries(None, before=before)
    assert numbers() == list(range(1, 22))
    release_hold(BERT, hold)
    assert purge_entries(None, before=before) == 12
    assert [entry.action for entry in Entry.objects.order_by("id")][-3:] == [
        "hold.placed",
        "hold.released",
        "audit.purged",
    ]


@pytest.mark.parametrize("hold", [{"person_id": 0}, {"until_at": datetime(2020, 1, 1, tzinfo=UTC)}])
def test_a_hold_on_something_else_does_not(logbook: Logbook, hold: dict[str, Any]) -> None:
    if "person_id" in hold:
        hold = {"person_id": make_user("somebody-else").pk}
    place_hold(None, Hold(reason="Case 12", **hold))
    assert purge_entries(None, before=logbook.entry(13).at) == 12


@pytest.mark.parametrize(
    ("hold", "sentence"),
    [
        ({"reason": " "}, "Give a reason"),
        ({"reason": "x", "from_at": timezone.now(), "until_at": timezone.now() - DAY}, "must begin before it ends"),
        ({"reason": "x", "person_id": 4_711_000}, "no account 4711000"),
    ],
)
def test_a_hold_that_says_nothing_is_refused(db: None, hold: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        place_hold(None, Hold(**hold))
    assert Hold.objects.count() == 0


def test_a_log_that_was_changed_is_not_purged(logbook: Logbook) -> None:
    with logbook.as_ruler() as cursor:
        cursor.execute("UPDATE audit_entry SET reason = 'x' WHERE id = (SELECT entry_id FROM audit_link WHERE seq = 4)")
    with pytest.raises(Conflict, match="does not verify \\(the content of number 4 was changed\\)"):
        purge_entries(None, before=logbook.entry(13).at)
    assert numbers() == list(range(1, 21))


def test_a_day_to_come_purges_nothing(logbook: Logbook) -> None:
    for words in (("--before", "2999-01-01"), ("--days=-730",), ("--days", "99999999999"), ("--days", "two")):
        with pytest.raises(CommandError, match=r"in the future|is not a number of days"):
            call_command("purge_audit", *words)
    assert numbers() == list(range(1, 21))


def test_without_a_key_nothing_is_purged(logbook: Logbook) -> None:
    (settings.AUDIT_KEYS / "signing.pem").unlink()
    with pytest.raises(CommandError, match="There is no audit signing key at"):
        call_command("purge_audit", "--days", "0")
    assert numbers() == list(range(1, 21))


def test_the_command_keeps_as_many_days_as_it_is_told(logbook: Logbook) -> None:
    call_command("purge_audit", "--days", "0")
    assert numbers() == [21]
    assert Head.objects.get().seq == 21
    assert verified() == []
    assert Checkpoint.objects.get(kind="cut").seq == 20


# --- a hold that ends or shrinks without an entry is named: it is what keeps entries from being purged and erased ---

CHANGES = {
    "released past the service": "UPDATE audit_hold SET released_at = now()",
    "deleted": "DELETE FROM audit_hold",
    "of somebody else": "UPDATE audit_hold SET person_id = 7",
    "of everybody no more": "UPDATE audit_hold SET person_id = 7000007",
    "of a shorter time": "UPDATE audit_hold SET until_at = '2020-01-01Z'",
    "of a later time": "UPDATE audit_hold SET from_at = '2090-01-01Z'",
    "not readable": "UPDATE audit_hold SET placed_at = 'infinity'",
}


def test_a_hold_that_changed_without_an_entry_is_named(logbook: Logbook) -> None:
    place_hold(ANNA, Hold(reason="Case 12"))
    write(22)
    assert verified() == []
    for name, statement in CHANGES.items():
        with undone():
            with connection.cursor() as cursor:
                cursor.execute("ALTER TABLE audit_hold DISABLE TRIGGER USER")
                cursor.execute(statement)
                cursor.execute("ALTER TABLE audit_hold ENABLE TRIGGER USER")
            assert verified() == [(21, "hold")], name


def test_a_hold_that_was_never_recorded_or_was_taken_up_again_holds_too(logbook: Logbook) -> None:
    """More is held than the log says: nothing is lost by it."""
    Hold.objects.create(reason="Case 13")
    hold = place_hold(ANNA, Hold(reason="Case 12", person_id=ANNA.user_id, until_at=timezone.now()))
    assert verified() == []
    release_hold(ANNA, hold)
    assert verified() == []


def test_a_hold_whose_entry_was_purged_is_not_missed(logbook: Logbook) -> None:
    release_hold(ANNA, place_hold(ANNA, Hold(reason="Case 12")))
    write(23)
    purge_entries(None, before=logbook.entry(23).at)
    assert verified() == []


def test_an_odd_entry_of_a_hold_ends_in_a_report(logbook: Logbook) -> None:
    place_hold(ANNA, Hold(reason="Case 12"))
    for detail in ("null", '{"person": []}'):
        with logbook.as_ruler() as cursor:
            cursor.execute("UPDATE audit_entry SET detail = %s WHERE action = 'hold.placed'", [detail])
        assert (21, "changed") in verified()


@pytest.mark.parametrize("column", ["until_at", "placed_at"])
def test_a_hold_whose_time_cannot_be_read_still_holds(logbook: Logbook, column: str) -> None:
    place_hold(ANNA, Hold(reason="Case 12"))
    write(22)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE audit_hold DISABLE TRIGGER USER")
        cursor.execute(f"UPDATE audit_hold SET {column} = 'infinity'")
        cursor.execute("ALTER TABLE audit_hold ENABLE TRIGGER USER")
    with pytest.raises(Conflict, match="Case 12"):
        purge_entries(None, before=logbook.entry(22).at)
    with pytest.raises(Conflict, match="Case 12"):
        erase_person(None, person_id=ANNA.user_id)
