"""What a question says, part by part, before it is a query: every item of it is used by one of the parts, or nothing is read."""

from dataclasses import dataclass, field
from datetime import date

from business.logical_query.catalog import Catalog
from business.logical_query.query import Comparison, Dimension, Filter, Metric, Related, Sign, TimeRange
from business.logical_query.times import Span, days_of
from business.parsing.reader.items import Item
from business.parsing.reader.lexicon import Ref
from business.semantic_layer.model import Dimension as LayerDimension

_SOFT = frozenset({"stop", "refers", "only", "currency", "counter", "occasion", "unit"})
_NEUTRAL = frozenset({"much", "what", "list", "with", "exactly", "between", "at_least", "and", "compared_after"})
SUPERLATIVES = ("max", "min", "most", "fewest", "latest", "earliest", "dearest", "cheapest", "top", "bottom")


class Unread(Exception):
    """The question is not read. unknown: words that stand for nothing here."""

    def __init__(self, why: str = "", *, unknown: tuple[str, ...] = ()) -> None:
        super().__init__(why)
        self.unknown = unknown


@dataclass(frozen=True)
class Threshold:
    """A metric of each thing against a number."""

    metric: Metric
    op: Sign
    value: float


@dataclass
class Slots:
    """items: with one meaning each (`ref`), in the order of the question. used: the places of those that have said their part."""

    catalog: Catalog
    items: list[Item]
    refs: list[Ref | None]
    today: date
    used: set[int] = field(default_factory=set)
    filters: list[Filter] = field(default_factory=list)
    thresholds: list[Threshold] = field(default_factory=list)
    related: list[Related] = field(default_factory=list)
    missing: list[tuple[str, bool]] = field(default_factory=list)
    times: list[TimeRange] = field(default_factory=list)
    dimensions: list[Dimension] = field(default_factory=list)
    comparison: Comparison | None = None
    limit: int | None = None
    descending: bool | None = None
    ranked_by: Metric | str | None = None
    rank_role: str = ""
    order: tuple[str, bool] | None = None
    owners: set[str] = field(default_factory=set)

    def days(self, time: TimeRange) -> Span:
        return days_of(time, self.today, self.catalog.layer.fiscal_year_start)

    def kind(self, place: int) -> str:
        """model, measure, dimension, value, time, number, role; "" beyond the ends."""
        if not 0 <= place < len(self.items):
            return ""
        ref, item = self.refs[place], self.items[place]
        if ref is not None:
            return ref.kind
        if item.time is not None:
            return "time"
        return "role" if item.roles and item.number is None else "number" if item.number is not None else ""

    def ref(self, place: int) -> Ref:
        found = self.refs[place]
        assert found is not None  # asked only of what is of the layer
        return found

    def roles(self, place: int) -> frozenset[str]:
        if not 0 <= place < len(self.items) or self.refs[place] is not None or self.items[place].time is not None:
            return frozenset()
        return frozenset(self.items[place].roles)

    def has(self, place: int, *roles: str) -> bool:
        return bool(self.roles(place) & set(roles))

    def is_soft(self, place: int) -> bool:
        """Whether an item may be passed over."""
        return bool(self.roles(place) & _SOFT)

    def before(self, place: int) -> int:
        """The place of the item before, over those that may be passed over; -1 for none."""
        place -= 1
        while place >= 0 and self.is_soft(place):
            place -= 1
        return place

    def after(self, place: int) -> int:
        """The place of the item after, over those that may be passed over; the length for none."""
        place += 1
        while place < len(self.items) and self.is_soft(place):
            place += 1
        return place

    def free(self, *kinds: str) -> list[int]:
        """The places of items of these kinds that no part uses yet."""
        return [place for place in range(len(self.items)) if place not in self.used and self.kind(place) in kinds]

    def named(self, kind: str, name: str) -> list[int]:
        """The places of items that mean this table or column, used or not."""
        return [p for p in range(len(self.items)) if self.kind(p) == kind and self.ref(p).name == name]

    def said(self, *roles: str) -> list[int]:
        """The places of items with one of these roles that no part uses yet."""
        return [place for place in range(len(self.items)) if place not in self.used and self.has(place, *roles)]

    def touch(self, one: int, other: int) -> bool:
        """Whether nothing but 的 and counters stands between two places."""
        first, last = sorted((one, other))
        return all(
            self.items[place].text == "的" or self.has(place, "counter", "occasion", "currency", "unit")
            for place in range(first + 1, last)
        )

    def use(self, *places: int) -> None:
        self.used.update(places)

    def dimension(self, place: int) -> LayerDimension:
        return self.catalog.dimension(self.ref(place).name)[1]

    def is_number(self, place: int) -> bool:
        return self.kind(place) == "dimension" and self.dimension(place).type == "number"

    def is_time(self, place: int) -> bool:
        return self.kind(place) == "dimension" and self.dimension(place).type == "time"

    def require_used(self) -> None:
        """Raises Unread for the first item that has said nothing."""
        left = [
            place
            for place in range(len(self.items))
            if place not in self.used and not self.is_soft(place) and not self.roles(place) & _NEUTRAL
        ]
        if left:
            raise Unread("", unknown=tuple(self.items[place].text for place in left))
        if any(self._is_of_two_things(place) for place in self.said("and")):
            raise Unread("two things")

    def _is_of_two_things(self, place: int) -> bool:
        """“Customers and products”: a joint that no part has used, between a table and something else that is asked for."""
        kinds = [self.kind(self.before(place)), self.kind(self.after(place))]
        return "model" in kinds and set(kinds) <= {"model", "measure", "dimension"}
