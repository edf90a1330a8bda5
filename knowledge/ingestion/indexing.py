"""Passages into the index of one embedding space: vectors, term weights and token vectors, a batch at a time.

Rows are written by COPY: vectors go as binary, a batch is one round trip.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from knowledge.models import Chunk, ChunkIndex, Document, DocumentVersion
from knowledge.retrieval.engine import Engine
from knowledge.selectors import build_passage_text
from knowledge.text.terms import build_sparse_vector, compute_lexical_weights, count_terms

BATCH = 32  # passages in one write: a second or two of work

INDEX_COLUMNS = (
    "knowledge_base_id", "chunk_id", "space_id", "folder_id", "document_id", "version_id",
    "language", "live", "term_total", "vector", "lexical", "term_ids",
)  # fmt: skip
INDEX_TYPES = (
    "uuid",
    "uuid",
    "int2",
    "uuid",
    "uuid",
    "uuid",
    "varchar",
    "bool",
    "int4",
    "halfvec",
    "sparsevec",
    "int4[]",
)
TOKEN_COLUMNS = ("knowledge_base_id", "chunk_id", "space_id", "version_id", "packed")
TOKEN_TYPES = ("uuid", "uuid", "int2", "uuid", "bytea")


@dataclass(frozen=True)
class IndexRow:
    """One passage in one embedding space, ready to be written.

    vector: (dimensions,), unit length. lexical: {term id: weight}. packed: token vectors, None without late interaction.
    """

    knowledge_base_id: UUID
    chunk_id: UUID
    space_id: int
    folder_id: UUID
    document_id: UUID
    version_id: UUID
    language: str
    live: bool
    term_total: int
    vector: NDArray[np.float32]
    lexical: Mapping[int, float]
    packed: bytes | None


def write_index_rows(rows: Sequence[IndexRow]) -> None:
    """Write the rows and their token vectors; runs inside the caller's transaction."""
    connection.ensure_connection()
    if connection.connection.adapters.types.get("sparsevec") is None:  # four statements, once in a connection
        register_vector(connection.connection)
    copy_rows(
        "knowledge_chunkindex",
        INDEX_COLUMNS,
        INDEX_TYPES,
        [
            (
                row.knowledge_base_id, row.chunk_id, row.space_id, row.folder_id, row.document_id, row.version_id,
                row.language, row.live, row.term_total, HalfVector(row.vector), build_sparse_vector(row.lexical), sorted(row.lexical),
            )
            for row in rows
        ],
    )  # fmt: skip
    copy_rows(
        "knowledge_chunktokens",
        TOKEN_COLUMNS,
        TOKEN_TYPES,
        [
            (row.knowledge_base_id, row.chunk_id, row.space_id, row.version_id, row.packed)
            for row in rows
            if row.packed is not None
        ],
    )


def copy_rows(table: str, columns: Sequence[str], types: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Append rows to a table by binary COPY; types: PostgreSQL's names of the columns' types."""
    if not rows:
        return
    names = ", ".join(f'"{name}"' for name in columns)
    statement = f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


def find_unindexed_passages(version: DocumentVersion, engine: Engine) -> tuple[int, list[Chunk]]:
    """Return how many passages of a version are in the engine's space, and the missing ones in order."""
    chunks = list(Chunk.unscoped.filter(version=version, is_retired=False).order_by("position"))
    there = set(
        ChunkIndex.unscoped.filter(version=version, space_id=engine.space_id).values_list("chunk_id", flat=True)
    )
    missing = [chunk for chunk in chunks if chunk.id not in there]
    return len(chunks) - len(missing), missing


def split_into_batches(chunks: list[Chunk]) -> Iterator[list[Chunk]]:
    """Yield the passages in order, BATCH at a time."""
    for start in range(0, len(chunks), BATCH):
        yield chunks[start : start + BATCH]


def build_index_rows(document: Document, chunks: list[Chunk], engine: Engine, *, live: bool) -> list[IndexRow]:
    """Return the index rows of some passages of a document, made by the engine. live: they answer as soon as they are written."""
    texts = [build_passage_text(document.title, chunk.heading_path, chunk.text) for chunk in chunks]
    vectors, packed = engine.encode(texts)
    average = document.knowledge_base.average_terms
    rows = []
    for chunk, text, vector, tokens in zip(chunks, texts, vectors, packed, strict=True):
        tf = count_terms(text)
        length = sum(tf.values())
        rows.append(
            IndexRow(
                knowledge_base_id=document.knowledge_base_id,
                chunk_id=chunk.id,
                space_id=engine.space_id,
                folder_id=document.access_id,
                document_id=document.pk,
                version_id=chunk.version_id,
                language=document.language,
                live=live,
                term_total=length,
                vector=vector,
                lexical=compute_lexical_weights(tf, length, average),
                packed=tokens,
            )
        )
    return rows


def write_document_rows(document: Document, rows: list[IndexRow]) -> None:
    """Write index rows of a document into the caller's transaction, at the node that its rights are read from by then."""
    if rows:
        place = _lock_access_node(document)
        write_index_rows([replace(row, folder_id=place) for row in rows])


def _lock_access_node(document: Document) -> UUID:
    """Return the node that the document's rights are read from, locked until the transaction ends."""
    rows = Document.unscoped.select_for_update(no_key=True).filter(pk=document.pk)
    return rows.values_list("access_id", flat=True).get()
