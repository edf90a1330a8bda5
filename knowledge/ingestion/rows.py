"""Index rows into the database, by COPY: vectors go as binary, a batch is one round trip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from knowledge.text.terms import sparse

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
                row.language, row.live, row.term_total, HalfVector(row.vector), sparse(row.lexical), sorted(row.lexical),
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
