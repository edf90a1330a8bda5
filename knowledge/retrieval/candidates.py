"""The statements that read the index. The permission filter, the scope and the order are one statement each.

Few visible chunks: one exact pass over them computes both scores. Many: HNSW with relaxed iterative scan for the dense side, GIN on
the rarest terms for the lexical side. The shape of the statement forces the path, because the planner chooses wrongly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray
from pgvector import HalfVector

from authz.principal import Principal
from knowledge.ingestion.rows import sparse
from knowledge.retrieval.plan import Plan, Scope, visible_ids

RARE_TERM_BUDGET = (
    3_000  # chunks holding the rare terms, scaled by corpus / visible; source: our measurement in ADR 0004
)


@dataclass(frozen=True)
class Question:
    """A question as the index takes it. vector: (dimensions,), unit length. weights: {term id: share of idf}."""

    vector: NDArray[np.float32]
    weights: Mapping[int, float]


@dataclass(frozen=True)
class Candidate:
    """A passage with both scores; higher is better. dense: cosine. lexical: BM25 on its absolute scale, 0 … 2.2."""

    chunk_id: UUID
    document_id: UUID
    dense: float
    lexical: float


_SCORES = """i.chunk_id, i.document_id,
       -(i.vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})) AS dense, -(i.lexical <#> %(lexical)s) AS lexical"""
_WHERE = """i.live AND i.space_id = %(space)s AND i.folder_id IN ({folders}){narrow}"""

EXACT = """
WITH visible AS MATERIALIZED (
    SELECT {scores} FROM knowledge_chunkindex i WHERE {where}
)
(SELECT * FROM visible ORDER BY dense DESC, chunk_id LIMIT %(depth)s)
UNION
(SELECT * FROM visible WHERE lexical > 0 ORDER BY lexical DESC, chunk_id LIMIT %(depth)s)
"""
INDEXED = """
WITH near AS MATERIALIZED (
    SELECT {scores} FROM knowledge_chunkindex i WHERE {where}
    ORDER BY i.vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions}) LIMIT %(depth)s
), worded AS MATERIALIZED (
    SELECT {scores} FROM knowledge_chunkindex i WHERE i.term_ids && %(rare)s::int[] AND {where}
    ORDER BY i.lexical <#> %(lexical)s LIMIT %(depth)s
)
SELECT * FROM near UNION SELECT * FROM worded
"""
# Values from ADR 0004: recall .98 at 20 ms with 1 million chunks.
INDEX_SETTINGS = (
    "SET LOCAL hnsw.iterative_scan = relaxed_order",
    "SET LOCAL hnsw.ef_search = 800",
    "SET LOCAL hnsw.max_scan_tuples = 40000",
    "SET LOCAL hnsw.scan_mem_multiplier = 4",
    "SET LOCAL work_mem = '64MB'",
)


def find_candidates(
    principal: Principal,
    question: Question,
    scope: Scope,
    *,
    space_id: int,
    depth: int,
    use_indexes: bool,
    rare_terms: Sequence[int] = (),
) -> list[Candidate]:
    """The `depth` best passages by each score that this person may see, as one set in no order.

    rare_terms: what the lexical index is asked for when `use_indexes`; see `rarest`.
    """
    statement, values = _statement(INDEXED if use_indexes else EXACT, principal, question, scope)
    values |= {"space": space_id, "depth": depth, "rare": list(rare_terms)}
    with transaction.atomic(), connection.cursor() as cursor:
        if use_indexes:
            for setting in INDEX_SETTINGS:
                cursor.execute(setting)
        cursor.execute(statement, values)
        return list({row[0]: Candidate(*row) for row in cursor.fetchall()}.values())


def rarest(weights: Mapping[int, float], frequencies: Mapping[int, int], plan: Plan) -> list[int]:
    """The question's rarest terms, while the chunks that hold them stay within the budget; at least one."""
    budget = RARE_TERM_BUDGET * plan.corpus_chunks / max(plan.visible, 1)
    chosen: list[int] = []
    for term in sorted(weights, key=lambda term: frequencies[term]):
        budget -= frequencies[term]
        if chosen and budget < 0:
            break
        chosen.append(term)
    return chosen


def _statement(shape: str, principal: Principal, question: Question, scope: Scope) -> tuple[str, dict[str, Any]]:
    folders, folder_values = _named(*visible_ids(principal, scope))
    narrow, values = "", dict(folder_values)
    if scope.document_ids:
        narrow += " AND i.document_id = ANY(%(documents)s)"
        values["documents"] = list(scope.document_ids)
    if scope.language:
        narrow += " AND i.language = %(language)s"
        values["language"] = scope.language
    parts = {"dimensions": len(question.vector)}
    statement = shape.format(
        scores=_SCORES.format(**parts), where=_WHERE.format(folders=folders, narrow=narrow), **parts
    )
    values["vector"] = HalfVector(question.vector).to_text()
    values["lexical"] = sparse(question.weights).to_text()
    return statement.replace("%(lexical)s", "%(lexical)s::sparsevec"), values


def _named(sql: str, values: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """A statement with positional values as one with named values, to be part of a larger one."""
    names = [f"folder_{place}" for place in range(len(values))]
    return sql % tuple(f"%({name})s" for name in names), dict(zip(names, values, strict=True))
