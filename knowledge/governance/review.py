"""For whoever reviews rights: a table of folders and groups, and everybody's effective access as rows."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from authz.explain import explain, path_of
from authz.people import Person, as_members, people
from authz.permissions import Right
from authz.rules import Fate, Place, Rulebook
from knowledge.governance.effective_rights import BASE, rulebook_of

HEADERS = (
    "person", "name", "account", "knowledge base", "place", "kind", "right", "granted to", "granted on", "since", "by",
    "until", "path",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """What one group holds at one place: rights that count, and rights that are denied to it there."""

    held: tuple[Right, ...]
    denied: tuple[Right, ...]


@dataclass(frozen=True)
class MatrixRow:
    place: Place
    depth: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Matrix:
    groups: tuple[Person, ...]
    rows: tuple[MatrixRow, ...]
    left_out: int


def matrix(base_id: UUID, shown: Collection[UUID], *, most_rows: int) -> Matrix:
    """The shown places of a base against every group with a row on them or above; depth-first, as the tree is read."""
    rules = rulebook_of([base_id])
    places = [place for place in in_order(rules) if place.id in shown]
    bearing = {above.id for place in places for above in rules.way(place.id)}
    groups = tuple(as_members({pk for kind, pk in rules.holders_on(bearing) if kind == "group"}))
    rows = tuple(
        MatrixRow(place, len(rules.way(place.id)) - 1, tuple(_cell(rules, group, place) for group in groups))
        for place in places[:most_rows]
    )
    return Matrix(groups, rows, max(0, len(places) - most_rows))


def _cell(rules: Rulebook, group: Person, place: Place) -> Cell:
    decisions = [rules.decide(group, right, place.id) for right in Right]
    return Cell(
        tuple(each.right for each in decisions if each.is_allowed),
        tuple(each.right for each in decisions if each.winner and each.winner.fate is Fate.DENIES),
    )


def in_order(rules: Rulebook) -> list[Place]:
    """Places as the tree is read: each after the one above it, neighbours by name."""
    return sorted(
        rules.places.values(),
        key=lambda place: [(each.name.casefold(), str(each.id)) for each in reversed(rules.way(place.id))],
    )


def effective_access(base_ids: Iterable[UUID], shown: Collection[UUID]) -> Iterator[Sequence[Any]]:
    """The header, then a row for each person, place and right that is held, base by base. A document stands there when it has
    rights of its own; the others are as their folder.
    """
    yield HEADERS
    everybody = people(User.objects.all())
    for base_id in base_ids:
        rules = rulebook_of([base_id])
        places = [place for place in in_order(rules) if place.id in shown]
        for person in everybody:
            held = rules.held(person)
            for place in places:
                for right in (right for right in Right if (right, place.id) in held):
                    yield _access(rules, person, right, place)


def _access(rules: Rulebook, person: Person, right: Right, place: Place) -> Sequence[Any]:
    found = explain(rules.decide(person, right, place.id))
    assert found.decisive is not None  # only what is held is listed
    row, names = found.decisive.row, rules.names(place.id)
    return (
        person.username,
        person.name,
        _("active") if person.is_active else _("disabled"),
        names[0],
        " / ".join(names[1:]) if place.kind != BASE else "",
        place.kind,
        right.value,
        f"{row.holder[0]} {row.holder_name}",
        found.decisive.place.name,
        localtime(row.since).isoformat(timespec="seconds"),
        row.by,
        localtime(row.ends_at).isoformat(timespec="seconds") if row.ends_at else "",
        " → ".join(step.text for step in path_of(found.decision, found.decisive)),
    )
