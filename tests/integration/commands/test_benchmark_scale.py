"""`manage.py benchmark scale`: a collection that grows, and goes on where it was interrupted."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from evals import scale_world
from knowledge.models import ChunkIndex, KnowledgeBase
from tests.factories import allow, make_base, make_document, make_folder, make_user

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = ["scale", "--kb", "Handbook", "--as", "anna", "--questions", "2"]
PAGES = {
    "leave": "# Annual leave\n\nEmployees have thirty days of annual leave.",
    "travel": "# Flights\n\nFlights are booked in economy class by the office.",
    "security": "# Passwords\n\nA password has at least twelve characters.",
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty folders and batches of forty passages; a handbook to mix them from."""
    monkeypatch.setattr(scale_world, "FOLDERS", 30)
    monkeypatch.setattr(scale_world, "BATCH", 40)
    base = make_base("Handbook")
    for name, text in PAGES.items():
        make_document(make_folder(base, name), f"{name}.md", text, ingested=True)
    allow(make_user("anna"), base)


@pytest.fixture(autouse=True)
def without_indexes() -> Any:
    yield
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT string_agg(indexname, ', ') FROM pg_indexes WHERE indexname ~ '^chunk_(vectors_|terms$)'"
        )
        if names := cursor.fetchone()[0]:
            cursor.execute(f"DROP INDEX {names}")


def synthetic() -> dict[Any, Any]:
    """{id of a passage: its vector}."""
    rows = ChunkIndex.unscoped.filter(knowledge_base__name__startswith="Benchmark")
    return dict(rows.values_list("chunk_id", "vector"))


def test_an_interrupted_collection_goes_on_where_it_stopped() -> None:
    with connection.execute_wrapper(interrupted_at("knowledge_document", time=3)), pytest.raises(KeyboardInterrupt):
        call_command("benchmark", *WORDS, "--passages", "200")
    before = synthetic()
    assert len(before) == 80, "two batches of forty were finished"

    call_command("benchmark", *WORDS, "--passages", "200")
    after = synthetic()
    assert len(after) == 200
    assert {pk: vector for pk, vector in after.items() if pk in before} == before
    assert KnowledgeBase.unscoped.filter(name__startswith="Benchmark").count() == 1
    with pytest.raises(CommandError, match="has 200 passages already"):
        call_command("benchmark", *WORDS, "--passages", "100")


def interrupted_at(table: str, *, time: int) -> Callable[..., Any]:
    """Ctrl-C in the middle of a batch: at the `time`-th insertion into a table."""
    left = [time]

    def wrapper(execute: Callable[..., Any], sql: str, *args: Any) -> Any:
        if sql.startswith(f'INSERT INTO "{table}"'):
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
        return execute(sql, *args)

    return wrapper
