"""The indexes of large collections, and moving to another embedding space."""

from contextlib import closing

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.db import connection

from authz.principal import Principal
from copilot_site import doctor
from knowledge.models import ChunkIndex, EmbeddingSpace
from knowledge.retrieval import engine
from knowledge.retrieval.search import search
from knowledge.services.indexes import build_search_indexes
from tests.factories import allow, make_base, make_document, make_user

QUESTION = "How long is the notice period?"


@pytest.fixture
def reader() -> Principal:
    """Who may see one of two documents that answer."""
    base, hidden = make_base(), make_base()
    make_document(base, "seen.md", "# Notice\n\nThe notice period is three weeks.\n", ingested=True)
    make_document(hidden, "hidden.md", "# Notice\n\nThe notice period is nine weeks.\n", ingested=True)
    user = make_user()
    allow(user, base)
    return Principal.of(user)


def index_names() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'knowledge_chunkindex'")
        return {name for (name,) in cursor.fetchall()}


@pytest.mark.django_db(transaction=True)
def test_indexes_are_built_once_past_the_limit_and_search_stays_within_rights(
    reader: Principal, settings: LazySettings
) -> None:
    assert build_search_indexes() == []
    settings.SEARCH_EXACT_LIMIT = 0
    space = EmbeddingSpace.objects.get()
    try:
        assert set(build_search_indexes()) == {f"chunk_vectors_{space.pk}", "chunk_terms"} <= index_names()
        assert build_search_indexes() == []
        assert [hit.passage.filename for hit in search(reader, QUESTION).hits] == ["seen.md"]
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX IF EXISTS chunk_vectors_{space.pk}, chunk_terms")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("reader")
def test_an_index_that_another_process_builds_is_left_to_it(settings: LazySettings) -> None:
    """What is not valid yet may be in the middle of its build: dropping it is a deadlock of the two."""
    settings.SEARCH_EXACT_LIMIT = 0
    space = EmbeddingSpace.objects.get()
    try:
        with closing(connection.copy()) as elsewhere, elsewhere.cursor() as other:
            other.execute("SELECT pg_advisory_lock(hashtextextended('tend indexes', 0))")
            assert build_search_indexes() == []
            assert not {f"chunk_vectors_{space.pk}", "chunk_terms"} & index_names()
        assert set(build_search_indexes(patience_s=10)) == {f"chunk_vectors_{space.pk}", "chunk_terms"}
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX IF EXISTS chunk_vectors_{space.pk}, chunk_terms")


@pytest.mark.django_db
def test_another_space_finds_nothing_until_it_is_filled_and_the_doctor_says_so(
    reader: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor.check_search_index().ok
    monkeypatch.setattr(engine, "POOLING", "tokens-2")
    assert search(reader, QUESTION).hits == []
    assert not doctor.check_search_index().ok
    assert "2 published documents" in doctor.check_search_index().detail
    call_command("reindex")
    assert doctor.check_search_index().ok
    assert [hit.passage.filename for hit in search(reader, QUESTION).hits] == ["seen.md"]
    assert ChunkIndex.unscoped.values("space").distinct().count() == 2
