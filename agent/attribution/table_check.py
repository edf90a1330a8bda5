"""Whether a table says what a sentence says: each number, order and direction is looked up or recomputed from its cells.

Supported is a sentence of which every clause was computed, whose every word the table or the question explains, and that says
under which conditions it holds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from agent.attribution.quantities import Quantity, quantities
from agent.attribution.table_cells import Amount, Cells
from agent.attribution.table_reading import (
    Clause,
    Reading,
    columns_named,
    read_claim,
    rows_of,
    without_quantities,
)
from agent.attribution.tables import Condition, Span, Table, number_of
from agent.attribution.verdict import SUPPORTED, Finding, Verdict, contradicted, unsettled
from agent.attribution.vocabulary import Vocabulary
from agent.attribution.words import says

_RELATES = ("most", "least", "more", "fewer", "difference", "rank", "up", "down", "share")  # one row to others
MONTH = timedelta(days=31)  # a longer time may be what a column is about


def check_table(sentence: str, table: Table, *, question: str, today: date) -> Finding:
    """What the table says of the sentence."""
    return _Check(read_claim(sentence, table, today), table, question, sentence.lower(), today).finding()


@dataclass
class _Check:
    reading: Reading
    table: Table
    question: str
    sentence: str
    today: date
    facts: int = 0
    counts: bool = False  # it says how many rows there are, or that there are none

    def __post_init__(self) -> None:
        self.cells = Cells(self.table)

    def finding(self) -> Finding:
        found = [self._times(), *self._clauses()]
        for verdict in (Verdict.CONTRADICTED, Verdict.UNSETTLED):
            if hit := next((each for each in found if each.verdict is verdict), None):
                return hit
        if not self.facts:
            return unsettled("no fact of the table")
        return self._words() or self._conditions() or SUPPORTED

    def _times(self) -> Finding:
        """Each time that is said must be one of the query's, or the day of a row that is named."""
        for span in self.reading.spans:
            if any(_same(span, each, self.today) for each in self.table.spans) or self._is_given(span):
                continue
            if self.table.spans and not any(_overlap(span, each) and _begins(span, each) for each in self.table.spans):
                return contradicted("time")
            return unsettled("time")
        return SUPPORTED

    def _is_given(self, span: Span) -> bool:
        """Whether it is the day of a row, or a year that the question, a condition or a column names."""
        said = " ".join((self._given, *self.table.columns))
        return bool(self.cells.rows_on(span)) or (span[0] is not None and str(span[0].year) in said)

    def _asks(self, span: Span) -> bool:
        return any(_same(span, each, self.today) for each in self.table.spans)

    def _clauses(self) -> Iterator[Finding]:
        rows, order = list(range(len(self.table.rows))), self.reading.clauses
        narrowed = False
        for clause in order:
            if cells := clause.cells:
                rows, narrowed = rows_of(self.table, cells), True
                if not rows:
                    yield contradicted("no such row")
                    return
            elif dated := [row for span in clause.spans if not self._asks(span) for row in self.cells.rows_on(span)]:
                rows, narrowed = dated, True
            yield self._clause(clause, rows, narrowed=narrowed)

    def _clause(self, clause: Clause, rows: list[int], *, narrowed: bool) -> Finding:
        if self.table.is_empty:
            return self._nothing(clause)
        if clause.says("none", "not") and not Vocabulary(self._given).says(clause.text):
            return unsettled("negation")
        if self._is_cut and self._speaks_of_all(clause, narrowed=narrowed):
            return unsettled("rows that are not shown")
        columns = [place for place in columns_named(clause, self.table) if self.cells.keys(place)]
        checks = (
            self._dates,
            self._quantifier,
            self._direction,
            self._extreme,
            self._compared,
            self._order,
            self._numbers,
        )
        found = [check(clause, rows, columns, narrowed) for check in checks]
        for verdict in (Verdict.CONTRADICTED, Verdict.UNSETTLED):
            if hit := next((each for each in found if each and each.verdict is verdict), None):
                return hit
        if len({name.column for name in clause.cells}) > 1:
            self.facts += 1  # values of several columns that meet in a row
        return SUPPORTED

    def _speaks_of_all(self, clause: Clause, *, narrowed: bool) -> bool:
        """Whether it says of all rows what is known only of those that are shown."""
        if clause.says("shown") or (narrowed and not clause.says("together", "all", "only")):
            return False
        return clause.says("most", "least") or any(each.value != self.table.total for each in _hard(clause))

    def _nothing(self, clause: Clause) -> Finding:
        if any(each.value for each in _hard(clause)) and not self._of_conditions(clause):
            return contradicted("there is none")
        if clause.says("none") or any(each.value == 0 for each in clause.quantities):
            self.facts, self.counts = self.facts + 1, True
        elif clause.says("not"):
            return unsettled("negation")
        return SUPPORTED

    def _of_conditions(self, clause: Clause) -> bool:
        said = {each.value for each in quantities(self._given.lower())}
        return all(each.value in said for each in _hard(clause))

    def _dates(self, clause: Clause, rows: list[int], _columns: list[int], _narrowed: bool) -> Finding | None:
        """A day that a named row has, or has not."""
        for span in clause.spans:
            there = self.cells.rows_on(span)
            is_day = bool(span[0] and span[1] and span[1] - span[0] <= MONTH)
            if clause.cells and there and is_day and not self._asks(span):
                if not set(rows) & set(there):
                    return contradicted("another row's time")
                self.facts += 1
        return None

    def _quantifier(self, clause: Clause, rows: list[int], _columns: list[int], narrowed: bool) -> Finding | None:
        """All: what is said of all rows must not be the value of some."""
        is_whole = all(each.value == len(self.table.rows) for each in clause.quantities)
        if not clause.says("all") or not clause.cells or not is_whole:
            return None
        sign = next(place for place, char in enumerate(clause.text) if ord(char) >= 0xF0000)
        if not says(clause.text[:sign], "all"):
            return unsettled("all of a part") if len(clause.cells) == 1 and self.table.conditions else None
        is_whole = len(rows) == len(self.table.rows)
        self.facts += is_whole
        return None if is_whole or not narrowed else contradicted("not all of them")

    def _direction(self, clause: Clause, rows: list[int], columns: list[int], _narrowed: bool) -> Finding | None:
        """Up, down or the same: the sign of the change of each row."""
        wanted = [(sign, name) for name, sign in (("up", 1), ("down", -1), ("same", 0)) if clause.says(name)]
        if not wanted and self.cells.changes() and len(clause.cells) < 2 and not clause.says("most", "least"):
            wanted = [(sign, name) for name, sign in (("more", 1), ("fewer", -1)) if clause.says(name)]
        if not wanted:
            return None
        changes = self.cells.changes()
        if len(wanted) == 1 and not changes and (pair := self._pair(clause)):
            numbers = [self.cells.keys(place) for place in self.cells.ordered(columns)]
            signs = {(keys[pair[1]] > keys[pair[0]]) - (keys[pair[1]] < keys[pair[0]]) for keys in numbers}
            self.facts += 1
            return None if wanted[0][0] in signs else contradicted("direction")
        if len(wanted) > 1 or not changes:
            return unsettled("direction")
        if any(changes[row] is None for row in rows):
            return unsettled("direction")
        signs = {(change > 0) - (change < 0) for row in rows if (change := changes[row]) is not None}
        if signs != {wanted[0][0]}:
            return contradicted("direction")
        self.facts += 1
        return None

    def _pair(self, clause: Clause) -> tuple[int, int] | None:
        """The two rows that a clause names one after the other, by a value or by a time each."""
        named = [rows_of(self.table, [name]) for name in clause.cells]
        if len(named) == 2 and clause.cells[0].column != clause.cells[1].column:
            return None
        named = named or [self.cells.rows_on(span) for span in clause.spans if not self._asks(span)]
        return (named[0][0], named[1][0]) if [len(each) for each in named] == [1, 1] else None

    def _extreme(self, clause: Clause, rows: list[int], columns: list[int], narrowed: bool) -> Finding | None:
        """The most or the least of a column."""
        sides = [side for side in ("most", "least") if clause.says(side)]
        if not sides or clause.says("rank"):
            return None
        if len(sides) > 1 or not narrowed:
            return None if says(self.question.lower(), *sides) else unsettled("extreme")
        if len(rows) != 1 and not clause.cells:
            return unsettled("extreme")
        edge = min if sides[0] == "least" else max
        ranked = [self.cells.keys(place) for place in columns or self.cells.ordered(in_time=clause.says("when"))]
        holds = {any(keys[row] == edge(keys) for row in rows) for keys in ranked}
        if holds != {True}:  # of columns that are not named it must be so in all, and is wrong where it is in none
            return (
                contradicted("extreme") if False in holds and (columns or True not in holds) else unsettled("extreme")
            )
        self.facts += 1
        return None

    def _compared(self, clause: Clause, _rows: list[int], columns: list[int], _narrowed: bool) -> Finding | None:
        """More or less than another row, or than a condition says."""
        sides = [side for side in ("more", "fewer") if clause.says(side)]
        if not sides or self.cells.changes():
            return None
        if len(sides) > 1:
            return unsettled("comparison")
        pair = self._pair(clause)
        if pair is None:
            is_condition = any(each.sign[:1] in ("<", ">") for each in self.table.conditions)
            return None if is_condition or clause.says("rank") or _hard(clause) else unsettled("comparison")
        ranked = [self.cells.keys(place) for place in self.cells.ordered(columns)]
        more = [keys[pair[0]] > keys[pair[1]] for keys in ranked]
        if not any(each is (sides[0] == "more") for each in more):
            return contradicted("comparison")
        self.facts += 1
        return None

    def _order(self, clause: Clause, _rows: list[int], _columns: list[int], _narrowed: bool) -> Finding | None:
        """What is named one after the other in a ranking goes down, or up, in some column."""
        if not clause.says("rank") or _hard(clause):
            return None
        named = [name for each in self.reading.clauses for name in each.cells]
        rows = [rows_of(self.table, [name])[0] for name in named]
        for place in self.cells.ordered() if len(rows) > 1 else ():
            ranked = self.cells.keys(place)
            keys = [ranked[row] for row in rows]
            if all(a >= b for a, b in pairwise(keys)) or all(a <= b for a, b in pairwise(keys)):
                self.facts += 1
                return None
        return unsettled("order")

    def _numbers(self, clause: Clause, rows: list[int], columns: list[int], narrowed: bool) -> Finding | None:
        is_cell = narrowed and len(rows) == 1 and bool(columns) and not clause.says(*_RELATES)
        known = list(self.cells.amounts(rows, columns, narrowed=narrowed, compared=not is_cell))
        given = [(each.dimension, each.value) for each in quantities(self._given.lower())]
        for said in clause.quantities:
            if any(_is(said, amount) for amount in known):
                self.facts += 1
                continue
            counts = [] if is_cell else self.cells.counts(rows, narrowed=narrowed)
            if any(said.fits(count) for count in counts) and said.dimension == "":
                self.facts, self.counts = self.facts + 1, True
                continue
            if said.is_soft or any(_is(said, amount) for amount in given):
                continue
            return self._missing(said, clause, rows, columns, narrowed=narrowed)
        return None

    def _missing(
        self, said: Quantity, clause: Clause, rows: list[int], columns: list[int], *, narrowed: bool
    ) -> Finding:
        """A number that the named rows do not give: wrong where they give another one of its kind, else open."""
        if self.table.is_single and said.dimension in ("", self.table.unit):
            is_told = any(_is(each, amount) for each in clause.quantities for amount in self.cells.values([0], []))
            return unsettled("another number") if is_told else contradicted("number")
        if said.dimension.startswith("money") and self.table.unit and said.dimension != self.table.unit:
            return contradicted("unit")
        others = [row for row in range(len(self.table.rows)) if row not in rows]
        if narrowed and any(_is(said, amount) for amount in self.cells.values(others, columns)):
            return contradicted("another row's number")
        if clause.says("together") and len(rows) > 1 and not self._is_cut:
            sums = [amount for amount in self.cells.sums(rows, columns) if amount[0] == said.dimension]
            if sums:
                return contradicted("sum")
        return unsettled(f"number {said.value.normalize():f}")

    @property
    def _is_cut(self) -> bool:
        return (self.table.total or 0) > len(self.table.rows)

    @property
    def _given(self) -> str:
        """What may be repeated although no row says it."""
        said = [*(each.text for each in self.table.conditions if each.span is None), self.table.definitions]
        return " ".join((self.question, *said))

    def _words(self) -> Finding | None:
        """The first word that neither the table nor the question explains."""
        cells = [cell for row in self.table.rows for cell in row]
        columns = [name.replace("_", " ") for name in self.table.columns]
        said = " ".join((self._given, self.table.head, self.table.scope, *columns, *cells)).lower()
        left = Vocabulary(said).unknown(without_quantities(self.reading.rest))
        return unsettled(f"word {left[0]}") if left else None

    def _conditions(self) -> Finding | None:
        """The first condition that the sentence must say and does not: of rows that it names, their time may be left out."""
        if any(clause.says("shown") for clause in self.reading.clauses):
            return None
        known = Vocabulary(self.sentence)
        values = {name.value for name in self.reading.names}
        is_counted = self.table.is_single or self.counts
        for each in self.table.conditions:
            if each.span is not None:
                if is_counted and not any(_begins(span, each.span) for span in self.reading.spans):
                    return unsettled("its time is not said")
            elif not self._is_said(each, known, values, strictly=is_counted):
                return unsettled("a condition is not said")
        if (
            self.table.scope
            and is_counted
            and not any(known.says(part) for part in re.split(r"[、,，\s&]+", self.table.scope))
        ):
            return unsettled("whose rows is not said")
        return None

    def _is_said(self, each: Condition, known: Vocabulary, values: set[str], *, strictly: bool) -> bool:
        if each.value in values:
            return True
        number = number_of(each.value) if each.value else None
        if number is None:
            return known.says(each.value or each.text) or (not strictly and known.says(each.field))
        if not strictly:
            return True
        numbers = {said.value for clause in self.reading.clauses for said in clause.quantities}
        has_field = any(known.says(word) for word in (each.field, *each.field.split(), each.field[:2], each.field[-2:]))
        return has_field and (number == 0 or number in numbers)


def _hard(clause: Clause) -> list[Quantity]:
    return [each for each in clause.quantities if not each.is_soft]


def _is(said: Quantity, amount: Amount) -> bool:
    """Whether the number says this amount. One without a unit may be of money; nothing else may lack its own."""
    kind, value = amount
    is_kind = said.dimension == kind or (not said.dimension and (kind.startswith("money") or kind == "percent"))
    return is_kind and said.fits(value)


def _same(said: Span, asked: Span, today: date) -> bool:
    """The same days; a period that still runs may be told as its part so far."""
    runs = asked[1] is None or asked[1] > today
    return said == asked or (_begins(said, asked) and runs and (said[1] is None or said[1] > today))


def _begins(said: Span, asked: Span) -> bool:
    return said[0] == asked[0]


def _overlap(said: Span, asked: Span) -> bool:
    starts = max(said[0] or date.min, asked[0] or date.min)
    return starts < min(said[1] or date.max, asked[1] or date.max)
