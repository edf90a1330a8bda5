"""A neighbourhood as a picture: rings around what was asked for, drawn on the server; and the list that says the same in words."""

from collections import defaultdict
from dataclasses import dataclass
from math import cos, pi, sin
from uuid import UUID

from authz.principal import Principal
from knowledge.graph.kinds import label_of
from knowledge.graph.traversal import Neighbourhood, ReachedEntity
from knowledge.models import GraphMention

WIDTH, HEIGHT = 960, 620  # of the picture's own units
RING = (330, 235)  # half axes of the first ring; further ones have more
MAX_NODES = 26
MAX_LETTERS = 22
MAX_MENTIONS = 2_000


@dataclass(frozen=True)
class Node:
    """An entity in the picture. x, y: its middle; label: its name, cut."""

    entity: ReachedEntity
    kind: str
    label: str
    x: int
    y: int


@dataclass(frozen=True)
class DrawnLink:
    """A link of two entities: a relation, or "" where one passage names both. chunk_id: that passage."""

    one: Node
    other: Node
    relation: str
    relation_id: UUID | None
    document_id: UUID
    chunk_id: UUID

    @property
    def middle(self) -> tuple[int, int]:
        return (self.one.x + self.other.x) // 2, (self.one.y + self.other.y) // 2


@dataclass(frozen=True)
class GraphDrawing:
    nodes: list[Node]
    lines: list[DrawnLink]
    left_out: int
    width: int = WIDTH
    height: int = HEIGHT


def build_picture(principal: Principal, around: Neighbourhood) -> GraphDrawing:
    """Return the picture of a neighbourhood; each line has a passage that this person may read."""
    shown = around.entities[:MAX_NODES]
    nodes = {node.entity.id: node for node in _place_entities(shown)}
    rows = GraphMention.objects.visible_to(principal).filter(entity__in=list(nodes)).order_by("chunk_id", "entity_id")
    places: dict[UUID, UUID] = {}
    named: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for entity, chunk, document in rows.values_list("entity_id", "chunk_id", "document_id")[:MAX_MENTIONS]:
        named[chunk].append(entity)
        places[chunk] = document
    rows = GraphMention.objects.visible_to(principal).filter(relation__in=[item.id for item in around.relations])
    stated = dict(rows.values_list("chunk_id", "document_id"))
    lines = [
        DrawnLink(nodes[item.subject_id], nodes[item.object_id], label_of(item.kind), item.id, stated[chunk], chunk)
        for item in around.relations if item.subject_id in nodes and item.object_id in nodes
        for chunk in item.chunk_ids[:1] if chunk in stated
    ]  # fmt: skip
    return GraphDrawing(
        list(nodes.values()),
        lines + _build_missing_lines(nodes, lines, named, places),
        len(around.entities) - len(shown),
    )


def _build_missing_lines(
    nodes: dict[UUID, Node], lines: list[DrawnLink], named: dict[UUID, list[UUID]], places: dict[UUID, UUID]
) -> list[DrawnLink]:
    """Return a line for each entity not yet linked to a nearer one: a passage that names both."""
    joined = {frozenset((line.one.entity.id, line.other.entity.id)) for line in lines}
    found: list[DrawnLink] = []
    for node in nodes.values():
        nearer = [other for other in nodes.values() if other.entity.hops < node.entity.hops]
        if not nearer or any(frozenset((node.entity.id, other.entity.id)) in joined for other in nearer):
            continue
        line = next(
            (
                DrawnLink(other, node, "", None, places[chunk], chunk)
                for other in sorted(nearer, key=lambda near: -near.entity.hops)
                for chunk, entities in named.items()
                if node.entity.id in entities and other.entity.id in entities
            ),
            None,
        )
        found += [line] if line else []
    return found


def _place_entities(entities: list[ReachedEntity]) -> list[Node]:
    """Place the entities evenly on rings by distance; a single start is in the middle."""
    rings: defaultdict[int, list[ReachedEntity]] = defaultdict(list)
    for entity in entities:
        rings[entity.hops].append(entity)
    alone = len(rings[0]) <= 1
    nodes = []
    for place, hops in enumerate(sorted(rings)):
        ring = rings[hops]
        share = 0.0 if alone and place == 0 else (place + (not alone)) / max(len(rings) - alone, 1)
        for number, entity in enumerate(ring):
            angle = 2 * pi * (number + 0.5 * (place % 2)) / len(ring) - pi / 2
            x, y = WIDTH / 2 + RING[0] * share * cos(angle), HEIGHT / 2 + RING[1] * share * sin(angle)
            nodes.append(Node(entity, label_of(entity.kind), _shorten_name(entity.name), round(x), round(y)))
    return nodes


def _shorten_name(name: str) -> str:
    most = MAX_LETTERS if name.isascii() else MAX_LETTERS // 2
    return name if len(name) <= most else f"{name[: most - 1]}…"
