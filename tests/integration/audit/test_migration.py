"""Entries from before the chain are linked in their order, and changed in nothing that they say."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from audit.actions import Action
from audit.models import Entry, Link
from audit.record import record
from audit.verification import verify

BEFORE = [("audit", "0002_refuse_changes")]
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def migrate_to(targets: list[tuple[str, str]]) -> Any:
    """The models as they are there."""
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.fixture
def old(transactional_db: None) -> Iterator[Any]:
    yield migrate_to(BEFORE)
    migrate_to([leaf for leaf in MigrationExecutor(connection).loader.graph.leaf_nodes() if leaf[0] == "audit"])


def test_what_was_there_is_linked_in_its_order_and_verifies(old: Any) -> None:
    rows = old.get_model("audit", "Entry").objects
    for number in range(5):
        made = rows.create(
            actor_id=number, actor_name=f"person{number}", action="search.performed", target_name="Rules", address="::1",
            detail={"characters": number, "score": 0.5},
        )  # fmt: skip
        assert made.at > BEGAN - timedelta(days=1)
    rows.create(action="auth.sign_in_failed", outcome="deny", reason="somebody")
    latest = [leaf for leaf in MigrationExecutor(connection).loader.graph.leaf_nodes() if leaf[0] == "audit"]
    migrate_to(latest)
    assert [link.entry_id for link in Link.objects.order_by("seq")] == list(
        Entry.objects.order_by("id").values_list("id", flat=True)
    )
    assert [entry.actor_name for entry in Entry.objects.order_by("id")[:2]] == ["person0", "person1"]
    failed = Entry.objects.get(action=Action.SIGN_IN_FAILED)
    assert (failed.reason, failed.target_type, failed.target_name) == ("", "user", "somebody")
    record(None, Action.SEARCHED)
    report = verify()
    assert (report.faults, report.entries, report.last) == ([], 7, 7)


def test_an_empty_log_migrates_and_begins_with_one(old: Any) -> None:
    migrate_to([leaf for leaf in MigrationExecutor(connection).loader.graph.leaf_nodes() if leaf[0] == "audit"])
    record(None, Action.SEARCHED)
    assert (verify().faults, Link.objects.get().seq) == ([], 1)
