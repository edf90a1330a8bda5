"""Check a sentence against a table.

The rows that it names are looked up, and each number, extreme, direction and time in their cells. A sentence is
supported where every fact was found, the table or the question explains every word, and its conditions are stated.
Other kinds of comparison are left to a judge.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from agent.attribution.clauses import Clause, content_words_of, find_missing_words, remove_quantities
from agent.attribution.quantities import TextQuantity, parse_quantities
from agent.attribution.tables import EvidenceTable, Span, TableFilter, parse_cell_number
from agent.attribution.verdict import SUPPORTED, SentenceCheck, Verdict, make_contradicted, make_unsettled
from agent.attribution.words import contains_word_class
from business.parsing.reader.times import mark_times
from business.parsing.reader.units import normalise_text

Amount = tuple[str, Decimal]
"""A dimension, "" for a number of things, and a value in its base unit."""
_ENDS = re.compile(r"[;:!?。](?!\d)|,(?!\d{3})|\.(?=\s|$)|\band\b|\bbut\b|\bwhile\b|而|并")
_PRIVATE = re.compile(r"[\ue000-\uf8ff\U000f0000-\U000ffffd]")
_BRACKET = re.compile(r"[（(]([^（()）]+)[)）]\s*$")
_MAY = re.compile(r"\bmay\b")  # the verb; the month has a capital
_CHANGES = ("change", "变化")
_OPEN = ("more", "fewer", "rank", "mean", "cause", "all", "only", "same", "difference")  # comparisons of rows
_SIGNS = {"up": 1, "down": -1}


def check_table(sentence: str, table: EvidenceTable, *, question: str, today: date) -> SentenceCheck:
    """Return the table's verdict on the sentence. today: the reference date for relative times."""
    return _Check(table, question, today).finding(sentence)


@dataclass
class _Check:
    """facts: facts of the sentence found in cells.

    is_counted: the sentence says how many rows there are, or that there are none.
    """

    table: EvidenceTable
    question: str
    today: date
    facts: int = 0
    is_counted: bool = False
    _is_cell: bool = False  # the clause names one row and a column

    def finding(self, sentence: str) -> SentenceCheck:
        plain, moments = mark_times(normalise_text(_MAY.sub(" ", sentence)), self.today, None)
        spans = [moment.span for moment in moments]
        found = [*map(self._check_time, spans), *self._check_clauses(plain)]
        for verdict in (Verdict.CONTRADICTED, Verdict.UNSETTLED):
            if hit := next((item for item in found if item.verdict is verdict), None):
                return hit
        if not self.facts:
            return make_unsettled("no fact of the table")
        return self._check_words(plain) or self._check_conditions(normalise_text(sentence), spans) or SUPPORTED

    @property
    def _given(self) -> str:
        """Return the text that may be repeated although no row says it."""
        conditions = [condition.text for condition in self.table.conditions if condition.span is None]
        return normalise_text(" ".join((self.question, *conditions, self.table.definitions)))

    def _check_time(self, span: Span) -> SentenceCheck:
        """Support a time of the query or a given year; contradict a time that begins outside the query's."""
        asked = self.table.spans
        if any(_is_same_time(span, item, self.today) for item in asked) or self._is_given_year(span):
            return SUPPORTED
        is_inside = any((item[0] or date.min) <= (span[0] or date.min) < (item[1] or date.max) for item in asked)
        return make_unsettled("time") if is_inside or not asked else make_contradicted("time")

    def _is_given_year(self, span: Span) -> bool:
        """Return whether a time is a whole year that the question, a condition or a column names."""
        year = span[0].year if span[0] else 0
        whole = (date(year, 1, 1), date(year + 1, 1, 1)) if 0 < year < date.max.year else None
        return span == whole and str(year) in " ".join((self._given, *self.table.columns))

    def _check_clauses(self, plain: str) -> Iterator[SentenceCheck]:
        rows, is_named, before = list(range(len(self.table.rows))), False, list[tuple[int, str]]()
        texts = [text for text in _ENDS.split(plain) if text.strip()]
        for text in texts:
            named, clause = [*before, *self._find_named_cells(text)], Clause(self._remove_named_cells(text))
            before = []
            if text is not texts[-1] and not (clause.words or clause.quantities or _PRIVATE.search(text)):
                before = named  # “Oslo and Rome together”
                continue
            if named:
                by_column = {column: {v for c, v in named if c == column} for column, _value in named}
                rows = [
                    place
                    for place, row in enumerate(self.table.rows)
                    if all(normalise_text(row[column]) in values for column, values in by_column.items())
                ]
                is_named, self.facts = True, self.facts + (len(by_column) > 1)
                if not rows:
                    yield make_contradicted("no such row")
                    return
            if (
                len({column for column, _value in named}) == 1
                and self._claims_all_rows(clause)
                and len(rows) < len(self.table.rows)
            ):
                yield make_contradicted("not all of them")
            yield self._check_clause(clause, rows, is_named=is_named or len(self.table.rows) == 1)

    def _claims_all_rows(self, clause: Clause) -> bool:
        return "all" in clause.classes and all(quantity.value == len(self.table.rows) for quantity in clause.quantities)

    def _find_named_cells(self, text: str) -> list[tuple[int, str]]:
        """Return the cells that a text names, as column and value; a value within a longer named one is skipped."""
        cells = {
            (c, normalise_text(v)) for row in self.table.rows for c, v in enumerate(row) if parse_cell_number(v) is None
        }
        found: list[tuple[int, str]] = []
        for column, value in sorted(cells, key=lambda cell: -len(cell[1])):
            if value and re.search(_build_value_pattern(value), text):
                found.append((column, value))
                text = re.sub(_build_value_pattern(value), " ", text)
        return found

    def _remove_named_cells(self, text: str) -> str:
        """Return a clause without times and without cell names, whose digits are not amounts."""
        for _column, value in self._find_named_cells(text):
            text = re.sub(_build_value_pattern(value), " ", text)
        return _PRIVATE.sub(" ", text)

    def _check_clause(self, clause: Clause, rows: list[int], *, is_named: bool) -> SentenceCheck:
        if self.table.is_empty:
            return self._check_empty_result(clause)
        if clause.is_negative and not contains_word_class(self._given, "none", "not"):
            return make_unsettled("negation")
        if is_open := clause.classes & set(_OPEN):
            return make_unsettled(min(is_open)) if not contains_word_class(self._given, *is_open) else SUPPORTED
        named = [place for place in self._numeric if self._is_column_named(place, clause)]
        columns = named or self._numeric
        if self._is_cut and "shown" in clause.classes:
            return make_unsettled("rows that are not shown")
        for finding in (
            self._check_extreme(clause, rows, columns),
            self._check_direction(clause, rows, is_named=is_named),
        ):
            if finding:
                return finding
        self._is_cell = is_named and len(rows) == 1 and bool(named)
        return self._check_numbers(clause, rows, columns, is_named=is_named) or SUPPORTED

    def _check_empty_result(self, clause: Clause) -> SentenceCheck:
        given = {quantity.value for quantity in parse_quantities(self._given)}
        if any(quantity.value and quantity.value not in given for quantity in clause.quantities):
            return make_contradicted("there is none")
        if "none" in clause.classes or any(quantity.value == 0 for quantity in clause.quantities):
            self.facts, self.is_counted = self.facts + 1, True
        elif "not" in clause.classes:
            return make_unsettled("negation")
        return SUPPORTED

    def _check_extreme(self, clause: Clause, rows: Sequence[int], columns: Sequence[int]) -> SentenceCheck | None:
        """Check a claim of the most or the least in a column.

        Without a named column it must hold in all columns, and is wrong where it holds in none.
        """
        sides = clause.classes & {"most", "least"}
        if not sides or contains_word_class(self._given, *sides):
            return None
        if len(sides) > 1 or len(rows) != 1 or self._is_cut or "when" in clause.classes:
            return make_unsettled("extreme")
        edge = min if sides == {"least"} else max
        holds = {self._read_column_values(place)[rows[0]] == edge(self._read_column_values(place)) for place in columns}
        if holds == {True}:
            self.facts += 1
            return None
        return make_contradicted("extreme") if holds == {False} else make_unsettled("extreme")

    def _check_direction(self, clause: Clause, rows: Sequence[int], *, is_named: bool) -> SentenceCheck | None:
        """Check a claim of a rise or fall against the sign of each row's change."""
        wanted = [sign for name, sign in _SIGNS.items() if name in clause.classes]
        changes = [place for place in self._numeric if self.table.columns[place] in _CHANGES]
        if not wanted:
            return None
        if len(wanted) > 1 or not changes or not is_named:
            return make_unsettled("direction")
        values = [self._read_column_values(changes[0])[row] for row in rows]
        if any((value > 0) - (value < 0) != wanted[0] for value in values):
            return make_contradicted("direction")
        self.facts += 1
        return None

    def _check_numbers(
        self, clause: Clause, rows: Sequence[int], columns: Sequence[int], *, is_named: bool
    ) -> SentenceCheck | None:
        known = list(self._yield_valid_amounts(rows, columns, is_named=is_named))
        given = [(quantity.dimension, quantity.value) for quantity in parse_quantities(self._given)]
        counts = {len(rows)} if is_named else {self.table.total or len(self.table.rows)}
        for found in clause.quantities:
            if any(_matches_amount(found, amount) for amount in known):
                self.facts += 1
            elif not (found.dimension or self.table.is_single or self._is_cell) and any(
                found.fits(Decimal(count)) for count in counts
            ):
                self.facts, self.is_counted = self.facts + 1, True
            elif not any(_matches_amount(found, amount) for amount in given):
                is_together = "together" in clause.classes
                return self._check_missing_number(found, rows, columns, is_named=is_named, is_together=is_together)
        return None

    def _check_missing_number(
        self, quantity: TextQuantity, rows: Sequence[int], columns: Sequence[int], *, is_named: bool, is_together: bool
    ) -> SentenceCheck:
        """Return the finding for a number missing in the rows: wrong where they give another of its kind, else open."""
        others = [row for row in range(len(self.table.rows)) if row not in rows]
        if self.table.is_single and quantity.dimension in ("", self.table.unit):
            return make_contradicted("number") if self.facts == 0 else make_unsettled("another number")
        if quantity.dimension.startswith("money") and self.table.unit and quantity.dimension != self.table.unit:
            return make_contradicted("unit")
        if is_named and any(_matches_amount(quantity, amount) for amount in self._yield_cell_amounts(others, columns)):
            return make_contradicted("another row's number")
        if (
            is_together
            and len(rows) > 1
            and not self._is_cut
            and quantity.dimension in {self._find_column_unit(place)[0] for place in columns}
        ):
            return make_contradicted("sum")
        return make_unsettled(f"number {quantity.value.normalize():f}")

    def _yield_valid_amounts(self, rows: Sequence[int], columns: Sequence[int], *, is_named: bool) -> Iterator[Amount]:
        """Yield the amounts that may be said of rows: named cells, sums, differences of two, shares of the total."""
        if is_named or len(self.table.rows) == 1:
            yield from self._yield_cell_amounts(rows, columns)
        for place in columns:
            kind, values = self._find_column_unit(place)[0], [self._read_column_values(place)[row] for row in rows]
            if len(values) > 1 and not self._is_cut:
                yield kind, sum(values, Decimal(0))
            if len(values) == 2:
                yield kind, abs(values[0] - values[1])

    def _yield_cell_amounts(self, rows: Sequence[int], columns: Sequence[int]) -> Iterator[Amount]:
        """Yield the amounts in cells; a change without its sign."""
        yield from (
            (self._find_column_unit(place)[0], abs(self._read_column_values(place)[row]))
            for place in columns
            for row in rows
        )
        texts = (normalise_text(cell) for row in rows for cell in self.table.rows[row])
        yield from (
            (entry.dimension, entry.value) for text in texts for entry in parse_quantities(text) if entry.dimension
        )

    @property
    def _numeric(self) -> list[int]:
        places = range(len(self.table.columns)) if self.table.rows else ()
        return [place for place in places if all(parse_cell_number(row[place]) is not None for row in self.table.rows)]

    @property
    def _is_cut(self) -> bool:
        return (self.table.total or 0) > len(self.table.rows)

    def _is_column_named(self, place: int, clause: Clause) -> bool:
        name = content_words_of(normalise_text(self.table.columns[place].replace("_", " ")))
        return bool(name) and not find_missing_words(name, clause.text)

    def _find_column_unit(self, place: int) -> Amount:
        """Return the dimension of a column's numbers, and one of them in its base unit."""
        name = self.table.columns[place].lower().replace("_", " ")
        if contains_word_class(name, "share") and name != "part":
            return "percent", Decimal(1)
        bracket = _BRACKET.search(name)
        measured = parse_quantities(f"1 {bracket[1] if bracket else name}")
        if measured and measured[0].dimension:
            return measured[0].dimension, measured[0].value
        return self.table.unit, Decimal(1)

    def _read_column_values(self, place: int) -> list[Decimal]:
        factor = self._find_column_unit(place)[1]
        return [(parse_cell_number(row[place]) or Decimal(0)) * factor for row in self.table.rows]

    def _check_words(self, plain: str) -> SentenceCheck | None:
        """Return the first word that neither the table nor the question explains."""
        names = [name.replace("_", " ") for name in self.table.columns]
        parts = (self.table.head, self.table.scope, *names, *(cell for row in self.table.rows for cell in row))
        left = find_missing_words(
            content_words_of(remove_quantities(self._remove_named_cells(plain))),
            f"{self._given} {normalise_text(' '.join(parts))}",
        )
        return make_unsettled(f"word {left[0]}") if left else None

    def _check_conditions(self, text: str, spans: Sequence[Span]) -> SentenceCheck | None:
        """Return the first required condition that the sentence does not state; for named rows the time may be omitted."""
        is_counted = self.table.is_single or self.is_counted
        for condition in self.table.conditions:
            if condition.span is not None:
                if is_counted and not any(span[0] == condition.span[0] for span in spans):
                    return make_unsettled("its time is not said")
            elif not self._states_condition(condition, text, strictly=is_counted):
                return make_unsettled("a condition is not said")
        scope = [part for part in re.split(r"[、,，\s&]+", self.table.scope) if part]
        is_scoped = any(not find_missing_words(content_words_of(normalise_text(part)), text) for part in scope)
        return make_unsettled("whose rows is not said") if scope and is_counted and not is_scoped else None

    def _states_condition(self, each: TableFilter, text: str, *, strictly: bool) -> bool:
        number = parse_cell_number(each.value) if each.value else None
        words = content_words_of(normalise_text(each.value or each.text))
        if number is None:
            return not find_missing_words(words, text) or (
                not strictly and not find_missing_words(content_words_of(normalise_text(each.field)), text)
            )
        amounts = {amount.value for amount in parse_quantities(text)}
        return not strictly or (
            not find_missing_words(content_words_of(normalise_text(each.field)), text)
            and number in {*amounts, Decimal(0)}
        )


def _build_value_pattern(value: str) -> str:
    """Return a pattern that matches a value as whole words or numbers, with an optional plural ending."""
    before, after = (
        r"(?<![a-z\d])" if value[0].isascii() else "",
        r"(?:e?s)?(?![a-z\d])" if value[-1].isascii() else "",
    )
    return f"{before}{re.escape(value)}{after}"


def _matches_amount(quantity: TextQuantity, amount: Amount) -> bool:
    """Return whether the number matches this amount. Only an amount of money may lack its unit."""
    kind, value = amount
    is_kind = quantity.dimension == kind or (not quantity.dimension and (kind.startswith("money") or kind == "percent"))
    return is_kind and quantity.fits(value)


def _is_same_time(span: Span, asked: Span, today: date) -> bool:
    """Return whether both are the same days; a period still running may be given as its part so far."""
    runs = asked[1] is None or asked[1] > today
    return span == asked or (span[0] == asked[0] and runs and (span[1] is None or span[1] > today))
