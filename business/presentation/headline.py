"""The headline of a result: one sentence that a person would write, and a quiet line with what limits it.

Headline and note together state the period, every condition, the layer's own filters and whose rows were read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from business.connections.postgres_session import Rows
from business.logical_query.phrases import counted, phrases
from business.logical_query.query import CHANGE, PART
from business.logical_query.wording import Meaning
from business.results.cells import Words, cell_text, is_number, is_year, spoken
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
class Shown:
    """A result in one language. labels, units, words: of its columns. total: of rows, where these are the first of more."""

    rows: Rows
    total: int | None
    labels: Sequence[str]
    units: Sequence[str]
    words: Sequence[Words]
    is_chinese: bool


def headline(shown: Shown, meaning: Meaning, reach: Sequence[TableReach]) -> Headline:
    """Return the headline of a result. reach: what of the tables this person may see."""
    return _Writer(shown, meaning).headline(reach)


def first_of(shown: int, total: int, *, is_chinese: bool) -> str:
    """Return for a truncated result of how many rows these are the first."""
    return phrases("headline", "zh" if is_chinese else "en")["first"].format(total, shown)


def reach_text(reach: Sequence[TableReach], *, is_chinese: bool) -> str:
    """Return whose rows a result may cover; "" where no table has org units."""
    forms = phrases("headline", "zh" if is_chinese else "en")
    filtered = [table.units for table in reach if table.units is not None]
    units = sorted({unit for item in filtered for unit in item})
    if not units:
        return forms["nobody"] if filtered else ""
    return forms["whose"].format(forms["comma"].join(units))


@dataclass(frozen=True)
class _Writer:
    shown: Shown
    meaning: Meaning

    @property
    def rows(self) -> Sequence[Sequence[Any]]:
        return self.shown.rows.rows

    @property
    def columns(self) -> Sequence[str]:
        return self.shown.rows.columns

    def _form(self, name: str, *parts: object) -> str:
        form = phrases("headline", "zh" if self.shown.is_chinese else "en")[name]
        return form.format(*parts) if parts else form

    def headline(self, reach: Sequence[TableReach]) -> Headline:
        whose = reach_text(reach, is_chinese=self.shown.is_chinese)
        notes = [*self._limits(), *self.meaning.notes]
        if self._is_nothing():  # “0 customers” of the rows somebody may see is no fact about the company
            text, value = self._value() if self.rows else (self._nothing(), "")
            text = self._form("within", text, whose) if whose else text
            return Headline(text, text, value, " · ".join(notes))
        note = " · ".join(filter(None, [*notes, whose]))
        text, value = self._value()
        if text:
            return Headline(text, text, value, note)
        title = self._titled()
        if self.meaning.limit == 1 and len(self.rows) > 1:
            title = self._tied(title)
            return Headline(title, title, note=note)
        is_whole = self.shown.total is None and not self.shown.rows.is_truncated
        if change := self._change() if is_whole else "":
            return Headline(change, change, note=note)
        listed = self._listed(title) if is_whole else ""
        has_table = len(self.rows) > 1 or len(self.columns) > 1
        return Headline(listed or title, title if has_table else listed or title, note=note)

    def _is_nothing(self) -> bool:
        return not self.rows or (len(self.rows) == len(self.columns) == 1 and not self.rows[0][0])

    def _limits(self) -> list[str]:
        """Return that rows are missing."""
        shown, limit = self.shown, self.meaning.limit
        limits = [first_of(len(self.rows), shown.total, is_chinese=shown.is_chinese)] if shown.total is not None else []
        if shown.rows.is_truncated and shown.total is None:
            limits.append(self._form("long", len(self.rows)))
        return limits + ([self._form("cut", limit)] if self.meaning.cut and limit == len(self.rows) else [])

    def _scoped(self, text: str) -> str:
        return self._form("of", text, self._form("semicolon").join(self.meaning.scope)) if self.meaning.scope else text

    def _counted(self, number: Any) -> str:
        return counted(spoken(number), self.meaning.thing, is_chinese=self.shown.is_chinese)

    # --- no rows, one value ---

    def _nothing(self) -> str:
        if not self.meaning.title:
            return self._form("no_rows")
        if self.meaning.thing:
            things = (
                self.meaning.thing
                if self.shown.is_chinese
                else counted("", self.meaning.thing, is_chinese=False).strip()
            )
            return self._scoped(self._form("none", things))
        return self._form("nothing", self.meaning.title)

    def _value(self) -> tuple[str, str]:
        """Return the sentence of one value, and the value; "" for other results."""
        if len(self.rows) != 1:
            return "", ""
        row = self.rows[0]
        if self.columns == ("share", *PART) and None not in row:
            percent = self._form("percent", spoken(row[0]))
            form = self.meaning.part or self._form("part", self.meaning.title)
            return form.format(percent, spoken(row[1]), spoken(row[2])), percent
        return self._single(row[0]) if len(self.columns) == 1 and not self.meaning.lists else ("", "")

    def _single(self, found: Any) -> tuple[str, str]:
        title = self._title()
        if found is None:
            return self._form("null", title) if title else spoken(found), ""
        if self.meaning.thing and is_number(found) and not self.meaning.unit:
            return self._scoped(self._form("total", self._counted(found))), spoken(found)
        value = f"{self._name(0, 0)} {self._unit_of_one()}".rstrip()
        return (f"{title}{self._form('colon')}{value}" if title else value), value

    def _unit_of_one(self) -> str:
        """Return the unit of the one value: its column's, or that of the figure asked for."""
        if self.columns[0] == "share":
            return "%"
        return self.shown.units[0] or (self.meaning.unit if is_number(self.rows[0][0]) else "")

    def _change(self) -> str:
        """Return two times with a figure each, and what changed; "" for other results."""
        if self.columns != CHANGE or len(self.rows) != 1:
            return ""
        labels, row = self.shown.labels, self.rows[0]
        values = (labels[1], row[1]), (labels[0], row[0])
        parts = [self._form("versus", name, self._of_figure(found)) for name, found in values]
        (_, old), (_, new) = values
        if is_number(old) and is_number(new):
            parts.append(self._changed(Decimal(str(old)), Decimal(str(new))))
        return self._form("against", self._title(), self._form("semicolon").join(parts))

    def _of_figure(self, found: Any) -> str:
        if found is None or self.meaning.unit or not self.meaning.counted:
            return f"{spoken(found)} {self.meaning.unit if found is not None else ''}".rstrip()
        return counted(spoken(found), self.meaning.counted, is_chinese=self.shown.is_chinese)

    def _changed(self, before: Decimal, now: Decimal) -> str:
        by = now - before
        if not by:
            return self._form("same")
        size, way = (
            self._of_figure(abs(by)),
            self._form("more" if by > 0 else "fewer" if self.meaning.counted else "less"),
        )
        percent = self._form("percent", f"{100 * by / before:+,.1f}") if before > 0 else ""
        change = f"{way} {size}" if self.shown.is_chinese else f"{size} {way}"
        return ("，" if self.shown.is_chinese else ", ").join(filter(None, [change, percent]))

    # --- tables ---

    def _title(self) -> str:
        """Return the query's title; of a statement without one, its columns."""
        if self.meaning.title:
            return self.meaning.title
        labels = [name.replace("_", " ") for name in self.shown.labels]
        figures = [name for place, name in enumerate(labels) if self._is_figure(place)]
        names = [name for name in labels if name not in figures]
        if self.columns[0] in _UNNAMED and len(self.columns) == 1:
            return ""
        if figures and 0 < len(names) < TITLE_COLUMNS:
            title = self._form("by", self._few(figures), self._few(names))
        else:
            title = self._few(labels)
        return title[:1].upper() + title[1:]

    def _few(self, names: Sequence[str]) -> str:
        """Return the first names in one phrase."""
        if len(names) > TITLE_COLUMNS:
            return self._form("rest", self._form("comma").join(names[:TITLE_COLUMNS]))
        return self._form("and").join(filter(None, [self._form("comma").join(names[:-1]), names[-1]]))

    def _is_figure(self, place: int) -> bool:
        values = [row[place] for row in self.rows if row[place] is not None]
        return bool(values) and all(is_number(value) and not is_year(self.columns[place], value) for value in values)

    def _titled(self) -> str:
        """Return the sentence above the table: the title, the number of things in a list, and that a place is shared."""
        meaning, found = self.meaning, len(self.rows)
        if meaning.thing and meaning.limit is None and not (self.shown.rows.is_truncated and self.shown.total is None):
            return self._scoped(self._form("total", self._counted(self.shown.total or found)))
        title = self._title()
        if meaning.limit and found > meaning.limit and meaning.limit > 1:
            return self._form("last", title, spoken(self.shown.total or found))
        return title

    def _listed(self, title: str) -> str:
        """Return a title with its values, where they are few; "" else."""
        values, unit = self._values()
        if not values or sum(map(len, values)) > MAX_CHARACTERS:
            return ""
        title = self._form("unit", title, unit) if unit else title
        return f"{title}{self._form('colon')}{self._form('semicolon').join(values)}"

    def _values(self) -> tuple[list[str], str]:
        """Return a few rows in words, and their common unit."""
        columns, rows = self.columns, self.rows
        if len(rows) <= FEW_ROWS and len(columns) == 1:
            return [self._name(n, 0) for n in range(len(rows))], self.shown.units[0]
        if len(rows) <= FEW_ROWS and len(columns) == 2 and all(map(self._is_named, rows)):
            return [self._form("of", self._name(n, 0), self._name(n, 1)) for n in range(len(rows))], self.shown.units[1]
        if len(rows) == 1 and len(columns) <= FEW_COLUMNS:
            units = zip(self.shown.labels, self.shown.units, strict=True)
            return [f"{label} {self._name(0, n)} {unit}".rstrip() for n, (label, unit) in enumerate(units)], ""
        return [], ""

    def _tied(self, title: str) -> str:
        """Return that several things share the one place asked for: by name, or how many."""
        names = self._form("comma").join(self._name(n, 0) for n in range(len(self.rows)))
        is_many = len(self.rows) > FEW_ROWS or len(names) > MAX_CHARACTERS or self.shown.total is not None
        names_text = spoken(self.shown.total or len(self.rows)) if is_many else names
        if len(self.columns) != 2 or len({row[1] for row in self.rows}) > 1:
            return self._form("many" if is_many else "tied", title, names_text)
        value = f"{self._name(0, 1)} {self.shown.units[1]}".rstrip()
        return self._form("many_each" if is_many else "each", title, names_text, value)

    def _name(self, row: int, column: int) -> str:
        return cell_text(self.columns[column], self.rows[row][column], self.shown.words[column])

    def _is_named(self, row: Sequence[Any]) -> bool:
        name, figure = row
        return is_number(figure) and (not is_number(name) or is_year(self.columns[0], name))
