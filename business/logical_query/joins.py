"""Join tables from many to one along keys, by the unique shortest path."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from django.utils.translation import gettext as _

from business.logical_query.query import Inexpressible
from business.semantic_layer.model import SemanticLayer

Place = tuple[str, str]  # a table, and a column


@dataclass(frozen=True)
class JoinKey:
    """A key of `many` that names a row of `one`."""

    many: str
    column: str
    one: str
    key: str


class Joins:
    """The keys of a layer as a graph."""

    def __init__(self, layer: SemanticLayer) -> None:
        primary = {m.primary.name: (m.name, m.primary.expr) for m in layer.semantic_models if m.primary}
        self.steps: list[JoinKey] = [
            JoinKey(model.name, entity.expr, *primary[entity.name])
            for model in layer.semantic_models
            for entity in model.entities
            if entity.type == "foreign" and entity.name in primary
        ]

    def up(self, start: str, goal: str) -> tuple[JoinKey, ...] | None:
        """Return the steps from a table to one it points to, each from many to one; None where there is no path.

        Raises Inexpressible where two paths are equally short, rather than guess.
        """
        done = self._find_shortest_paths(start, goal)
        if len(done) > 1:
            raise Inexpressible(
                _("%(start)s and %(goal)s hang together in several ways.") % {"start": start, "goal": goal}
            )
        if done and any(self._is_polymorphic(step) for step in done[0]):
            raise Inexpressible(_("What %(start)s points to depends on the row.") % {"start": start})
        return done[0] if done else None

    def _is_polymorphic(self, step: JoinKey) -> bool:
        """Return whether the column is polymorphic: a sender is a user or a merchant."""
        ways = {other.one for other in self.steps if (other.many, other.column) == (step.many, step.column)}
        return len(ways) > 1

    def is_either(self, start: str, goals: Iterable[str]) -> bool:
        """Return whether one column would have to point to two of these tables at once."""
        columns = [
            {way[0].column for way in self._find_shortest_paths(start, goal) if way and self._is_polymorphic(way[0])}
            for goal in goals
        ]
        return any(one & other for one, other in combinations(columns, 2))

    def distance(self, start: str, goal: str) -> int | None:
        """Return the number of steps from a table to one it points to, by any path; None where there is none."""
        done = self._find_shortest_paths(start, goal)
        return len(done[0]) if done else None

    def _find_shortest_paths(self, start: str, goal: str) -> list[tuple[JoinKey, ...]]:
        ways: list[tuple[JoinKey, ...]] = [()]
        reached = {start}
        while ways:
            done = [way for way in ways if (way[-1].one if way else start) == goal]
            if done:
                return done
            ways = [
                (*way, step)
                for way in ways
                for step in self.steps
                if step.many == (way[-1].one if way else start) and step.one not in reached
            ]
            reached |= {way[-1].one for way in ways}
        return []

    def is_step(self, one: Place, other: Place) -> bool:
        """Return whether a key leads from one of two columns to the other."""
        pair = {one, other}
        return any({(step.many, step.column), (step.one, step.key)} == pair for step in self.steps)
