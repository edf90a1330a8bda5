"""How PostgreSQL carries out what a page of the library asks: it reads what the page shows, however much somebody may see."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection, transaction

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights
from evals.rights_world import make_member, make_tree
from knowledge.library import (
    count_unfinished_documents,
    list_folder_documents,
    list_hidden_folder_documents,
    load_document_rows,
)
from knowledge.models import Document, DocumentVersion, Folder, KnowledgeBase, ParseStatus
from knowledge.services.access_nodes import ensure_access_node
from tests.plans import executed

pytestmark = pytest.mark.django_db

FOLDERS, IN_EACH = 200, 10
APART, WAITING = 3, 5  # documents with exceptions, versions that are still read, in the last folder
TABLES = ("knowledge_document", "knowledge_documentversion")


@dataclass(frozen=True)
class Library:
    """reader: of all of it. guest: of the documents with exceptions alone. documents: of the folder."""

    base: KnowledgeBase
    folder: Folder
    documents: list[Document]
    reader: Principal
    guest: Principal


@pytest.fixture(scope="module")
def library(django_db_setup: None, django_db_blocker: Any) -> Iterator[Library]:
    """A base of many folders; rolled back after the last test."""
    with django_db_blocker.unblock(), transaction.atomic():
        base, folders = make_tree(FOLDERS)
        documents = [
            Document(knowledge_base=base, folder=folder, access=folder, filename=f"{number}.md", title="a")
            for folder in folders
            for number in range(IN_EACH)
        ]
        Document.unscoped.bulk_create(documents)
        versions = [DocumentVersion(document=item, number=1, size_bytes=1) for item in documents]
        for version in versions[:-WAITING]:
            version.parse_status = ParseStatus.COMPLETED
        DocumentVersion.unscoped.bulk_create(versions)
        (reader, (readers,)), (guest, (guests,)) = make_member(1), make_member(1)
        grant_rights(None, [Right.VIEW], base, to=readers)
        last = documents[-IN_EACH:]
        for document in last[:APART]:
            grant_rights(None, [Right.VIEW], ensure_access_node(document), to=guests)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("ANALYZE")
        yield Library(base, folders[-1], last, Principal.of(reader), Principal.of(guest))
        transaction.set_rollback(True)


def shown(library: Library, name: str) -> int:
    """How many documents the page has, or counts."""
    reader, guest, folder = library.reader, library.guest, library.folder
    pages: dict[str, Callable[[], Any]] = {
        "a folder": lambda: list_folder_documents(reader, folder).object_list,
        "some rows": lambda: load_document_rows(reader, folder, [item.pk for item in library.documents[:2]]),
        "what waits": lambda: range(count_unfinished_documents(reader, folder)),
        "beside their folders": lambda: list_hidden_folder_documents(guest, library.base),
    }
    return len(pages[name]())


def most_read(library: Library, name: str) -> int:
    """Rows of documents and versions that one of its statements looks at."""
    most = 0
    for table in TABLES:
        with executed(table) as statements:
            shown(library, name)
        assert statements
        most = max(most, *(statement.rows_read for statement in statements))
    return most


@pytest.mark.parametrize(
    ("name", "count"),
    [("a folder", IN_EACH), ("some rows", 2), ("what waits", WAITING), ("beside their folders", APART)],
)
def test_a_page_reads_what_it_shows(library: Library, name: str, count: int) -> None:
    assert shown(library, name) == count
    assert most_read(library, name) <= 2 * IN_EACH


@pytest.mark.parametrize("name", ["a folder", "some rows", "what waits", "beside their folders"])
def test_without_an_index_a_page_reads_everything(library: Library, name: str) -> None:
    """The control: what is counted above would be seen."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexonlyscan = off"
        )
    assert most_read(library, name) >= FOLDERS * IN_EACH
