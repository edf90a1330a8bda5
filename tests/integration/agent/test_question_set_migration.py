"""Runs from before they kept the words they asked: they are given those that there are."""

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

BEFORE = [("agent", "0025_ask_before_the_web_by_profile")]
AFTER = [("agent", "0026_keep_the_words_of_asked_questions")]


@pytest.mark.django_db(transaction=True)
def test_results_get_the_words_of_their_questions() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(BEFORE)
    try:
        old: Any = executor.loader.project_state(BEFORE).apps
        models = [old.get_model(*names)._base_manager for names in [
            ("auth", "User"), ("agent", "QuestionSet"), ("agent", "Case"), ("agent", "SetRun"), ("agent", "CaseResult"),
        ]]  # fmt: skip
        users, sets, cases, runs, results = models
        person, within = users.create(username="board"), sets.create(name="Leave")
        run = runs.create(question_set=within, started_by=person)
        for question in ("How many days?", "What pay?"):
            results.create(run=run, case=cases.create(question_set=within, question=question, person=person))
        after = MigrationExecutor(connection)
        after.migrate(AFTER)
        then: Any = after.loader.project_state(AFTER).apps.get_model("agent", "CaseResult")._base_manager
        assert set(then.values_list("question", flat=True)) == {"How many days?", "What pay?"}
        sets.all().delete()
        users.all().delete()
    finally:
        last = MigrationExecutor(connection)
        last.migrate(last.loader.graph.leaf_nodes())
