"""The indexes of large collections: built when one exact pass would read too much, and not before."""

import time

from django.conf import settings
from django.db import connection

from copilot_site.lib.database import hold_process_lock
from knowledge.models import ChunkIndex, EmbeddingSpace

# m and ef_construction are pgvector's defaults; the memory keeps the graph of a million half-precision vectors.
_DENSE = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON knowledge_chunkindex
USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops) WITH (m = 16, ef_construction = 64)
WHERE live AND space_id = {space}
"""
_LEXICAL = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS chunk_terms ON knowledge_chunkindex USING gin (term_ids) WHERE live
"""
LOOK_S = 1.0  # between two looks whether the other build is over
BUILD_MEMORY = "SET maintenance_work_mem = '1GB'"


def build_search_indexes(*, patience_s: float = 0) -> list[str]:
    """Build missing indexes of embedding spaces past the limit of exact search; return the names of those built.

    Runs outside a transaction, for minutes on large collections, without locking anybody out. While another process builds, an index
    that is not valid yet is that one's: it is waited for so long, and then left to it.
    """
    until = time.monotonic() + patience_s
    while True:
        with hold_process_lock("tend indexes") as is_mine:
            if is_mine:
                return _build_needed_indexes()
        if time.monotonic() >= until:
            return []
        time.sleep(LOOK_S)  # outside a statement, for which the other build would wait


def _build_needed_indexes() -> list[str]:
    built = []
    for space in EmbeddingSpace.objects.all():
        live = ChunkIndex.unscoped.filter(space=space, live=True)
        if not live[settings.SEARCH_EXACT_LIMIT : settings.SEARCH_EXACT_LIMIT + 1].exists():
            continue
        built += [index for index, statement in build_index_statements(space).items() if _build_index(index, statement)]
    return built


def drop_indexes(space_id: int) -> None:
    """Drop the indexes of one space, and the lexical one of all; `build_search_indexes` builds them again where they are needed."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS chunk_vectors_{space_id:d}, chunk_terms")


def build_index_statements(space: EmbeddingSpace) -> dict[str, str]:
    """Return the name of each index of a space, and the statement that builds it."""
    name = f"chunk_vectors_{space.pk}"
    return {name: _DENSE.format(name=name, dimensions=space.dimensions, space=space.pk), "chunk_terms": _LEXICAL}


def _build_index(name: str, statement: str) -> bool:
    """Build an index if it is missing; return whether it was. One left invalid by a broken build is dropped first."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [name])
        found = cursor.fetchone()
        if found == (True,):
            return False
        if found:
            cursor.execute(f"DROP INDEX {name}")
        cursor.execute(BUILD_MEMORY)
        cursor.execute(statement)
        cursor.execute("RESET maintenance_work_mem")
    return True
