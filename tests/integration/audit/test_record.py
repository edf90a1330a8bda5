"""What an entry says, and that nothing happens without one."""

from collections.abc import Callable
from typing import Any

import pytest
import structlog
from django.db import DatabaseError, connection, transaction
from django.db.models import DO_NOTHING

from audit.actions import Action, Outcome
from audit.models import AppendOnly, Entry, Link
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights
from knowledge.models import Folder
from knowledge.services.folders import create_folder, find_root_folder
from tests.factories import allow, make_base, make_user

pytestmark = pytest.mark.django_db


class Stop(Exception):
    """Ends a transaction."""


def entries(action: Action) -> int:
    return Entry.objects.filter(action=action).count()


def test_an_entry_says_who_did_what_to_what_and_from_where() -> None:
    base = make_base("Handbook")
    anna = make_user("anna")
    with structlog.contextvars.bound_contextvars(request_id="r-1", ip="192.0.2.7"):
        entry = record_action(
            Principal.of(anna),
            Action.SEARCHED,
            base,
            outcome=Outcome.DENY,
            reason="no_evidence",
            run_id="run-1",
            detail={"characters": 7},
        )
    entry.refresh_from_db()
    assert (entry.actor_id, entry.actor_name) == (anna.pk, "anna")
    assert (entry.action, entry.outcome, entry.reason) == ("search.performed", "deny", "no_evidence")
    assert (entry.target_type, entry.target_id, entry.target_name) == ("knowledgebase", str(base.pk), "Handbook")
    assert (entry.request_id, entry.address, entry.run_id) == ("r-1", "192.0.2.7", "run-1")
    assert entry.detail == {"characters": 7}


def test_an_entry_still_speaks_when_the_account_is_gone() -> None:
    anna = make_user("anna")
    entry = record_action(Principal.of(anna), Action.SIGNED_IN)
    anna.delete()
    entry.refresh_from_db()
    assert (entry.actor_name, entry.actor_id) == ("anna", entry.actor_id)


def test_long_names_and_reasons_are_cut_and_never_keep_an_entry_from_being_written() -> None:
    base = make_base("n" * 200)
    entry = record_action(Principal(1, "a" * 300, frozenset()), Action.SEARCHED, base, reason="r" * 900)
    assert (len(entry.actor_name), len(entry.reason), len(entry.target_name)) == (150, 500, 200)


@transaction.atomic
def make_base_and_stop() -> None:
    make_base("Handbook")
    assert entries(Action.KNOWLEDGE_BASE_CREATED) == 1
    raise Stop


def test_a_rolled_back_action_leaves_no_entry() -> None:
    with pytest.raises(Stop):
        make_base_and_stop()
    assert entries(Action.KNOWLEDGE_BASE_CREATED) == 0


def test_what_cannot_be_recorded_does_not_happen() -> None:
    anna, bert = make_user("anna"), make_user("bert")
    root = find_root_folder(make_base("Handbook"))
    allow(anna, root, *Right)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; ALTER TABLE audit_entry RENAME TO audit_entry_lost")
    with pytest.raises(DatabaseError):
        create_folder(Principal.of(anna), parent_id=root.pk, name="Rules")
    with pytest.raises(DatabaseError):
        grant_rights(None, [Right.VIEW], root, to=bert)
    assert not Folder.unscoped.filter(name="Rules").exists()
    assert not Folder.objects.visible_to(Principal.of(bert)).exists()


# --- entries are added and never changed: refused by the code, and by the database behind it ---

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
    made = record_action(None, Action.SIGNED_IN)
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
    record_action(None, Action.SIGNED_IN)
    with pytest.raises(DatabaseError, match="never changed or deleted"):
        run("DELETE FROM audit_entry")
