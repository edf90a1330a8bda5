"""The effects of a change of rights: who gains and who loses what, by comparing before with after."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from authz.explanations.decision_reasons import Rulebook
from authz.people.groups import PersonHolders
from authz.permissions import Right
from authz.rights.held_rights import Held


@dataclass(frozen=True)
class RightsTables:
    """All held rights at one moment. documents: node with its own rights → the documents that take theirs from it."""

    rules: Rulebook
    people: Mapping[int, PersonHolders]
    documents: Mapping[UUID, frozenset[UUID]]

    def __post_init__(self) -> None:
        self.rules.ask(self.people.values())  # evaluate now: the rights of this moment are compared later

    def held(self, user_id: int) -> Held:
        person = self.people.get(user_id)
        return self.rules.held(person) if person else frozenset()


@dataclass(frozen=True)
class RightDelta:
    """One right gained or lost. places: knowledge bases and folders, not the nodes of single documents."""

    right: Right
    documents: frozenset[UUID]
    places: frozenset[UUID]


@dataclass(frozen=True)
class PersonEffect:
    person: PersonHolders
    gains: tuple[RightDelta, ...]
    losses: tuple[RightDelta, ...]


@dataclass(frozen=True)
class Effects:
    """The changes for each person, by sign-in name; people with unchanged access are left out."""

    people: tuple[PersonEffect, ...]

    @property
    def gaining(self) -> list[PersonEffect]:
        return [effect for effect in self.people if effect.gains]

    @property
    def losing(self) -> list[PersonEffect]:
        return [effect for effect in self.people if effect.losses]

    @property
    def gained_documents(self) -> frozenset[UUID]:
        """Return the documents that somebody could not get answers from before."""
        return _collect_viewable_documents(delta for effect in self.people for delta in effect.gains)

    @property
    def lost_documents(self) -> frozenset[UUID]:
        return _collect_viewable_documents(delta for effect in self.people for delta in effect.losses)

    @property
    def fingerprint(self) -> str:
        """Return a hash of the effects, so that only the confirmed ones are carried out."""
        lines = sorted(
            f"{sign} {effect.person.id} {delta.right} {sorted(delta.documents)} {sorted(delta.places)}"
            for effect in self.people
            for sign, deltas in (("+", effect.gains), ("-", effect.losses))
            for delta in deltas
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def compare_rights(before: RightsTables, after: RightsTables) -> Effects:
    """Compare each person exactly; people with the same rights before and after are compared once."""
    known: dict[tuple[Held, Held], tuple[tuple[RightDelta, ...], tuple[RightDelta, ...]]] = {}
    found: list[PersonEffect] = []
    for person in sorted({**before.people, **after.people}.values(), key=lambda person: person.username):
        pair = before.held(person.id), after.held(person.id)
        if pair not in known:
            old, new = _group_by_right(pair[0], before), _group_by_right(pair[1], after)
            known[pair] = tuple(_find_additional_rights(new, old)), tuple(_find_additional_rights(old, new))
        gains, losses = known[pair]
        if gains or losses:
            found.append(PersonEffect(person, gains, losses))
    return Effects(tuple(found))


Sets = Mapping[Right, tuple[set[UUID], set[UUID]]]  # documents, places


def _group_by_right(held: Held, standing: RightsTables) -> Sets:
    sets: defaultdict[Right, tuple[set[UUID], set[UUID]]] = defaultdict(lambda: (set(), set()))
    for right, place_id in held:
        documents, places = sets[right]
        documents |= standing.documents.get(place_id, frozenset())
        if standing.rules.places[place_id].kind != "document":
            places.add(place_id)
    return sets


def _find_additional_rights(these: Sets, than: Sets) -> Iterable[RightDelta]:
    for right in Right:
        documents, places = (
            frozenset(mine - theirs)
            for mine, theirs in zip(_find_right_sets(these, right), _find_right_sets(than, right), strict=True)
        )
        if documents or places:
            yield RightDelta(right, documents, places)


def _find_right_sets(sets: Sets, right: Right) -> tuple[set[UUID], set[UUID]]:
    return sets.get(right, (set(), set()))


def _collect_viewable_documents(deltas: Iterable[RightDelta]) -> frozenset[UUID]:
    return frozenset(pk for delta in deltas if delta.right is Right.VIEW for pk in delta.documents)
