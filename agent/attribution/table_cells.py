"""What the cells of a table give: their amounts, and what comes out of them by sum, difference, share and order."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, pairwise

from agent.attribution.quantities import quantities
from agent.attribution.tables import Span, Table, day_of, number_of
from agent.attribution.words import says

Amount = tuple[str, Decimal]
"""A dimension, "" for a number of things, and a value in its base unit."""
_DOTTED = re.compile(r"\d+(?:\.\d+)+")
_BRACKET = re.compile(r"[（(]([^（()）]+)[)）]\s*$")
_CHANGES = ("change", "变化")


@dataclass(frozen=True)
class Cells:
    """rows, columns: places in the table. A choice of columns that holds no numbers means all that do."""

    table: Table

    def amounts(
        self, rows: Sequence[int], columns: Sequence[int], *, narrowed: bool, compared: bool = True
    ) -> Iterator[Amount]:
        """What can be said of rows: their cells, sums, differences, shares, and how many times one is the other.

        narrowed: the rows are named; of all rows no cell alone is said. compared: also how far the first is before the second.
        """
        if narrowed or len(self.table.rows) == 1:
            yield from self.values(rows, columns)
        if len(rows) > 1:
            yield from self.sums(rows, columns)
        for place in self._numeric(columns):
            numbers, kind = self._numbers(place), self._unit(place)[0]
            picked, first = [numbers[row] for row in rows], pairwise(sorted(numbers)[-2:])
            for one, other in combinations(picked, 2) if len(picked) == 2 else first if compared else ():
                yield kind, abs(one - other)
                if min(one, other) > 0:
                    yield "times", max(one, other) / min(one, other)
            if len(picked) > 1:
                mean = sum(picked, Decimal(0)) / len(picked)
                yield from ((kind, mean), (kind, mean.quantize(Decimal(1))), (kind, mean.quantize(Decimal("0.1"))))
            if narrowed and kind != "percent" and sum(numbers, Decimal(0)):
                yield "percent", 100 * sum(picked, Decimal(0)) / sum(numbers, Decimal(0))
        if len(rows) == 1:
            here = [self._numbers(place)[rows[0]] for place in self._numeric(())]
            yield from ((self.table.unit, abs(one - other)) for one, other in combinations(here, 2))

    def values(self, rows: Sequence[int], columns: Sequence[int]) -> Iterator[Amount]:
        """The amounts in cells, a change without its sign."""
        for place in self._numeric(columns):
            yield from ((self._unit(place)[0], abs(self._numbers(place)[row])) for row in rows)
        for cell in (cell for row in rows for cell in self.table.rows[row]):
            yield from ((each.dimension, each.value) for each in quantities(cell.lower()) if each.dimension)

    def sums(self, rows: Sequence[int], columns: Sequence[int]) -> Iterator[Amount]:
        for place in self._numeric(columns):
            yield self._unit(place)[0], sum((self._numbers(place)[row] for row in rows), Decimal(0))

    def counts(self, rows: Sequence[int], *, narrowed: bool) -> list[Decimal]:
        """How many rows there are: those named, those shown, or all."""
        if self.table.is_single:
            return []
        shown = len(self.table.rows)
        return [Decimal(len(rows) if narrowed else self.table.total or shown), Decimal(shown)]

    def ordered(self, columns: Sequence[int] = (), *, in_time: bool = False) -> list[int]:
        """Those of the columns that have an order, or all that do: numbers, or, in time, days and versions."""
        found = [place for place in range(len(self.table.columns)) if self.keys(place)]
        if not columns:
            found = [place for place in found if in_time is (place not in self._numeric(()))] or found
        return [place for place in columns if place in found] or found

    def keys(self, column: int) -> list[tuple[Decimal, ...]]:
        """What a column is ordered by, row by row: numbers, versions or days; nothing for names."""
        cells = [row[column] for row in self.table.rows]
        if any(cell.count(".") > 1 for cell in cells) and all(map(_DOTTED.fullmatch, cells)):
            return [tuple(Decimal(part) for part in cell.split(".")) for cell in cells]
        numbers = [number_of(cell) for cell in cells]
        if days := [day for cell in cells if (day := day_of(cell))]:
            numbers = [Decimal(day.toordinal()) for day in days]
        known: list[tuple[Decimal, ...]] = [(number,) for number in numbers if number is not None]
        return known if len(known) == len(cells) else []

    def changes(self) -> list[Decimal | None]:
        """The change of each row; nothing where the table compares nothing."""
        places = [place for place, name in enumerate(self.table.columns) if name in _CHANGES]
        return self.table.numbers(places[0]) if places else []

    def rows_on(self, span: Span) -> list[int]:
        """The rows that have a day of a time in a cell."""
        return [
            place
            for place, row in enumerate(self.table.rows)
            if any(
                (day := day_of(cell)) and (not span[0] or span[0] <= day) and (not span[1] or day < span[1])
                for cell in row
            )
        ]

    def _numeric(self, columns: Sequence[int]) -> list[int]:
        rows = self.table.rows
        places = range(len(self.table.columns)) if rows else ()
        numeric = [place for place in places if all(number_of(row[place]) is not None for row in rows)]
        return [place for place in columns if place in numeric] or numeric

    def _unit(self, column: int) -> Amount:
        """The dimension of a column's numbers, and one of them in its base unit."""
        name = self.table.columns[column].lower().replace("_", " ")
        if says(name, "share") and name != "part":
            return "percent", Decimal(1)
        bracket = _BRACKET.search(name)
        measured = quantities(f"1 {bracket[1] if bracket else name}")
        if measured and measured[0].dimension:
            return measured[0].dimension, measured[0].value
        return self.table.unit, Decimal(1)

    def _numbers(self, column: int) -> list[Decimal]:
        """The numbers of a column in its base unit, by row; what is empty counts as nothing."""
        factor = self._unit(column)[1]
        return [(value or Decimal(0)) * factor for value in self.table.numbers(column)]
