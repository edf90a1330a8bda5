"""The folder tree of a knowledge base with everything that is granted and denied in it, for the page that governs it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from authz.explanations.decision_reasons import Fate, GrantPlace, Row, Rulebook
from authz.permissions import Right
from knowledge.governance.effective_rights import BASE

MAX_LINES = 400  # of a page; what lies deeper is a link away


@dataclass(frozen=True)
class HolderLine:
    """Equal rows of one holder on one place: one line of a table. holder_kind: "user" or "group"."""

    holder_kind: str
    holder_name: str
    rights: tuple[Right, ...]
    is_denial: bool
    since: datetime
    by: str
    reason: str
    ends_at: datetime | None
    has_ended: bool


@dataclass(frozen=True)
class Above:
    """A line of a table about inherited rights. cut_by: the place that does not inherit, for Fate.CUT."""

    place: GrantPlace
    fate: Fate
    cut_by: GrantPlace | None
    holding: HolderLine


@dataclass(frozen=True)
class TreeLine:
    """A place in the tree. left_out: places below it that are not in `children`."""

    place: GrantPlace
    holdings: tuple[HolderLine, ...]
    children: tuple["TreeLine", ...]
    left_out: int = 0


def build_holdings(rows: Iterable[Row]) -> tuple[HolderLine, ...]:
    """Return the rows of one place, denials first, then groups, then people, by name."""
    together: defaultdict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        together[row.holder, row.is_denial, row.ends_at, row.reason].append(row)
    found = [_build_holding(same) for same in together.values()]
    return tuple(sorted(found, key=lambda item: (not item.is_denial, item.holder_kind != "group", item.holder_name)))


def _build_holding(rows: Sequence[Row]) -> HolderLine:
    first = rows[0]
    held = {row.right for row in rows}
    return HolderLine(
        holder_kind=first.holder[0],
        holder_name=first.holder_name,
        rights=tuple(right for right in Right if right in held),
        is_denial=first.is_denial,
        since=max(row.since for row in rows),
        by=first.by,
        reason=first.reason,
        ends_at=first.ends_at,
        has_ended=first.has_ended,
    )


def iterate_inherited_rows(rules: Rulebook, place_id: UUID, places: Sequence[GrantPlace]) -> Iterator[Above]:
    """Yield the rows on `places`, the ancestors, and their effect at `place_id`; the nearest first."""
    bearing = [entry for right in Right for entry in rules.considered(right, place_id)]
    for place in places:
        here = [item for item in bearing if item.place == place]
        for holding in build_holdings(item.row for item in here):
            of_holding = next(item for item in here if _matches_holding(item.row, holding))
            yield Above(place, of_holding.fate, of_holding.cut_by, holding)


def _matches_holding(row: Row, holding: HolderLine) -> bool:
    return (row.holder[0], row.holder_name, row.is_denial, row.ends_at) == (
        holding.holder_kind, holding.holder_name, holding.is_denial, holding.ends_at,
    )  # fmt: skip


def list_place_rows(rules: Rulebook, place_id: UUID) -> list[Row]:
    return [row for right in Right for row in rules.rows.get((right, place_id), ())]


def build_rights_tree(rules: Rulebook, tops: Iterable[UUID], *, shown: Collection[UUID]) -> list[TreeLine]:
    """Return lines from these places downwards, breadth first until the page is full.

    shown: the places that the viewer governs.
    """
    below: defaultdict[UUID, list[GrantPlace]] = defaultdict(list)
    for place in rules.places.values():
        if place.parent_id and place.id in shown:
            below[place.parent_id].append(place)
    starts = [rules.places[top] for top in tops]
    kept = _select_top_places(starts, below)

    def line(place: GrantPlace) -> TreeLine:
        inside = sorted(below[place.id], key=lambda item: (item.kind == "document", item.name.casefold()))
        return TreeLine(
            place,
            build_holdings(list_place_rows(rules, place.id)),
            tuple(line(item) for item in inside if item.id in kept),
            sum(item.id not in kept for item in inside),
        )

    return [line(place) for place in sorted(starts, key=lambda start: (start.kind != BASE, start.name.casefold()))]


def _select_top_places(starts: Sequence[GrantPlace], below: dict[UUID, list[GrantPlace]]) -> set[UUID]:
    """Return the places nearest to the top, as many as a page holds."""
    kept: set[UUID] = set()
    level = list(starts)
    while level and len(kept) < MAX_LINES:
        kept |= {place.id for place in level[: MAX_LINES - len(kept)]}
        level = [child for place in level if place.id in kept for child in below[place.id]]
    return kept
