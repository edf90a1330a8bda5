"""Review rights: a table of folders and groups, everybody's effective access as rows, and why a person has a right."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.explanations.decision_reasons import Fate, GrantPlace, Rulebook
from authz.explanations.explain import Explanation, explain_decision, iterate_path_steps
from authz.people.groups import PersonHolders, list_people, make_sample_members
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.governing import is_reviewer
from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.governance.effective_rights import (
    BASE,
    base_id_of,
    find_reviewed_places,
    list_bases_of_places,
    load_person,
    load_rulebook,
    node_id_of,
)
from knowledge.governance.parameters import Place as GovernedPlace
from knowledge.governance.parameters import find_place_kind
from knowledge.models import KnowledgeBase

HEADERS = (
    "person", "name", "account", "knowledge base", "place", "kind", "right", "granted to", "granted on", "since", "by",
    "until", "path",
)  # fmt: skip

MAX_ROWS = 500  # places of a matrix; the export has all


@dataclass(frozen=True)
class GroupRights:
    """The rights of one group at one place: effective ones, and denied ones."""

    held: tuple[Right, ...]
    denied: tuple[Right, ...]


@dataclass(frozen=True)
class MatrixRow:
    place: GrantPlace
    depth: int
    cells: tuple[GroupRights, ...]


@dataclass(frozen=True)
class Matrix:
    groups: tuple[PersonHolders, ...]
    rows: tuple[MatrixRow, ...]
    left_out: int


def build_rights_matrix(base_id: UUID, shown: Collection[UUID], *, most_rows: int) -> Matrix:
    """Return the shown places of a base, depth-first, against every group with a row on them or above."""
    rules = load_rulebook([base_id])
    places = [place for place in sort_places_in_tree(rules) if place.id in shown]
    bearing = {above.id for place in places for above in rules.way(place.id)}
    groups = tuple(make_sample_members({pk for kind, pk in rules.holders_on(bearing) if kind == "group"}))
    rules.ask(groups)
    rows = tuple(
        MatrixRow(
            place, len(rules.way(place.id)) - 1, tuple(_build_matrix_cell(rules, group, place) for group in groups)
        )
        for place in places[:most_rows]
    )
    return Matrix(groups, rows, max(0, len(places) - most_rows))


def _build_matrix_cell(rules: Rulebook, group: PersonHolders, place: GrantPlace) -> GroupRights:
    decisions = [rules.decide(group, right, place.id) for right in Right]
    return GroupRights(
        tuple(decision.right for decision in decisions if decision.is_allowed),
        tuple(decision.right for decision in decisions if decision.nearest(Fate.DENIES)),
    )


def sort_places_in_tree(rules: Rulebook) -> list[GrantPlace]:
    """Return places in tree order: each after its parent, siblings by name."""
    return sorted(
        rules.places.values(),
        key=lambda place: [(item.name.casefold(), str(item.id)) for item in reversed(rules.way(place.id))],
    )


def iterate_effective_access(base_ids: Iterable[UUID], shown: Collection[UUID]) -> Iterator[Sequence[Any]]:
    """Yield the header, then a row for each person, place and right held, base by base. A document is listed if it has rights of
    its own; the others have those of their folder.
    """
    yield HEADERS
    everybody = list_people(User.objects.all())
    for base_id in base_ids:
        rules = load_rulebook([base_id])
        rules.ask(everybody)
        places = [place for place in sort_places_in_tree(rules) if place.id in shown]
        for person in everybody:
            held = rules.held(person)
            for place in places:
                for right in (right for right in Right if (right, place.id) in held):
                    yield _build_access_row(rules, person, right, place)


def _build_access_row(rules: Rulebook, person: PersonHolders, right: Right, place: GrantPlace) -> Sequence[Any]:
    found = explain_decision(rules.decide(person, right, place.id))
    assert found.decisive is not None  # only rights held are listed
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
        " → ".join(step.text for step in iterate_path_steps(found.decision, found.decisive)),
    )


def load_reviewed_matrix(by: Principal, base_id: UUID) -> tuple[KnowledgeBase, Matrix]:
    """Return the matrix of a base. Raises NotFound, the same for a missing base and one without governed places."""
    shown = find_reviewed_places(by)
    base = list_bases_of_places(shown).filter(pk=base_id).first()
    if base is None:
        raise _build_not_found_error()
    record_review(by, base)
    return base, build_rights_matrix(base.pk, set(shown), most_rows=MAX_ROWS)


def export_access(by: Principal, base_id: UUID | None = None) -> tuple[Iterator[Sequence[Any]], str]:
    """Return the rows of everybody's effective access with a name for their file; recorded. base_id: only this knowledge base.

    Raises NotFound, the same for missing and for where nothing is governed.
    """
    shown = find_reviewed_places(by)
    chosen = [pk for pk in list_bases_of_places(shown).values_list("pk", flat=True) if base_id in {None, pk}]
    if not chosen:
        raise _build_not_found_error()
    record_action(by, Action.ACCESS_EXPORTED, detail={"knowledge_bases": [str(pk) for pk in chosen]})
    return iterate_effective_access(chosen, set(shown)), f"effective-access-{timezone.localdate():%Y-%m-%d}.csv"


def record_review(by: Principal, place: GovernedPlace) -> None:
    """Record that an auditor has looked at the rights on a place; views by its managers are not recorded."""
    if is_reviewer(by) and not by.is_superuser:
        record_action(by, Action.ACCESS_EXPLAINED, place, detail={"review": find_place_kind(place)})


def _build_not_found_error() -> NotFound:
    return NotFound(_("There is no such knowledge base, or you manage nothing in it."))


@transaction.atomic
def explain_rights(by: Principal, user: User, place: GovernedPlace) -> list[Explanation]:
    """Return each right of this person at a place that `by` reviews, with its reason. Recorded."""
    rules, person = load_rulebook([base_id_of(place)]), load_person(user)
    found = [explain_decision(rules.decide(person, right, node_id_of(place))) for right in Right]
    held = [item.right.value for item in found if item.is_allowed]
    record_action(by, Action.ACCESS_EXPLAINED, place, detail={"user": user.pk, "held": held})
    return found


def iterate_viewable_places(user: User, base: KnowledgeBase) -> Iterator[str]:
    """Yield the places in a base that somebody may view: each of them reveals the base's name, too."""
    rules, person = load_rulebook([base.pk]), load_person(user)
    for right, place_id in rules.held(person):
        if right is Right.VIEW and place_id != base.pk:
            yield rules.places[place_id].name


def parse_right(word: str) -> Right:
    """Return a right by its name. Raises InvalidInput, naming the five."""
    if word not in Right.values:
        raise InvalidInput(
            _("“%(word)s” is not a right. The rights are: %(rights)s.")
            % {"word": word, "rights": ", ".join(Right.values)}
        )
    return Right(word)
