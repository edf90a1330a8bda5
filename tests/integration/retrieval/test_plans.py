"""How PostgreSQL carries out the statements of a search: recall cannot show it, for whoever reads everything finds everything."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection, transaction

from authz.principal import Principal
from knowledge.models import Document, EmbeddingSpace
from knowledge.retrieval import candidates
from knowledge.retrieval.candidates import Candidate, IndexQuery, find_candidates
from knowledge.retrieval.engine import load_engine
from knowledge.retrieval.plan import Scope, make_plan
from knowledge.retrieval.search import search
from knowledge.selectors import list_document_passages
from knowledge.services.indexes import BUILD_MEMORY, build_index_statements
from knowledge.tool_selectors import load_document_facts
from tests.plans import Executed, executed
from tests.synthetic_passages import Collection

pytestmark = pytest.mark.django_db

PASSAGES = 8_000  # in a thousand folders
DEPTH = 50
JOINED = "i.folder_id IN ({folders})"
# What the pages show of the passages, which a search alone does not need.
SHOWN = (
    """
    INSERT INTO knowledge_chunk (
        knowledge_base_id, id, document_id, version_id, position, text, heading_path, kind, page_starts, start, "end", length_tokens
    )
    SELECT knowledge_base_id, chunk_id, document_id, version_id, 0, 'a', '{}', 'text', '{}', 0, 1, 1 FROM knowledge_chunkindex""",
    """
    UPDATE knowledge_document d SET current_version_id = v.id
    FROM knowledge_documentversion v WHERE v.document_id = d.id""",
)


@pytest.fixture(scope="module")
def collection(django_db_setup: None, django_db_blocker: Any) -> Iterator[Collection]:
    """Passages with both indexes and statistics; rolled back after the last test."""
    with django_db_blocker.unblock(), transaction.atomic():
        made = Collection(PASSAGES, seed=1)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # or no index could be built on the rows just written
        with connection.cursor() as cursor:
            cursor.execute(BUILD_MEMORY.replace("SET", "SET LOCAL"))
            for statement in build_index_statements(made.space).values():
                cursor.execute(statement.replace(" CONCURRENTLY", ""))
            for statement in (*SHOWN, "ANALYZE"):
                cursor.execute(statement)
        yield made
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def readers(collection: Collection) -> dict[float, Principal]:
    """{share of the passages: who sees it}."""
    return {share: collection.reader(share) for share in (1.0, 0.1, 0.01)}


def ask(
    collection: Collection, who: Principal, *, use_indexes: bool, scope: Scope | None = None
) -> tuple[list[Candidate], Executed]:
    """What a search finds, and how."""
    vector, term = collection.question()
    with executed() as statements:
        found = find_candidates(
            who,
            IndexQuery(vector, {term: 1.0}),
            scope or Scope(),
            space_id=collection.space.pk,
            depth=DEPTH,
            use_indexes=use_indexes,
            rare_terms=[term],
            share=make_plan(who, Scope()).share,
        )
    (statement,) = statements
    return found, statement


def assert_by_indexes(collection: Collection, statement: Executed) -> None:
    """Each index once, whatever the number of folders, and most rows are never looked at."""
    assert statement.index_scans.get(f"chunk_vectors_{collection.space.pk}") == 1
    assert statement.index_scans.get("chunk_terms") == 1
    assert statement.index_scans.get("chunks_of_folder", 0) <= 1
    assert statement.rows_read < PASSAGES / 2
    assert statement.most_sorted < PASSAGES / 10


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_above_the_limit_each_index_is_read_once(
    collection: Collection, readers: dict[float, Principal], share: float
) -> None:
    found, statement = ask(collection, readers[share], use_indexes=True)
    assert_by_indexes(collection, statement)
    assert len(found) >= DEPTH


def test_above_the_limit_a_base_as_scope_changes_nothing(
    collection: Collection, readers: dict[float, Principal]
) -> None:
    scope = Scope(knowledge_base_ids=(collection.base.pk,))
    _found, statement = ask(collection, readers[1.0], use_indexes=True, scope=scope)
    assert_by_indexes(collection, statement)


def test_folders_that_are_joined_first_leave_no_index_to_use(
    collection: Collection, readers: dict[float, Principal], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the statement as it was reads everything, and the test above sees it."""
    for name in ("{held}", "{worded_held}"):
        assert name in candidates.INDEXED
        monkeypatch.setattr(candidates, "INDEXED", candidates.INDEXED.replace(name, JOINED))
    _found, statement = ask(collection, readers[1.0], use_indexes=True)
    with pytest.raises(AssertionError):
        assert_by_indexes(collection, statement)


@pytest.mark.parametrize("share", [1.0, 0.1, 0.01])
def test_one_pass_reads_what_is_visible_and_nothing_else(
    collection: Collection, readers: dict[float, Principal], share: float
) -> None:
    who = readers[share]
    _found, statement = ask(collection, who, use_indexes=False)
    assert {"chunk_terms", f"chunk_vectors_{collection.space.pk}"}.isdisjoint(statement.index_scans)
    assert make_plan(who, Scope()).visible == round(share * PASSAGES)
    assert statement.rows_read == share * PASSAGES


def test_the_limit_decides(collection: Collection, readers: dict[float, Principal], settings: LazySettings) -> None:
    who = readers[0.1]
    EmbeddingSpace.objects.filter(pk=collection.space.pk).update(name=load_engine().space)
    visible = make_plan(who, Scope()).visible
    for settings.SEARCH_EXACT_LIMIT, is_indexed in ((visible - 1, True), (visible, False)):
        with executed() as statements:
            search(who, "How long is the notice period?")
        (statement,) = statements
        assert (f"chunk_vectors_{collection.space.pk}" in statement.index_scans) is is_indexed


def test_where_the_index_gives_up_the_rest_is_read_exactly(
    collection: Collection, readers: dict[float, Principal], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many rows as are asked for come while as many are visible, whatever the index was allowed to look at."""
    stingy = tuple(
        setting.replace("800", "1").replace("40000", "1").replace("relaxed_order", "off")
        for setting in candidates.INDEX_SETTINGS
    )
    monkeypatch.setattr(candidates, "INDEX_SETTINGS", stingy)
    who = readers[0.01]
    found, _statement = ask(collection, who, use_indexes=True)
    assert len(found) >= DEPTH
    # and the control: without the rest few come
    monkeypatch.setattr(candidates, "INDEXED", candidates.INDEXED.replace("(SELECT count(*) FROM near) <", "0 >"))
    found, _statement = ask(collection, who, use_indexes=True)
    assert len(found) < DEPTH


@pytest.mark.parametrize(
    "read",
    [list_document_passages, lambda who, document: load_document_facts(who, [str(document.pk)], scope=Scope())],
    ids=["passages of a document", "facts"],
)
def test_what_is_asked_for_by_its_id_is_not_looked_for_among_all_that_is_visible(
    collection: Collection, readers: dict[float, Principal], read: Callable[[Principal, Document], Any]
) -> None:
    document = Document.objects.visible_to(readers[1.0]).first()
    assert document is not None
    with executed("knowledge_chunk") as statements:
        read(readers[1.0], document)
    assert 0 < max(statement.rows_read for statement in statements) <= 2 * PASSAGES / 1_000, "those of the document"
