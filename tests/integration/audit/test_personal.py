"""Names and addresses can go, and the chain stays whole."""

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from audit.actions import Action, Outcome
from audit.export import export_entries, format_named
from audit.models import Entry, Hold
from audit.personal import erase_person
from audit.record import record
from audit.retention import place_hold, release_hold
from audit.selectors import EntryFilter
from audit.verification import verify
from audit.verify_export import check
from tests.factories import make_user
from tests.integration.audit.logbook import ANNA, BERT, Logbook, Person, verified


def names(field: str = "actor_name") -> set[str]:
    return set(Entry.objects.values_list(field, flat=True))


def test_an_erased_person_is_in_no_entry_and_the_log_verifies(logbook: Logbook) -> None:
    record(BERT, Action.ACCESS_PREVIEWED, on_behalf_of=ANNA)
    removed = erase_person(BERT, person_id=ANNA.user_id)
    assert removed == 9 + 1  # her entries, each with name and address in one row; the preview
    assert names() == {"", "bert"}
    assert names("on_behalf_of_name") == {""}
    assert Entry.objects.filter(actor_id=ANNA.user_id, address__isnull=False).count() == 0
    assert Entry.objects.filter(actor_id=BERT.user_id, address__isnull=False).count() == 10
    assert Entry.objects.filter(actor_id=ANNA.user_id, salts__has_any_keys=["actor_name", "address"]).count() == 0
    report = verify()
    assert (report.faults, report.erased) == ([], 9 * 2 + 1)
    erasure = Entry.objects.get(action=Action.PERSON_ERASED)
    assert (erasure.actor_name, erasure.detail) == ("bert", {"person": ANNA.user_id, "values": 10})


def test_an_export_made_after_an_erasure_verifies_and_counts_what_is_gone(logbook: Logbook) -> None:
    erase_person(None, person_id=ANNA.user_id)
    content = b"".join(export_entries(None, chosen=EntryFilter(), form=format_named("jsonl")))
    assert b"anna" not in content
    found = check(iter(content.splitlines(keepends=True)))
    assert (found.faults, found.erased) == ([], 18)


def test_a_name_typed_at_a_failed_sign_in_is_erased_with_the_person(logbook: Logbook) -> None:
    carl = make_user("carl")
    record(None, Action.SIGN_IN_FAILED, carl, outcome=Outcome.DENY)
    erase_person(None, person_id=carl.pk)
    assert "carl" not in names("target_name")
    assert verified() == []


def test_what_is_written_after_an_erasure_and_emptied_is_noticed(logbook: Logbook) -> None:
    erase_person(None, person_id=ANNA.user_id)
    late = record(ANNA, Action.SEARCHED)
    with logbook.as_ruler() as cursor:
        cursor.execute("UPDATE audit_entry SET actor_name = '', salts = '{}' WHERE id = %s", [late.pk])
    assert verified() == [(22, "erased")]


@pytest.mark.parametrize(
    "change", ["actor_name = 'carl'", "address = '203.0.113.9'", 'salts = \'{"actor_name": "00"}\'', "outcome = 'deny'"]
)
def test_the_database_lets_an_erasure_empty_and_change_nothing(logbook: Logbook, change: str) -> None:
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


def test_the_command_erases_a_deleted_account_by_its_number(logbook: Logbook) -> None:
    call_command("erase_person", str(ANNA.user_id))
    assert names() == {"", "bert"}


def test_salts_are_never_used_twice(logbook: Logbook) -> None:
    salts = [salt for row in Entry.objects.values_list("salts", flat=True) for salt in row.values()]
    assert len(salts) == len(set(salts)) == 19 * 3


@pytest.mark.parametrize("name", ["a\0b", "\udcff", "=1+1", "员工" * 200])
def test_any_name_can_be_recorded(db: None, name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    record(Person(9, name), Action.SEARCHED, reason=name, target_name=name)
    assert verified() == []
