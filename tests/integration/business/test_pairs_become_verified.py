"""A database with confirmed pairs is migrated: each becomes a verified answer of its source, and back."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from agent.models import VerifiedAnswer
from agent.verified_answers.wordings import hash_question
from business.models import DataSource

OLD = [("agent", "0001_initial"), ("business", "0001_initial")]
AT = datetime(2026, 10, 1, tzinfo=UTC)


@pytest.mark.django_db(transaction=True)
def test_confirmed_pairs_are_verified_answers() -> None:
    person = User.objects.create_user("lin")
    source = DataSource.unscoped.create(name="sales", database="nowhere", is_embedded=True)
    executor = MigrationExecutor(connection)
    newest = executor.loader.graph.leaf_nodes()
    try:
        executor.migrate(OLD)
        pairs = executor.loader.project_state(OLD).apps.get_model("business", "ConfirmedPair").objects
        for question, sql in (("How many?", "SELECT 1"), ("how  many", "SELECT 2"), ("Who?", "SELECT 3")):
            key = f"{len(question)}{sql}"
            pairs.create(
                source_id=source.pk, question=question, question_sha256=key, sql=sql, confirmed_by_id=person.pk
            )
        pairs.update(confirmed_at=AT)
        pairs.filter(sql="SELECT 2").update(confirmed_at=AT.replace(month=11))
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(newest)
    found = {row.question: row for row in VerifiedAnswer.unscoped.all()}
    assert {question: row.sql for question, row in found.items()} == {"how  many": "SELECT 2", "Who?": "SELECT 3"}
    row = found["Who?"]
    assert (row.source_id, row.verified_by, row.verified_at) == (source.pk, person, AT)
    assert [wording.key for wording in row.wordings.all()] == [row.question_key] == [hash_question("Who?")]
