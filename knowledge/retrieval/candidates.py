"""The statements that read the index. The permission filter, the scope and the order are one statement each.

Few visible chunks: one exact pass over them computes both scores. Many: HNSW with relaxed iterative scan for the dense side, GIN on
the rarest terms for the lexical side. The shape of the statement forces the path, because the planner chooses wrongly: it expects
two visible folders where there are two thousand, joins them first, and then no index of the passages is left to use. So they
are found once in a statement, and are then either a hashed set that each row an index gives is held against, or an array that
the index of folders is asked for.
The same statement brings what the finalists are judged by: their token vectors and their texts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from numpy.typing import NDArray
from pgvector import HalfVector

from authz.principal import Principal
from copilot_site.lib.database import open_prepared_cursor
from knowledge.retrieval.conditions import build_document_statement, name_parameters
from knowledge.retrieval.plan import Scope, SearchPlan, build_visibility_statement
from knowledge.selectors import ShownPassage
from knowledge.text.passage_blocks import parse_blocks
from knowledge.text.terms import build_sparse_vector

RARE_TERM_BUDGET = (
    3_000  # chunks holding the rare terms, scaled by corpus / visible; source: our measurement in ADR 0004
)


@dataclass(frozen=True)
class IndexQuery:
    """A question as the index takes it. vector: (dimensions,), unit length. weights: {term id: share of idf}."""

    vector: NDArray[np.float32]
    weights: Mapping[int, float]


@dataclass(frozen=True)
class Finalists:
    """The candidates that come with text and vectors for reranking: the `count` best by dense + `lexical_weight` × lexical, ties by id.

    with_tokens: with their packed token vectors, too; half a megabyte for twenty.
    """

    count: int
    lexical_weight: float
    with_tokens: bool = True


NOBODY = Finalists(0, 0.0, with_tokens=False)


@dataclass(frozen=True)
class Candidate:
    """A passage with both scores; higher is better. dense: cosine. lexical: BM25 on its absolute scale, 0 … 2.2.

    passage, tokens: of a finalist, its packed token vectors b"" where none are kept; None and b"" of all others.
    """

    chunk_id: UUID
    document_id: UUID
    dense: float
    lexical: float
    passage: ShownPassage | None = None
    tokens: bytes = b""


_SCORES = (
    """i.chunk_id, i.document_id, i.folder_id, -({near}) AS dense, -(i.lexical <#> %(lexical)s::sparsevec) AS lexical"""
)
_NEAR = """i.vector <#> %(vector)s::halfvec"""
_NEAR_BY_INDEX = """i.vector::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})"""
_WHERE = """i.live AND i.space_id = {space}{narrow}"""
# The readable folders: `IS TRUE` prevents a join, and an array the planner's estimate of two rows.
HELD = """(i.folder_id IN (SELECT * FROM seen)) IS TRUE"""
LISTED = """i.folder_id = ANY(ARRAY(SELECT * FROM seen))"""
MAX = 0.5  # of the corpus; below it the indexes of words and folders are intersected (ADR 0007)

EXACT = """
WITH visible AS MATERIALIZED (
    SELECT {scores} FROM knowledge_chunkindex i WHERE {where} AND i.folder_id = ANY(ARRAY({folders}))
), found AS MATERIALIZED (
    (SELECT * FROM visible ORDER BY dense DESC, chunk_id LIMIT {depth})
    UNION
    (SELECT * FROM visible WHERE lexical > 0 ORDER BY lexical DESC, chunk_id LIMIT {depth})
)"""
INDEXED = """
WITH seen AS MATERIALIZED (
    {folders}
), near AS MATERIALIZED (
    SELECT {scores} FROM knowledge_chunkindex i
    WHERE {where} AND {held} ORDER BY {near} LIMIT {depth}
), worded AS MATERIALIZED (
    SELECT {scores} FROM knowledge_chunkindex i
    WHERE i.term_ids && %(rare)s::int[] AND {where} AND {worded_held}
    ORDER BY i.lexical <#> %(lexical)s::sparsevec LIMIT {depth}
), rest AS MATERIALIZED (
    SELECT {scores} FROM knowledge_chunkindex i
    WHERE (SELECT count(*) FROM near) < {depth} AND {where} AND {listed}
    ORDER BY dense DESC, i.chunk_id LIMIT {depth}
), found AS MATERIALIZED (
    SELECT DISTINCT ON (chunk_id) *
    FROM (SELECT * FROM near UNION ALL SELECT * FROM worded UNION ALL SELECT * FROM rest) each
)"""
# What a finalist is judged by is read with it, in the order of ShownPassage's fields. Its index row says where its rights are read
# from, and its document says so, too.
_WITH_FINALISTS = """
SELECT f.chunk_id, f.document_id, f.dense, f.lexical, j.*
FROM found f LEFT JOIN (
    SELECT {tokens}, c.id, c.knowledge_base_id, c.document_id, c.version_id, c.position, d.title, d.filename, d.language,
           c.heading_path, c.text, c.page_from, c.start, c."end", c.version_id = d.current_version_id, c.page_starts, c.blocks,
           d.superseded_by_id, EXISTS (
               SELECT FROM knowledge_documentversion v, knowledge_knowledgebase b
               WHERE v.id = c.version_id AND v.approved_at IS NULL AND b.id = d.knowledge_base_id AND b.is_approval_wanted
           )
    FROM (
        SELECT * FROM found ORDER BY dense::real + {weight}::real * lexical::real DESC, chunk_id LIMIT {count}
    ) first
    JOIN knowledge_document d ON d.id = first.document_id AND d.access_id = first.folder_id
    JOIN knowledge_chunk c ON c.knowledge_base_id = d.knowledge_base_id AND c.id = first.chunk_id
) j ON j.id = f.chunk_id
ORDER BY f.chunk_id"""
_BLOCKS = [field.name for field in fields(ShownPassage)].index("blocks")
_TOKENS = """(
        SELECT t.packed FROM knowledge_chunktokens t
        WHERE t.knowledge_base_id = d.knowledge_base_id AND t.chunk_id = c.id AND t.space_id = {space}
    )"""
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
    question: IndexQuery,
    scope: Scope,
    *,
    space_id: int,
    depth: int,
    use_indexes: bool,
    rare_terms: Sequence[int] = (),
    share: float = 1.0,
    finalists: Finalists = NOBODY,
) -> list[Candidate]:
    """Return the `depth` best passages by each score that this person may see, as one set in the order of their ids.

    rare_terms: the terms for the lexical index when `use_indexes`; see `select_rarest_terms`. share: of the corpus that they see, 0 … 1; it
    does not change the result.
    """
    shape = INDEXED if use_indexes else EXACT
    parts = _build_statement_parts(space_id, depth, finalists) | {
        "held": HELD, "listed": LISTED, "worded_held": HELD if share > MAX else LISTED
    }  # fmt: skip
    statement, values = _build_statement(shape, principal, question, scope, parts)
    if use_indexes:
        values["rare"] = list(rare_terms)
    with _open_indexed_cursor() if use_indexes else open_prepared_cursor(connection, binary=True) as cursor:
        cursor.execute(statement, values)
        return [_build_candidate(*row) for row in cursor.fetchall()]


@contextmanager
def _open_indexed_cursor() -> Iterator[CursorWrapper]:
    """Yield a cursor whose statements use the indexes as ADR 0004 measured it; planned anew for the terms that each question has."""
    with transaction.atomic(), connection.cursor() as cursor:
        for setting in INDEX_SETTINGS:
            cursor.execute(setting)
        yield cursor


def _build_candidate(chunk_id: UUID, document_id: UUID, dense: float, lexical: float, *judged: Any) -> Candidate:
    tokens, *shown = judged
    if shown[0] is None:
        return Candidate(chunk_id, document_id, dense, lexical)
    values: list[Any] = [tuple(value) if isinstance(value, list) else value for value in shown]
    values[_BLOCKS] = parse_blocks(json.loads(shown[_BLOCKS]) if isinstance(shown[_BLOCKS], str) else shown[_BLOCKS])
    return Candidate(chunk_id, document_id, dense, lexical, ShownPassage(*values), bytes(tokens or b""))


def select_rarest_terms(weights: Mapping[int, float], plan: SearchPlan) -> list[int]:
    """Return the question's rarest terms, while the chunks that hold them stay within the budget; at least one."""
    budget = RARE_TERM_BUDGET * plan.corpus_chunks / max(plan.visible, 1)
    chosen: list[int] = []
    for term in sorted(weights, key=lambda term: plan.frequencies[term]):
        budget -= plan.frequencies[term]
        if chosen and budget < 0:
            break
        chosen.append(term)
    return chosen


def _build_statement_parts(space_id: int, depth: int, finalists: Finalists) -> dict[str, str]:
    """Return the numbers that a statement's plan depends on; they are ours, and part of its text."""
    space = f"{space_id:d}"
    tokens = _TOKENS.format(space=space) if finalists.with_tokens else "NULL::bytea"
    return {
        "space": space,
        "depth": f"{depth:d}",
        "rest": _WITH_FINALISTS.format(tokens=tokens, weight=finalists.lexical_weight, count=f"{finalists.count:d}"),
    }


def _build_statement(
    shape: str, principal: Principal, question: IndexQuery, scope: Scope, parts: Mapping[str, str]
) -> tuple[str, dict[str, Any]]:
    folders, values = name_parameters(*build_visibility_statement(principal, scope), "folder")
    narrow = ""
    if scope.document_ids:
        narrow += " AND i.document_id = ANY(%(documents)s::uuid[])"
        values["documents"] = list(scope.document_ids)
    if scope.language:
        narrow += " AND i.language = %(language)s"
        values["language"] = scope.language
    if scope.metadata:
        fitting, given = name_parameters(*build_document_statement(scope.metadata), "metadata")
        narrow += f" AND i.document_id = ANY(ARRAY({fitting}))"
        values |= given
    near = _NEAR if shape is EXACT else _NEAR_BY_INDEX.format(dimensions=len(question.vector))
    where = _WHERE.format(narrow=narrow, space=parts["space"])
    found = shape.format(
        scores=_SCORES.format(near=near), folders=folders, where=where, near=near,
        **{name: parts[name] for name in ("depth", "held", "listed", "worded_held")},
    )  # fmt: skip
    values["vector"] = HalfVector(question.vector).to_text()
    values["lexical"] = build_sparse_vector(question.weights).to_text()
    return found + parts["rest"], values
