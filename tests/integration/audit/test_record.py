"""What an entry says, and that nothing happens without one."""

import pytest
import structlog
from django.db import DatabaseError, connection, transaction

from audit.actions import Action, Outcome
from audit.models import Entry
from audit.record import record
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import give
from knowledge.models import Folder
from knowledge.services.folders import create_folder, root_folder
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
        entry = record(
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
    entry = record(Principal.of(anna), Action.SIGNED_IN)
    anna.delete()
    entry.refresh_from_db()
    assert (entry.actor_name, entry.actor_id) == ("anna", entry.actor_id)


def test_long_names_and_reasons_are_cut_and_never_keep_an_entry_from_being_written() -> None:
    base = make_base("n" * 200)
    entry = record(Principal(1, "a" * 300, frozenset()), Action.SEARCHED, base, reason="r" * 900)
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
    root = root_folder(make_base("Handbook"))
    allow(anna, root, *Right)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; ALTER TABLE audit_entry RENAME TO audit_entry_lost")
    with pytest.raises(DatabaseError):
        create_folder(Principal.of(anna), parent_id=root.pk, name="Rules")
    with pytest.raises(DatabaseError):
        give(None, [Right.VIEW], root, to=bert)
    assert not Folder.unscoped.filter(name="Rules").exists()
    assert not Folder.objects.visible_to(Principal.of(bert)).exists()
