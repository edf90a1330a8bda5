"""What a search brings: as much as there is to see, never more, in whatever way it is computed."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import LazySettings
from pytest_django import DjangoAssertNumQueries

from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.ingestion.publish import refresh_statistics
from knowledge.models import ChunkIndex, Document, Folder, KnowledgeBase
from knowledge.retrieval.engine import load_reranker
from knowledge.retrieval.plan import make_plan
from knowledge.retrieval.search import PER_DOCUMENT, Scope, search
from tests.factories import allow, make_base, make_document, make_folder, make_user
from tests.sharing import share_world

pytestmark = pytest.mark.django_db

QUESTION = "How long is the notice period?"
LONG = "# Notice\n\n" + "\n\n".join(
    f"## Case {number}\n\n" + f"The notice period in case {number} is {number} weeks. " * 25 for number in range(1, 6)
)


def lines(number: int) -> str:
    return f"# Notice {number}\n\nThe notice period of contract {number} is {number} weeks.\n"


Library = tuple[Principal, KnowledgeBase, Folder, list[Document], Document]


def make_library() -> Library:
    """(reader, base, folder in it, four visible documents, a hidden one that answers as well).

    Documents 0 and 1 lie in the folder, 2 and 3 in the root; 3 is Chinese.
    """
    base = make_base()
    folder = make_folder(base)
    seen = [
        make_document(folder, "0.md", lines(0), ingested=True),
        make_document(folder, "1.md", lines(1), ingested=True),
        make_document(base, "2.md", lines(2), ingested=True),
        make_document(base, "3.md", "# 通知\n\n合同的通知期为三周。\n", ingested=True),
    ]
    hidden = make_document(make_base(), "hidden.md", lines(9), ingested=True)
    reader = make_user()
    allow(reader, base)
    return Principal.of(reader), base, folder, seen, hidden


shared_library, library = share_world("library", make_library)


def found(reader: Principal, query: str = QUESTION, top_k: int = 10, **scope: Any) -> list[UUID]:
    hits = search(reader, query, scope=Scope(**scope), top_k=top_k).hits
    return [hit.passage.document_id for hit in hits]


@pytest.mark.parametrize("limit", [0, 50_000], ids=["indexed", "exact"])
@pytest.mark.parametrize("top_k", [1, 3, 4, 10])
def test_as_many_as_asked_while_there_are_and_never_a_hidden_one(
    library: Library,
    settings: LazySettings,
    limit: int,
    top_k: int,
) -> None:
    reader, _base, _folder, seen, hidden = library
    settings.SEARCH_EXACT_LIMIT = limit
    ids = found(reader, top_k=top_k)
    assert len(ids) == len(set(ids)) == min(top_k, 4)
    assert set(ids) <= {document.pk for document in seen}
    assert hidden.pk not in ids


@pytest.mark.parametrize("query", [QUESTION, "通知期", "contract 2", "weeks", "tungsten"])
def test_the_indexes_and_the_exact_pass_find_the_same(library: Library, settings: LazySettings, query: str) -> None:
    reader = library[0]
    answers = []
    for settings.SEARCH_EXACT_LIMIT in (50_000, 0):
        hits = search(reader, query).hits
        answers.append([(hit.passage.chunk_id, round(hit.scores.final, 4)) for hit in hits])
    assert answers[0] == answers[1]
    assert answers[0]


def test_a_scope_narrows_and_never_widens(library: Library) -> None:
    reader, base, folder, seen, hidden = library
    ids = [document.pk for document in seen]
    expected: list[tuple[dict[str, Any], set[UUID]]] = [
        ({}, set(ids)),
        ({"knowledge_base_ids": (base.pk,)}, set(ids)),
        ({"folder_ids": (folder.pk,)}, set(ids[:2])),
        ({"folder_ids": (seen[2].folder_id,)}, set(ids)),  # the root, with everything below it
        ({"folder_ids": (seen[2].folder_id, folder.pk)}, set(ids)),
        ({"document_ids": (ids[1], hidden.pk)}, {ids[1]}),
        ({"language": "zh"}, {ids[3]}),
        ({"language": "en"}, set(ids[:3])),
        ({"language": "ja"}, set()),
        ({"folder_ids": (folder.pk,), "document_ids": (ids[2],)}, set()),
        ({"knowledge_base_ids": (hidden.knowledge_base_id,)}, set()),
        ({"folder_ids": (hidden.folder_id,)}, set()),
        ({"document_ids": (hidden.pk,)}, set()),
        ({"knowledge_base_ids": (uuid4(),)}, set()),
    ]
    for scope, right in expected:
        assert set(found(reader, **scope)) == right, scope


def test_the_document_too_says_where_its_rights_are_read_from(library: Library) -> None:
    """An index row that names a visible folder shows nothing of a document that has gone to a hidden one."""
    reader, _base, _folder, seen, hidden = library
    Document.unscoped.filter(pk=seen[0].pk).update(access=hidden.access)
    assert set(found(reader)) == {document.pk for document in seen[1:]}


@pytest.mark.parametrize("which", ["maxsim", "none"])
def test_rows_are_read_by_the_statement_that_finds_them(
    library: Library,
    settings: LazySettings,
    which: str,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    """What is seen and how rare the words are; then candidates, token vectors and texts. Nothing is asked for once more."""
    settings.RERANKER = which
    load_reranker.cache_clear()
    try:
        with django_assert_num_queries(2):
            assert len(found(library[0])) == 4
    finally:
        load_reranker.cache_clear()


def test_what_can_be_seen_is_counted_once(library: Library) -> None:
    reader, _base, folder, seen, _hidden = library
    assert make_plan(reader, Scope()).visible == 4
    assert make_plan(reader, Scope(folder_ids=(folder.pk,))).visible == 2
    assert make_plan(reader, Scope(folder_ids=(folder.pk, seen[2].folder_id))).visible == 4
    assert make_plan(Principal.of(make_user()), Scope()).visible == 0


def test_one_document_does_not_crowd_out_the_others() -> None:
    base = make_base()
    long = make_document(base, "long.md", LONG, ingested=True)
    other = make_document(base, "other.md", "# Canteen\n\nLunch is at noon.\n", ingested=True)
    reader = make_user()
    allow(reader, base)
    ids = found(Principal.of(reader))
    assert ids.count(long.pk) > PER_DOCUMENT
    assert ids[: PER_DOCUMENT + 1] == [long.pk] * PER_DOCUMENT + [other.pk]


@pytest.mark.parametrize("query", ["", "  \n\t", "\u200b\u0000", "x" * 4_001, "x" * 20_000])
def test_a_question_that_is_none_or_too_long_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput):
        search(Principal.of(make_user()), query)


NAUGHTY = [
    "'; DROP TABLE knowledge_chunk; --", "%s %(vector)s %d %%", "{folders} {0}", "\\", "$$", "\u0000a", "\ud800a",
    "NaN", "[1,2,3]/4", "{1:1}/5", "🙂👩‍👩‍👧", "ﷺ", "a" * 3_999, "的" * 3_999, "\u202eabc", "<script>", "...", "null", "-1e999",
]  # fmt: skip


@pytest.mark.parametrize("limit", [0, 50_000], ids=["indexed", "exact"])
def test_no_question_breaks_a_search(library: Library, settings: LazySettings, limit: int) -> None:
    settings.SEARCH_EXACT_LIMIT = limit
    seen = {document.pk for document in library[3]}
    for query in NAUGHTY:
        assert set(found(library[0], query)) <= seen, query


def test_weights_are_made_again_when_the_average_length_has_moved(library: Library) -> None:
    reader, base, _folder, _seen, _hidden = library
    rows = ChunkIndex.unscoped.filter(knowledge_base=base).order_by("chunk_id")
    before = [row.lexical.values() for row in rows]
    assert base.average_terms == 250.0
    assert refresh_statistics(base)
    base.refresh_from_db()
    lengths = [row.term_total for row in rows]
    assert base.average_terms == pytest.approx(sum(lengths) / len(lengths))
    after = [row.lexical.values() for row in rows.all()]
    assert all(max(new) < max(old) for new, old in zip(after, before, strict=True)), "shorter than thought: less weight"
    assert not refresh_statistics(base), "nothing has moved since"
    assert len(found(reader)) == 4
