"""A hold that ends or shrinks without an entry is named: it is what keeps entries from being purged and erased."""

import pytest
from django.db import connection
from django.utils import timezone

from audit.models import Hold
from audit.retention import erase_person, place_hold, purge, release_hold
from copilot_site.lib.errors import Conflict
from tests.integration.audit.logbook import ANNA, Logbook, verified, write
from tests.integration.audit.test_odd_rows import undone

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
    purge(None, before=logbook.entry(23).at)
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
        purge(None, before=logbook.entry(22).at)
    with pytest.raises(Conflict, match="Case 12"):
        erase_person(None, person_id=ANNA.user_id)
