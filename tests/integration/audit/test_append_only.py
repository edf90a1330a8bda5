"""Entries are added and never changed: refused by the code, and by the database behind it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import DO_NOTHING

from audit.actions import Action
from audit.models import AppendOnly, Entry, Link
from audit.record import record

pytestmark = pytest.mark.django_db

STATEMENTS = {
    "update": "UPDATE audit_entry SET actor_name = 'somebody else'",
    "delete": "DELETE FROM audit_entry",
    "truncate": "TRUNCATE audit_entry",
    "truncate with others": "TRUNCATE audit_entry, agent_citation CASCADE",
}
WAYS: dict[str, Callable[[Entry], object]] = {
    "save": lambda entry: entry.save(),
    "save of a field": lambda entry: entry.save(update_fields=["actor_name"]),
    "delete": lambda entry: entry.delete(),
    "update of rows": lambda entry: Entry.objects.filter(pk=entry.pk).update(actor_name="x"),
    "delete of rows": lambda entry: Entry.objects.filter(pk=entry.pk).delete(),
    "update of all": lambda entry: Entry.objects.update(actor_name="x"),
    "bulk update": lambda entry: Entry.objects.bulk_update([entry], ["actor_name"]),
}


@pytest.fixture
def entry() -> Entry:
    made = record(None, Action.SIGNED_IN)
    run("SET CONSTRAINTS ALL IMMEDIATE")  # it is linked now, not at a commit that never comes
    return made


def run(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize("way", WAYS)
def test_code_is_refused(entry: Entry, way: str) -> None:
    entry.actor_name = "somebody else"
    with pytest.raises(AppendOnly), transaction.atomic():
        WAYS[way](entry)
    entry.refresh_from_db()
    assert entry.actor_name == ""


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_past_the_code_is_refused(entry: Entry, name: str) -> None:
    with pytest.raises(DatabaseError, match="never changed or deleted"):
        run(STATEMENTS[name])
    assert Entry.objects.filter(pk=entry.pk, actor_name="").exists()


def test_a_cascade_does_not_reach_entries() -> None:
    """An entry references nothing, and its link is not a foreign key of the database: no deleted row takes one with it."""
    assert [field.name for field in Entry._meta.get_fields() if field.is_relation] == ["link"]
    link: Any = Link._meta.get_field("entry")
    assert (link.remote_field.on_delete, link.db_constraint) == (DO_NOTHING, False)


@pytest.mark.parametrize("name", STATEMENTS)
def test_it_is_the_trigger_that_refuses(entry: Entry, name: str) -> None:
    run("ALTER TABLE audit_entry DISABLE TRIGGER USER")
    run(STATEMENTS[name])
    assert not Entry.objects.filter(pk=entry.pk, actor_name="").exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", ["first", "second"])
def test_a_committing_test_leaves_an_empty_log_and_its_triggers(turn: str) -> None:
    assert Entry.objects.count() == 0
    record(None, Action.SIGNED_IN)
    with pytest.raises(DatabaseError, match="never changed or deleted"):
        run("DELETE FROM audit_entry")
