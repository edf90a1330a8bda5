"""The headline of a result: one sentence that a person would write, and a quiet line with what limits it.

Headline and note together state the period, every condition, the layer's own filters and whose rows were read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from business.connections.postgres_session import FetchedRows
from business.logical_query.phrases import find_phrases, format_count
from business.logical_query.query import CHANGE, PART
from business.logical_query.wording import QueryWording
from business.results.cells import Words, format_cell, format_value, is_number, is_year
from business.results.shown_query import TableReach

FEW_ROWS = 5  # rows of a name and a value, listed in the sentence
FEW_COLUMNS = 6  # of a single row
MAX_CHARACTERS = 300  # of the listed values; for more the table reads better
TITLE_COLUMNS = 3  # of a statement without a title
_UNNAMED = ("count", "?column?")


@dataclass(frozen=True)
class Headline:
    """text: the sentence. title: the sentence above a shown table, without listed values. value: the part of the sentence to
    stress, "" for tables. note: the quiet line.
    """

    text: str
    title: str
    value: str = ""
    note: str = ""


@dataclass(frozen=True)
class ShownResult:
    """A result in one language. labels, units, words: of its columns. total: of rows, where these are the first of more."""

    rows: FetchedRows
    total: int | None
    labels: Sequence[str]
    units: Sequence[str]
    words: Sequence[Words]
    is_chinese: bool


def build_headline(shown: ShownResult, meaning: QueryWording, reach: Sequence[TableReach]) -> Headline:
    """Return the headline of a result. reach: what of the tables this person may see."""
    return _Writer(shown, meaning).headline(reach)


def format_truncation_note(shown: int, total: int, *, is_chinese: bool) -> str:
    """Return for a truncated result of how many rows these are the first."""
    return find_phrases("headline", "zh" if is_chinese else "en")["first"].format(total, shown)


def format_reach(reach: Sequence[TableReach], *, is_chinese: bool) -> str:
    """Return whose rows a result may cover; "" where no table has org units."""
    forms = find_phrases("headline", "zh" if is_chinese else "en")
    filtered = [table.units for table in reach if table.units is not None]
    units = sorted({unit for item in filtered for unit in item})
    if not units:
        return forms["nobody"] if filtered else ""
    return forms["whose"].format(forms["comma"].join(units))


@dataclass(frozen=True)
class _Writer:
    shown: ShownResult
    meaning: QueryWording

    @property
    def rows(self) -> Sequence[Sequence[Any]]:
        return self.shown.rows.rows

    @property
    def columns(self) -> Sequence[str]:
        return self.shown.rows.columns

    def _format_phrase(self, name: str, *parts: object) -> str:
        form = find_phrases("headline", "zh" if self.shown.is_chinese else "en")[name]
        return form.format(*parts) if parts else form

    def headline(self, reach: Sequence[TableReach]) -> Headline:
        whose = format_reach(reach, is_chinese=self.shown.is_chinese)
        notes = [*self._list_limits(), *self.meaning.notes]
        if self._is_empty_result():  # “0 customers” of the rows somebody may see is no fact about the company
            text, value = self._describe_single_value() if self.rows else (self._describe_empty_result(), "")
            text = self._format_phrase("within", text, whose) if whose else text
            return Headline(text, text, value, " · ".join(notes))
        note = " · ".join(filter(None, [*notes, whose]))
        text, value = self._describe_single_value()
        if text:
            return Headline(text, text, value, note)
        title = self._describe_table()
        if self.meaning.limit == 1 and len(self.rows) > 1:
            title = self._describe_tie(title)
            return Headline(title, title, note=note)
        is_whole = self.shown.total is None and not self.shown.rows.is_truncated
        if change := self._describe_change() if is_whole else "":
            return Headline(change, change, note=note)
        listed = self._add_few_values(title) if is_whole else ""
        has_table = len(self.rows) > 1 or len(self.columns) > 1
        return Headline(listed or title, title if has_table else listed or title, note=note)

    def _is_empty_result(self) -> bool:
        return not self.rows or (len(self.rows) == len(self.columns) == 1 and not self.rows[0][0])

    def _list_limits(self) -> list[str]:
        """Return that rows are missing."""
        shown, limit = self.shown, self.meaning.limit
        limits = (
            [format_truncation_note(len(self.rows), shown.total, is_chinese=shown.is_chinese)]
            if shown.total is not None
            else []
        )
        if shown.rows.is_truncated and shown.total is None:
            limits.append(self._format_phrase("long", len(self.rows)))
        return limits + ([self._format_phrase("cut", limit)] if self.meaning.cut and limit == len(self.rows) else [])

    def _add_scope(self, text: str) -> str:
        return (
            self._format_phrase("of", text, self._format_phrase("semicolon").join(self.meaning.scope))
            if self.meaning.scope
            else text
        )

    def _format_count(self, number: Any) -> str:
        return format_count(format_value(number), self.meaning.thing, is_chinese=self.shown.is_chinese)

    # --- no rows, one value ---

    def _describe_empty_result(self) -> str:
        if not self.meaning.title:
            return self._format_phrase("no_rows")
        if self.meaning.thing:
            things = (
                self.meaning.thing
                if self.shown.is_chinese
                else format_count("", self.meaning.thing, is_chinese=False).strip()
            )
            return self._add_scope(self._format_phrase("none", things))
        return self._format_phrase("nothing", self.meaning.title)

    def _describe_single_value(self) -> tuple[str, str]:
        """Return the sentence of one value, and the value; "" for other results."""
        if len(self.rows) != 1:
            return "", ""
        row = self.rows[0]
        if self.columns == ("share", *PART) and None not in row:
            percent = self._format_phrase("percent", format_value(row[0]))
            form = self.meaning.part or self._format_phrase("part", self.meaning.title)
            return form.format(percent, format_value(row[1]), format_value(row[2])), percent
        return self._build_value_sentence(row[0]) if len(self.columns) == 1 and not self.meaning.lists else ("", "")

    def _build_value_sentence(self, found: Any) -> tuple[str, str]:
        title = self._find_title()
        if found is None:
            return self._format_phrase("null", title) if title else format_value(found), ""
        if self.meaning.thing and is_number(found) and not self.meaning.unit:
            return self._add_scope(self._format_phrase("total", self._format_count(found))), format_value(found)
        value = f"{self._format_cell(0, 0)} {self._find_single_unit()}".rstrip()
        return (f"{title}{self._format_phrase('colon')}{value}" if title else value), value

    def _find_single_unit(self) -> str:
        """Return the unit of the one value: its column's, or that of the figure asked for."""
        if self.columns[0] == "share":
            return "%"
        return self.shown.units[0] or (self.meaning.unit if is_number(self.rows[0][0]) else "")

    def _describe_change(self) -> str:
        """Return two times with a figure each, and what changed; "" for other results."""
        if self.columns != CHANGE or len(self.rows) != 1:
            return ""
        labels, row = self.shown.labels, self.rows[0]
        values = (labels[1], row[1]), (labels[0], row[0])
        parts = [self._format_phrase("versus", name, self._format_figure(found)) for name, found in values]
        (_, old), (_, new) = values
        if is_number(old) and is_number(new):
            parts.append(self._format_change(Decimal(str(old)), Decimal(str(new))))
        return self._format_phrase("against", self._find_title(), self._format_phrase("semicolon").join(parts))

    def _format_figure(self, found: Any) -> str:
        if found is None or self.meaning.unit or not self.meaning.counted:
            return f"{format_value(found)} {self.meaning.unit if found is not None else ''}".rstrip()
        return format_count(format_value(found), self.meaning.counted, is_chinese=self.shown.is_chinese)

    def _format_change(self, before: Decimal, now: Decimal) -> str:
        by = now - before
        if not by:
            return self._format_phrase("same")
        size, way = (
            self._format_figure(abs(by)),
            self._format_phrase("more" if by > 0 else "fewer" if self.meaning.counted else "less"),
        )
        percent = self._format_phrase("percent", f"{100 * by / before:+,.1f}") if before > 0 else ""
        change = f"{way} {size}" if self.shown.is_chinese else f"{size} {way}"
        return ("，" if self.shown.is_chinese else ", ").join(filter(None, [change, percent]))

    # --- tables ---

    def _find_title(self) -> str:
        """Return the query's title; of a statement without one, its columns."""
        if self.meaning.title:
            return self.meaning.title
        labels = [name.replace("_", " ") for name in self.shown.labels]
        figures = [name for place, name in enumerate(labels) if self._is_figure_column(place)]
        names = [name for name in labels if name not in figures]
        if self.columns[0] in _UNNAMED and len(self.columns) == 1:
            return ""
        if figures and 0 < len(names) < TITLE_COLUMNS:
            title = self._format_phrase("by", self._join_first_names(figures), self._join_first_names(names))
        else:
            title = self._join_first_names(labels)
        return title[:1].upper() + title[1:]

    def _join_first_names(self, names: Sequence[str]) -> str:
        """Return the first names in one phrase."""
        if len(names) > TITLE_COLUMNS:
            return self._format_phrase("rest", self._format_phrase("comma").join(names[:TITLE_COLUMNS]))
        return self._format_phrase("and").join(filter(None, [self._format_phrase("comma").join(names[:-1]), names[-1]]))

    def _is_figure_column(self, place: int) -> bool:
        values = [row[place] for row in self.rows if row[place] is not None]
        return bool(values) and all(is_number(value) and not is_year(self.columns[place], value) for value in values)

    def _describe_table(self) -> str:
        """Return the sentence above the table: the title, the number of things in a list, and that a place is shared."""
        meaning, found = self.meaning, len(self.rows)
        if meaning.thing and meaning.limit is None and not (self.shown.rows.is_truncated and self.shown.total is None):
            return self._add_scope(self._format_phrase("total", self._format_count(self.shown.total or found)))
        title = self._find_title()
        if meaning.limit and found > meaning.limit and meaning.limit > 1:
            return self._format_phrase("last", title, format_value(self.shown.total or found))
        return title

    def _add_few_values(self, title: str) -> str:
        """Return a title with its values, where they are few; "" else."""
        values, unit = self._format_few_rows()
        if not values or sum(map(len, values)) > MAX_CHARACTERS:
            return ""
        title = self._format_phrase("unit", title, unit) if unit else title
        return f"{title}{self._format_phrase('colon')}{self._format_phrase('semicolon').join(values)}"

    def _format_few_rows(self) -> tuple[list[str], str]:
        """Return a few rows in words, and their common unit."""
        columns, rows = self.columns, self.rows
        if len(rows) <= FEW_ROWS and len(columns) == 1:
            return [self._format_cell(n, 0) for n in range(len(rows))], self.shown.units[0]
        if len(rows) <= FEW_ROWS and len(columns) == 2 and all(map(self._has_name_and_figure, rows)):
            return [
                self._format_phrase("of", self._format_cell(n, 0), self._format_cell(n, 1)) for n in range(len(rows))
            ], self.shown.units[1]
        if len(rows) == 1 and len(columns) <= FEW_COLUMNS:
            units = zip(self.shown.labels, self.shown.units, strict=True)
            return [f"{label} {self._format_cell(0, n)} {unit}".rstrip() for n, (label, unit) in enumerate(units)], ""
        return [], ""

    def _describe_tie(self, title: str) -> str:
        """Return that several things share the one place asked for: by name, or how many."""
        names = self._format_phrase("comma").join(self._format_cell(n, 0) for n in range(len(self.rows)))
        is_many = len(self.rows) > FEW_ROWS or len(names) > MAX_CHARACTERS or self.shown.total is not None
        names_text = format_value(self.shown.total or len(self.rows)) if is_many else names
        if len(self.columns) != 2 or len({row[1] for row in self.rows}) > 1:
            return self._format_phrase("many" if is_many else "tied", title, names_text)
        value = f"{self._format_cell(0, 1)} {self.shown.units[1]}".rstrip()
        return self._format_phrase("many_each" if is_many else "each", title, names_text, value)

    def _format_cell(self, row: int, column: int) -> str:
        return format_cell(self.columns[column], self.rows[row][column], self.shown.words[column])

    def _has_name_and_figure(self, row: Sequence[Any]) -> bool:
        name, figure = row
        return is_number(figure) and (not is_number(name) or is_year(self.columns[0], name))
