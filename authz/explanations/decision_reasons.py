"""The rows behind rights in some knowledge bases, read at once, with the reason of each decision.

The statement in `authz.rights.folders` decides (`authz.rights.held_rights` runs it); the rows here tell why, for pages and exports.
A property test checks that the two agree.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Now

from authz.models import Denial, FolderGroupGrant, FolderUserGrant, KnowledgeBaseGroupGrant, KnowledgeBaseUserGrant
from authz.people.groups import PersonHolders
from authz.permissions import Right
from authz.rights.held_rights import Held, find_rights_of_groups, find_rights_of_people


@dataclass(frozen=True)
class GrantPlace:
    """A place for grants: a knowledge base, a folder, or the node of a document with rights of its own.

    parent_id: the place above; a root folder's is its knowledge base, which has none. is_root: the folder with the same
    name as its base, so only one of them is named. row_id: the id in addresses; for a node, its document's.
    """

    id: UUID
    name: str
    kind: str
    parent_id: UUID | None
    inherits: bool = True
    is_discoverable: bool = False
    is_root: bool = False
    document_id: UUID | None = None

    @property
    def row_id(self) -> UUID:
        return self.document_id or self.id


@dataclass(frozen=True)
class Row:
    """A grant or denial. holder: ("user" or "group", id). has_ended: by the database's clock when it was read."""

    right: Right
    place_id: UUID
    holder: tuple[str, int]
    holder_name: str
    is_denial: bool
    since: datetime
    by: str
    reason: str = ""
    ends_at: datetime | None = None
    has_ended: bool = False

    @property
    def holder_kind(self) -> str:
        return self.holder[0]


class Fate(StrEnum):
    """The effect of a grant or denial on somebody's right."""

    ALLOWS = "allows"
    DENIES = "denies"
    ENDED = "ended"
    CUT = "cut"


@dataclass(frozen=True)
class Considered:
    """A row that concerns somebody, on a place or above. cut_by: the place that does not inherit, for Fate.CUT."""

    row: Row
    place: GrantPlace
    fate: Fate
    cut_by: GrantPlace | None = None


@dataclass(frozen=True)
class Decision:
    """The answer of the rule with the rows that concern it. way: the place asked about, then upwards, its base last."""

    person: PersonHolders
    right: Right
    way: tuple[GrantPlace, ...]
    considered: tuple[Considered, ...]
    is_allowed: bool

    def nearest(self, fate: Fate) -> Considered | None:
        """Return the nearest row with this fate; None where there is none."""
        return next((row for row in self.considered if row.fate is fate), None)


@dataclass
class Rulebook:
    """The places of some knowledge bases with all grants and denials on them, as of one moment."""

    places: Mapping[UUID, GrantPlace]
    rows: Mapping[tuple[Right, UUID], Sequence[Row]]
    _ways: dict[UUID, tuple[GrantPlace, ...]] = field(default_factory=dict)
    _considered: dict[tuple[Right, UUID], tuple[Considered, ...]] = field(default_factory=dict)
    _held: dict[tuple[int, int | None], Held] = field(default_factory=dict)

    @classmethod
    def read(cls, places: Iterable[GrantPlace], *, base_ids: Collection[UUID]) -> Self:
        """Read the rows. places: the bases and every place in them; a missing place is missing in the decisions."""
        rows: defaultdict[tuple[Right, UUID], list[Row]] = defaultdict(list)
        for row in (*_iterate_grants(base_ids), *_iterate_denials(base_ids)):
            rows[row.right, row.place_id].append(row)
        return cls({place.id: place for place in places}, rows)

    def way(self, place_id: UUID) -> tuple[GrantPlace, ...]:
        """Return the place, then those above it, its knowledge base last."""
        if place_id not in self._ways:
            place = self.places[place_id]
            above = self.way(place.parent_id) if place.parent_id else ()
            self._ways[place_id] = (place, *above)
        return self._ways[place_id]

    def names(self, place_id: UUID) -> tuple[str, ...]:
        """Return the path of names from the base down to the place, without the root folder."""
        way = self.way(place_id)
        return tuple(place.name for place in reversed(way) if place.id == place_id or not place.is_root)

    def decide(self, person: PersonHolders, right: Right, place_id: UUID) -> Decision:
        """Ask the rule about this person at this place, with the rows that concern them: nearest first, by name before by group."""
        concerning = tuple(row for row in self.considered(right, place_id) if row.row.holder in person.holders)
        return Decision(person, right, self.way(place_id), concerning, (right, place_id) in self.held(person))

    def considered(self, right: Right, place_id: UUID) -> tuple[Considered, ...]:
        """Return every row that affects a place, for all holders, from the place upwards."""
        key = right, place_id
        if key not in self._considered:
            self._considered[key] = tuple(self._consider_rows(right, self.way(place_id)))
        return self._considered[key]

    def held(self, person: PersonHolders) -> Held:
        """Return every right that this person holds, with the place."""
        if (person.id, person.group_id) not in self._held:
            self.ask([person])
        return self._held[person.id, person.group_id]

    def ask(self, people: Collection[PersonHolders]) -> None:
        """Ask the rule for these people at once, and cache the answers."""
        by_person = find_rights_of_people([person.id for person in people if person.group_id is None], self.places)
        by_group = find_rights_of_groups(
            [person.group_id for person in people if person.group_id is not None], self.places
        )
        for person in people:
            held = by_person.get(person.id) if person.group_id is None else by_group[person.group_id]
            self._held[person.id, person.group_id] = held or frozenset()

    def holders_on(self, place_ids: Collection[UUID]) -> set[tuple[str, int]]:
        """Return the holders of rows on these places."""
        return {row.holder for (_right, pk), rows in self.rows.items() if pk in place_ids for row in rows}

    def _consider_rows(self, right: Right, way: Sequence[GrantPlace]) -> Iterator[Considered]:
        cut_by: GrantPlace | None = None
        for place in way:
            for row in sorted(self.rows.get((right, place.id), ()), key=lambda row: row.holder, reverse=True):
                fate = _decide_fate(row, cut_by)
                yield Considered(row, place, fate, cut_by if fate is Fate.CUT else None)
            if not place.inherits and cut_by is None:
                cut_by = place


def _decide_fate(row: Row, cut_by: GrantPlace | None) -> Fate:
    if row.is_denial:
        return Fate.DENIES
    if row.has_ended:
        return Fate.ENDED
    return Fate.CUT if cut_by else Fate.ALLOWS


def _iterate_grants(base_ids: Collection[UUID]) -> Iterator[Row]:
    in_folder, on_base = "content_object__knowledge_base__in", "content_object__in"
    for rows, path, kind in (
        (FolderUserGrant.objects.all(), in_folder, "user"),
        (FolderGroupGrant.objects.all(), in_folder, "group"),
        (KnowledgeBaseUserGrant.objects.all(), on_base, "user"),
        (KnowledgeBaseGroupGrant.objects.all(), on_base, "group"),
    ):
        yield from _read_grants(rows.filter(**{path: base_ids}), kind)


def _read_grants(grants: QuerySet[Any], kind: str) -> Iterator[Row]:
    ended = Case(When(expires_at__lte=Now(), then=Value(True)), default=Value(False))
    name = F("user__username") if kind == "user" else F("group__name")
    for code, place_id, holder_id, holder_name, since, by, origin, ends_at, has_ended in grants.values_list(
        "permission__codename", "content_object_id", f"{kind}_id", name, "granted_at", "granted_by__username",
        "origin_name",
        "expires_at", ended,
    ):  # fmt: skip
        right = Right(code.partition("_")[0])
        yield Row(
            right,
            place_id,
            (kind, holder_id),
            holder_name,
            False,
            since,
            by or origin,
            ends_at=ends_at,
            has_ended=has_ended,
        )


def _iterate_denials(base_ids: Collection[UUID]) -> Iterator[Row]:
    here = Q(knowledge_base__in=base_ids) | Q(folder__knowledge_base__in=base_ids)
    for denial in Denial.objects.filter(here).select_related("user", "group", "denied_by"):
        place_id = denial.folder_id or denial.knowledge_base_id
        holder = ("user", denial.user_id) if denial.user_id else ("group", denial.group_id or 0)
        assert place_id is not None  # the table's constraint
        by = denial.denied_by.username if denial.denied_by else ""
        name = str(denial.user or denial.group)
        yield Row(Right(denial.right), place_id, holder, name, True, denial.denied_at, by, denial.reason)
