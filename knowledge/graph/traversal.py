"""Traversal of the graph for one person: one recursive statement, the permission filter in it at every step.

From an entity a step leads along a relation, or to what is named in the same passage; another name of the same thing costs no step.
Every passage on the way is one that the person may read, by the folders that a search reads: what a hidden passage says neither
appears, nor leads anywhere, nor counts.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.utils.translation import gettext as _
from psycopg.errors import QueryCanceled

from authz.principal import Principal
from copilot_site.lib.errors import Unavailable
from knowledge.graph.names import list_candidate_keys
from knowledge.retrieval.conditions import build_document_statement, name_parameters
from knowledge.retrieval.plan import Scope, build_visibility_statement

MAX_HOPS = 3
MAX_STARTS = 12  # entities of a question
FAN = 24  # neighbours of an entity that are followed; half of them at the second step, a third at the third
NEAR = 60  # passages of one entity searched for neighbours
MAX_STEPS = 5  # including free steps
STATEMENT_MS = 5_000

# A mention that may be read: its document lies where this person may read, and its version answers. `IS TRUE` keeps the folders a set
# that is made once; joined, the planner expects two.
_MAY = """JOIN knowledge_document {m}_of ON {m}_of.id = {m}.document_id AND {m}_of.current_version_id = {m}.version_id
    AND ({m}_of.access_id IN (SELECT * FROM held)) IS TRUE"""
_MADE = """EXISTS (SELECT 1 FROM knowledge_graphmention d {may_d} WHERE d.entity_id = {entity} AND d.defines)"""

_ENDS = {"start_made": "e.id", "near_made": "near.entity_id"}  # entities that need a defining passage
_STATEMENT = """
WITH RECURSIVE held AS MATERIALIZED ({folders}
), start AS MATERIALIZED (
    SELECT e.id FROM knowledge_graphentity e WHERE {starts} AND {start_made}
    ORDER BY length(e.key) DESC, e.id LIMIT {most_starts}
), walk(entity_id, hops, steps, score, way) AS (
    SELECT id, 0, 0, 1.0::float8, ARRAY[id] FROM start
    UNION ALL
    SELECT n.entity_id, w.hops + n.cost, w.steps + 1, w.score * n.weight, w.way || n.entity_id
    FROM walk w CROSS JOIN LATERAL (
        SELECT near.*, row_number() OVER (ORDER BY near.cost, near.weight DESC, near.entity_id) AS place
        FROM (
            SELECT DISTINCT ON (each.entity_id) each.* FROM (
                SELECT CASE WHEN r.subject_id = w.entity_id THEN r.object_id ELSE r.subject_id END AS entity_id,
                       CASE WHEN r.kind = 'also_called' THEN 0 ELSE 1 END AS cost,
                       CASE WHEN r.kind = 'also_called' THEN 1.0 ELSE 0.6 END::float8 AS weight
                FROM knowledge_graphrelation r
                WHERE (r.subject_id = w.entity_id OR r.object_id = w.entity_id) AND NOT r.is_refused
                AND EXISTS (SELECT 1 FROM knowledge_graphmention m {may_m} WHERE m.relation_id = r.id)
                UNION ALL
                SELECT CASE WHEN g.one_id = w.entity_id THEN g.other_id ELSE g.one_id END, 0, 1.0
                FROM knowledge_graphmerge g WHERE g.one_id = w.entity_id OR g.other_id = w.entity_id
                UNION ALL
                SELECT o.entity_id, 1, 0.5 * sum(1.0 / p.named)::float8 / greatest(max(p.passages), 2)
                FROM (
                    SELECT c.chunk_id, count(*) OVER () AS passages, (
                        SELECT count(*) FROM knowledge_graphmention x
                        WHERE x.chunk_id = c.chunk_id AND x.relation_id IS NULL AND (x.defines OR x.entity_id = w.entity_id)
                    ) AS named
                    FROM (
                        SELECT m.chunk_id FROM knowledge_graphmention m {may_m}
                        WHERE m.entity_id = w.entity_id ORDER BY m.defines DESC, m.chunk_id LIMIT {near}
                    ) c
                ) p JOIN knowledge_graphmention o ON o.chunk_id = p.chunk_id AND o.entity_id <> w.entity_id
                GROUP BY o.entity_id
            ) each ORDER BY each.entity_id, each.cost, each.weight DESC
        ) near
        WHERE w.hops + near.cost <= {hops} AND NOT near.entity_id = ANY(w.way) AND {near_made}
    ) n
    WHERE w.steps < {most_steps} AND n.place <= {fan} / (1 + w.steps)
), reached AS MATERIALIZED (
    SELECT entity_id, min(hops) AS hops, sum(score) AS score FROM walk GROUP BY entity_id
    ORDER BY min(hops), sum(score) DESC, entity_id LIMIT {most}
), mentioned AS MATERIALIZED (
    SELECT r.entity_id, r.hops, r.score, m.chunk_id, m.kind, m.said, m.defines
    FROM reached r JOIN knowledge_graphmention m ON m.entity_id = r.entity_id {may_m}
), told AS MATERIALIZED (
    SELECT t.id, t.subject_id, t.kind, t.object_id, m.chunk_id, a.score + b.score AS score,
           greatest(a.hops, b.hops) AS hops
    FROM knowledge_graphrelation t
    JOIN reached a ON a.entity_id = t.subject_id JOIN reached b ON b.entity_id = t.object_id
    JOIN knowledge_graphmention m ON m.relation_id = t.id {may_m}
    WHERE NOT t.is_refused
)
SELECT json_build_object(
    'entities', (SELECT coalesce(json_agg(e ORDER BY e.hops, e.score DESC, e.id), '[]') FROM (
        SELECT n.entity_id AS id, n.hops, n.score, count(DISTINCT n.chunk_id) AS passages,
               coalesce(max(t.title), mode() WITHIN GROUP (ORDER BY n.said)) AS name,
               coalesce(mode() WITHIN GROUP (ORDER BY n.kind) FILTER (WHERE n.kind <> ''), '') AS kind,
               max(e.document_id::text) AS document_id
        FROM mentioned n JOIN knowledge_graphentity e ON e.id = n.entity_id
        LEFT JOIN knowledge_document t ON t.id = e.document_id
        GROUP BY n.entity_id, n.hops, n.score
    ) e),
    'relations', (SELECT coalesce(json_agg(t ORDER BY t.hops, t.score DESC, t.id), '[]') FROM (
        SELECT id, subject_id, kind, object_id, hops, max(score) AS score,
               (array_agg(chunk_id ORDER BY chunk_id))[1:5] AS chunk_ids
        FROM told GROUP BY id, subject_id, kind, object_id, hops
    ) t),
    'passages', (SELECT coalesce(json_agg(p ORDER BY p.score DESC, p.chunk_id), '[]') FROM (
        SELECT chunk_id, sum(score) AS score FROM (
            SELECT chunk_id, entity_id, max(score) * CASE WHEN bool_or(defines) THEN 1.5 ELSE 1.0 END AS score
            FROM mentioned GROUP BY chunk_id, entity_id
            UNION ALL SELECT chunk_id, id, score FROM told
        ) each GROUP BY chunk_id ORDER BY 2 DESC, 1 LIMIT {passages}
    ) p)
)"""


class TookTooLong(Unavailable):
    """The statement was ended after STATEMENT_MS."""


@dataclass(frozen=True)
class WalkLimits:
    """The limits of a walk. hops: 1 … MAX_HOPS; entities, passages: how many come back."""

    hops: int = 2
    entities: int = 60
    passages: int = 40


@dataclass(frozen=True)
class ReachedEntity:
    """Something that passages name. name, kind: as the passages say that the person may read. hops: from what was asked.

    passages: how many name it. document_id: where it is a document.
    """

    id: UUID
    name: str
    kind: str
    hops: int
    score: float
    passages: int
    document_id: UUID | None = None


@dataclass(frozen=True)
class Relation:
    """A relation of two entities that passages state; chunk_ids: at most five of them."""

    id: UUID
    subject_id: UUID
    kind: str
    object_id: UUID
    score: float
    chunk_ids: tuple[UUID, ...]


@dataclass(frozen=True)
class Neighbourhood:
    """The entities and relations reached, nearest and strongest first. passages: ids with scores, best first."""

    entities: list[ReachedEntity]
    relations: list[Relation]
    passages: list[tuple[UUID, float]]


def traverse_from_question(
    principal: Principal, question: str, scope: Scope, *, reach: WalkLimits | None = None
) -> Neighbourhood:
    """Return what is known about the names that stand in a question. Raises TookTooLong, as the others do."""
    return _walk_graph(
        principal, scope, "e.key = ANY(%(keys)s)", {"keys": list_candidate_keys(question)}, reach or WalkLimits()
    )


def traverse_from_entity(principal: Principal, entity_id: UUID) -> Neighbourhood:
    """Return what is known about one entity; nothing if it is hidden from this person."""
    return _walk_graph(principal, Scope(), "e.id = %(entity)s", {"entity": entity_id}, WalkLimits(hops=1))


def traverse_from_document(principal: Principal, document_id: UUID) -> Neighbourhood:
    """Return what is known about a document, and about what its own passages make known; nothing if it is hidden from this person."""
    made = "SELECT m.entity_id FROM knowledge_graphmention m {may} WHERE m.document_id = %(document)s AND m.defines"
    starts = f"(e.document_id = %(document)s OR e.id IN ({made}))"
    return _walk_graph(principal, Scope(), starts, {"document": document_id}, WalkLimits(hops=1))


def _walk_graph(
    principal: Principal, scope: Scope, starts: str, values: dict[str, Any], reach: WalkLimits
) -> Neighbourhood:
    """Walk the graph. starts: selects the first entities; {may} in it is the filter for a mention called m."""
    folders, given = build_visibility_statement(principal, scope)
    names = [f"folder_{place}" for place in range(len(given))]
    may = _MAY
    if scope.document_ids:
        may += " AND {m}_of.id = ANY(%(documents)s::uuid[])"
        values["documents"] = list(scope.document_ids)
    if scope.language:
        may += " AND {m}_of.language = %(language)s"
        values["language"] = scope.language
    if scope.metadata:
        fitting, more = name_parameters(*build_document_statement(scope.metadata), "metadata")
        may += f" AND {{m}}_of.id = ANY(ARRAY({fitting}))"
        values |= more
    made = {name: _MADE.format(entity=entity, may_d=may.format(m="d")) for name, entity in _ENDS.items()}
    statement = _STATEMENT.format(
        folders=folders % tuple(f"%({name})s" for name in names),
        may_m=may.format(m="m"),
        starts=starts.format(may=may.format(m="m")), **made,
        hops=min(max(reach.hops, 1), MAX_HOPS), most=reach.entities, passages=reach.passages,
        most_starts=MAX_STARTS, near=NEAR, most_steps=MAX_STEPS, fan=FAN,
    )  # fmt: skip
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {STATEMENT_MS:d}")
            cursor.execute(statement, values | dict(zip(names, given, strict=True)))
            found = cursor.fetchone()[0]
            cursor.execute("SET LOCAL statement_timeout = 0")  # of a transaction around it
    except OperationalError as error:
        if not isinstance(error.__cause__, QueryCanceled):
            raise
        raise TookTooLong(_("The knowledge graph did not answer in time. Ask for less, or try it again.")) from error
    return _build_neighbourhood(json.loads(found) if isinstance(found, str) else found)


def _build_neighbourhood(found: dict[str, Sequence[dict[str, Any]]]) -> Neighbourhood:
    return Neighbourhood(
        [
            ReachedEntity(
                UUID(row["id"]), row["name"], row["kind"], row["hops"], row["score"], row["passages"],
                UUID(row["document_id"]) if row["document_id"] else None,
            )
            for row in found["entities"]
        ],
        [
            Relation(
                UUID(row["id"]), UUID(row["subject_id"]), row["kind"], UUID(row["object_id"]), row["score"],
                tuple(map(UUID, row["chunk_ids"])),
            )
            for row in found["relations"]
        ],
        [(UUID(row["chunk_id"]), row["score"]) for row in found["passages"]],
    )  # fmt: skip
