"""A question that is being read: the items that are left, what was taken out, and what it is grouped by."""

import re
from dataclasses import dataclass, field, replace

from agent.business.ask.meaning import Group, NotUnderstood, Period
from agent.business.ask.reading.references import References
from agent.business.ask.reading.taken import Filters
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item, Row
from agent.business.ask.words.lexicon import ModelRef

_OF_ONE = frozenset(("for", "in", "of", "over", "during", "within", "through"))


@dataclass
class Clause:
    """row: what is still to be read; the parts of a reading take from it what they understand."""

    row: Row
    references: References
    is_chinese: bool
    filters: Filters = field(default_factory=Filters)
    groups: list[Group] = field(default_factory=list)
    is_all: bool = False  # “in all”
    is_severally: bool = False  # “respectively”, “分别”

    def take_groups(self) -> None:
        """Take out what is grouped by."""
        one = "(?:g[td]|tg|[Mdgt])"
        while True:
            taken = self._each_of_number() or self.row.take(f"G{one}(?:&{one})*") or self.row.take("Gg|gt|tg|g")
            if taken is None:
                self.groups = list(dict.fromkeys(self.groups))  # “一个月一个月的，分别”
                self._date_periods()
                return
            if taken[0].kind is Kind.PERIOD and len(taken) == 1:
                self._require_each(taken[0])
            self._add_groups([item for item in taken if item.kind not in (Kind.GROUP, Kind.AND)])

    def _require_each(self, period: Item) -> None:
        """“Sales for the year” is of one year, and “by category, all years” may be of all together. Raises NotUnderstood."""
        items = self.references.items
        place = self.references.place(period)
        before = items[max(0, place - 2) : place]
        is_of_one = [item.text.lower() for item in before[1:]] == ["the"] and before[0].text.lower() in _OF_ONE
        is_of_all = bool(self.groups) and any(item.kind is Kind.ALL for item in before[-1:])
        if is_of_one or is_of_all:
            raise NotUnderstood("one of them, or each")

    def _date_periods(self) -> None:
        """“Customers who ordered each month”, “projects started per quarter”: the periods are of the time that is named."""
        if not re.fullmatch("C?U?Mt|Mt?Ct?", self.row.letters) or not any(isinstance(g, Period) for g in self.groups):
            return
        named = self.row.take("t")
        if named:
            column = self.references.dimension(named[0])
            self.groups = [
                replace(group, dimension=column) if isinstance(group, Period) and group.dimension is None else group
                for group in self.groups
            ]

    def _each_of_number(self) -> list[Item] | None:
        """“In each of the two offices”."""
        taken = self.row.take("G#d")
        if taken:
            self.require_all(taken[1], taken[2])
        return [taken[0], taken[2]] if taken else None

    def require_all(self, number: Item, column: Item) -> None:
        """A number of groups is the number of values there are. Raises NotUnderstood: which of them is not said."""
        values = self.references.lexicon.dimension(self.references.dimension(column)).values
        if len(values) != number.number:
            raise NotUnderstood("which of the groups")

    def _add_groups(self, items: list[Item]) -> None:
        period = next((item for item in items if item.kind is Kind.PERIOD), None)
        time = next((item for item in items if item.kind is Kind.TIME), None)
        for item in items:
            if item is time and period is not None:
                continue
            if item is period:
                column = self.references.dimension(time) if time else None
                self.groups.append(Period(item.sign, column))  # type: ignore[arg-type]  # one of PERIODS
            else:
                self.groups.append(self.group(item))

    def group(self, item: Item) -> Group:
        """What an item groups by."""
        if item.kind is Kind.MODEL:
            return ModelRef(self.references.model(item))
        if item.kind is Kind.PERIOD:
            return Period(item.sign)  # type: ignore[arg-type]  # one of PERIODS
        return self.references.dimension(item)
