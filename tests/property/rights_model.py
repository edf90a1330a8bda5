"""What a person may do, said in Python as shortly as it can be: the oracle of the tests of rights."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from authz.permissions import Right

Place = tuple[str, int]  # "base", "folder" or "document", and which
Holder = tuple[str, int]  # "user" or "group", and which; the groups below UNITS are plain, the others are org units
GROUPS, UNITS, PEOPLE, BASES = 2, 3, 5, 2


@dataclass
class Model:
    """A company. above: the place each folder and document lies in. allowed: whether the grant still counts."""

    active: set[int] = field(default_factory=lambda: set(range(PEOPLE)))
    members: dict[int, set[int]] = field(default_factory=lambda: {group: set() for group in range(GROUPS + UNITS)})
    unit_above: dict[int, int] = field(default_factory=dict)
    above: dict[Place, Place] = field(default_factory=dict)
    closed: set[Place] = field(default_factory=set)
    allowed: dict[tuple[Holder, Place, Right], bool] = field(default_factory=dict)
    denied: set[tuple[Holder, Place, Right]] = field(default_factory=set)

    def holds(self, person: int, right: Right, place: Place) -> bool:
        """The rule. Denied here or anywhere above: no. Else allowed here, or above with no closed place in between."""
        mine = self.holders(person)
        if person not in self.active or any((who, at, right) in self.denied for who in mine for at in self.way(place)):
            return False
        for at in self.way(place):
            if any(self.allowed.get((who, at, right)) for who in mine):
                return True
            if at in self.closed:
                return False
        return False

    def holders(self, person: int) -> set[Holder]:
        """The person, their groups, and the units above their units."""
        groups = {group for group, members in self.members.items() if person in members}
        while more := {self.unit_above[unit] for unit in groups if unit in self.unit_above} - groups:
            groups |= more
        return {("user", person), *(("group", group) for group in groups)}

    def way(self, place: Place) -> Iterator[Place]:
        """This place and those above it, up to its base."""
        yield place
        while place in self.above:
            place = self.above[place]
            yield place

    def places(self, kind: str) -> list[Place]:
        """Every place of a kind, in the order in which they were made."""
        known = [("base", number) for number in range(BASES)] if kind == "base" else self.above
        return [place for place in known if place[0] == kind]

    def holding(self, person: int, right: Right, kind: str) -> list[int]:
        """The numbers of the places of a kind on which a person holds a right."""
        return sorted(number for at, number in self.places(kind) if self.holds(person, right, (at, number)))

    def remove(self, place: Place) -> None:
        """Forget a place with what is granted and denied on it."""
        del self.above[place]
        self.closed.discard(place)
        self.allowed = {key: counts for key, counts in self.allowed.items() if key[1] != place}
        self.denied = {key for key in self.denied if key[1] != place}
