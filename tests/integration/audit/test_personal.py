"""Names and addresses can go, and the chain stays whole."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit.actions import Action, Outcome
from audit.chain.keys import public_key_of, read_signing_key
from audit.chain.verification import verify_log
from audit.export import export_entries, find_export_format
from audit.models import Entry, Hold
from audit.record import record_action
from audit.retention import erase_person, place_hold, release_hold
from audit.selectors import EntryFilter
from audit.verify_export import Export, check_export
from tests.factories import make_user
from tests.integration.audit.logbook import ANNA, BERT, Logbook, Person, verified


def names(field: str = "actor_name") -> set[str]:
    return set(Entry.objects.values_list(field, flat=True))


def test_an_erased_person_is_in_no_entry_and_the_log_verifies(logbook: Logbook) -> None:
    record_action(BERT, Action.ACCESS_PREVIEWED, on_behalf_of=ANNA)
    removed = erase_person(BERT, person_id=ANNA.user_id)
    assert removed == 9 + 1  # her entries, each with name and address in one row; the preview
    assert names() == {"", "bert"}
    assert names("on_behalf_of_name") == {""}
    assert Entry.objects.filter(actor_id=ANNA.user_id, address__isnull=False).count() == 0
    assert Entry.objects.filter(actor_id=BERT.user_id, address__isnull=False).count() == 10
    assert Entry.objects.filter(actor_id=ANNA.user_id, salts__has_any_keys=["actor_name", "address"]).count() == 0
    report = verify_log()
    assert (report.faults, report.erased) == ([], 9 * 2 + 1)
    erasure = Entry.objects.get(action=Action.PERSON_ERASED)
    assert (erasure.actor_name, erasure.detail) == ("bert", {"person": ANNA.user_id, "values": 10})


def test_an_export_made_after_an_erasure_verifies_and_counts_what_is_gone(logbook: Logbook) -> None:
    erase_person(None, person_id=ANNA.user_id)
    content = exported()
    assert b"anna" not in content
    found = checked(content)
    assert (found.faults, found.erased) == ([], 18)


def exported(**chosen: Any) -> bytes:
    return b"".join(export_entries(None, chosen=EntryFilter(**chosen), form=find_export_format("jsonl")))


def checked(content: bytes, *trusted: str) -> Export:
    return check_export(iter(content.splitlines(keepends=True)), trusted)


@pytest.mark.parametrize(
    ("what", "field"),
    [("actor_name = '', salts = salts - 'actor_name'", "actor_name"), ("address = NULL, salts = salts - 'address'", "address")],
)  # fmt: skip
def test_an_export_names_what_was_emptied_without_a_recorded_erasure(logbook: Logbook, what: str, field: str) -> None:
    """Whoever rules the database emptied it, and the key signed the export; an erasure of somebody else is no reason."""
    erase_person(None, person_id=BERT.user_id)
    with logbook.as_ruler() as cursor:
        cursor.execute(f"UPDATE audit_entry SET {what} WHERE id = %s", [logbook.entry(9).pk])
    found = checked(exported(), public_key_of(read_signing_key()))
    assert [(seq, what) for _line, seq, what in found.faults] == [(9, f"{field} is gone without its erasure")]
    assert found.first_bad == 9
    assert verified() == [(9, "erased")]
    erase_person(None, person_id=ANNA.user_id)
    assert checked(exported()).faults == [], "from now on it would be gone anyway"


def test_an_odd_erasure_erases_nothing(logbook: Logbook) -> None:
    erase_person(None, person_id=ANNA.user_id)
    for detail in ("[]", '{"person": null}', '{"person": [7000007]}', '{"person": true}'):
        with logbook.as_ruler() as cursor:
            cursor.execute("UPDATE audit_entry SET detail = %s WHERE action = 'person.erased'", [detail])
        found = checked(exported())
        named = {seq for _line, seq, what in found.faults if "without its erasure" in what}
        assert named == set(range(3, 21, 2)), detail


def test_a_part_without_the_erasure_says_that_it_is_not_shown(logbook: Logbook) -> None:
    """Whatever the key signed: that the erasure was recorded stands in the whole log."""
    erase_person(None, person_id=ANNA.user_id)
    key = public_key_of(read_signing_key())
    part = checked(exported(run_id="run-2"), key)
    assert (part.faults, part.erased) == ([], 4)
    assert "4 names or addresses are gone, and no erasure of them is in this part" in part.unshown
    with_it = checked(exported(until=timezone.now()), key)
    assert (with_it.faults, with_it.erased, with_it.unshown) == ([], 18, "")
    assert checked(exported(actor="bert"), key).unshown == "", "nothing of his is gone"


def test_a_name_typed_at_a_failed_sign_in_is_erased_with_the_person(logbook: Logbook) -> None:
    carl = make_user("carl")
    record_action(None, Action.SIGN_IN_FAILED, carl, outcome=Outcome.DENY)
    erase_person(None, person_id=carl.pk)
    assert "carl" not in names("target_name")
    assert verified() == []


def test_what_is_written_after_an_erasure_and_emptied_is_noticed(logbook: Logbook) -> None:
    erase_person(None, person_id=ANNA.user_id)
    late = record_action(ANNA, Action.SEARCHED)
    with logbook.as_ruler() as cursor:
        cursor.execute("UPDATE audit_entry SET actor_name = '', salts = '{}' WHERE id = %s", [late.pk])
    assert verified() == [(22, "erased")]
    assert checked(exported()).first_bad == 22


def test_the_database_lets_an_erasure_empty_and_change_nothing(logbook: Logbook) -> None:
    for change in (
        "actor_name = 'carl'",
        "address = '203.0.113.9'",
        'salts = \'{"actor_name": "00"}\'',
        "outcome = 'deny'",
    ):
        with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
            connection.cursor().execute(f"UPDATE audit_entry SET {change}")
    assert verified() == []


@pytest.mark.parametrize("is_theirs", [False, True])
def test_a_legal_hold_keeps_the_names(logbook: Logbook, *, is_theirs: bool) -> None:
    gone = make_user("gone", is_active=False)
    hold = place_hold(BERT, Hold(reason="Case 12", person_id=gone.pk if is_theirs else None))
    with pytest.raises(CommandError, match="“Case 12” covers this person"):
        call_command("erase_person", "gone")
    release_hold(BERT, hold)
    call_command("erase_person", "gone")
    assert Entry.objects.filter(action=Action.PERSON_ERASED).count() == 1


def test_a_hold_on_somebody_else_does_not(logbook: Logbook) -> None:
    place_hold(None, Hold(reason="Case 12", person_id=BERT.user_id))
    assert erase_person(None, person_id=ANNA.user_id) == 9


@pytest.mark.parametrize(
    ("user", "sentence"), [("nobody", "There is no account “nobody”"), ("carl", "“carl” is in use: disable or delete")]
)
def test_the_command_says_what_is_wrong(db: None, user: str, sentence: str) -> None:
    make_user("carl")
    with pytest.raises(CommandError, match=sentence):
        call_command("erase_person", user)
    assert Entry.objects.count() == 0


def test_salts_are_never_used_twice(logbook: Logbook) -> None:
    salts = [salt for row in Entry.objects.values_list("salts", flat=True) for salt in row.values()]
    assert len(salts) == len(set(salts)) == 19 * 3


def test_any_name_can_be_recorded(logbook: Logbook) -> None:
    for name in ("a\0b", "\udcff", "员工" * 200):
        record_action(Person(9, name), Action.SEARCHED, reason=name, target_name=name)
    assert verified() == []
