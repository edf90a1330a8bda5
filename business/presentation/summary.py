"""The value of a result in one sentence, before its table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from business.logical_query.names import CHANGE
from business.logical_query.wording import Meaning
from business.postgres_session import Rows
from business.results.cells import Words, is_number, is_year, spoken, told
from business.results.shown_query import TableReach

FEW_ROWS = 5  # rows of a name and a value, listed in the sentence
FEW_COLUMNS = 6  # of a single row
MAX_CHARACTERS = 300  # of the listed values; for more the table reads better


def headline(
    rows: Rows,
    total: int | None,
    meaning: Meaning,
    *,
    is_chinese: bool,
    labels: Sequence[str],
    units: Sequence[str],
    words: Sequence[Words],
    counted: str,
) -> str:
    """Return the value, two values and their change, or a few values by name; else the number of rows, or the unmet
    conditions for none; with the days and org units that it covers.

    labels, units, words: of the columns. counted: which rows may be seen, as `rows_told` says it.
    """
    unit = _Unit(meaning.unit, meaning.counted, is_chinese)
    teller = _Teller(rows, labels, units, words, unit, is_chinese)
    said = _said(teller, total, meaning)
    windows = (
        () if teller.change() else (window for window in meaning.window if window not in said)
    )  # includes its times
    return _scoped(said, [*windows, counted], is_chinese=is_chinese)


def _said(teller: "_Teller", total: int | None, meaning: Meaning) -> str:
    rows, is_chinese = teller.rows, teller.is_chinese
    if not rows.rows:
        return teller.nothing(meaning.conditions)
    if len(rows.rows) == len(rows.columns) == 1:
        return teller.single(meaning.figure, meaning.conditions)
    shown = len(rows.rows)
    if total is not None:
        return first_of(shown, total, is_chinese=is_chinese)
    changed = "" if rows.is_truncated else teller.change()
    if changed and teller.figure.counted:
        return changed  # includes what is counted
    sentence = changed or ("" if rows.is_truncated else teller.few())
    if sentence and len(sentence) <= MAX_CHARACTERS:
        return teller.named(sentence, meaning.figure)
    return f"共 {shown} 行。" if is_chinese else f"{shown} row{'s' if shown > 1 else ''}."


def first_of(shown: int, total: int, *, is_chinese: bool) -> str:
    """Return for a truncated result of how many rows these are the first."""
    return f"共 {total:,} 行，显示前 {shown} 行。" if is_chinese else f"First {shown} of {total:,} rows."


def _scoped(said: str, scope: Iterable[str], *, is_chinese: bool) -> str:
    """Add the days and org units that a number covers, so that it is not mistaken for another."""
    end = said[-1] if said and said[-1] in "。." else ""
    return f"{('，' if is_chinese else ', ').join(filter(None, [said.removesuffix(end), *scope]))}{end}"


def rows_told(reach: Sequence[TableReach], *, is_chinese: bool) -> str:
    """Return whose rows a result may cover; "" where no table has org units."""
    filtered = [table.units for table in reach if table.units is not None]
    if not filtered:
        return ""
    units = sorted({unit for each in filtered for unit in each})
    if not units:
        return "您不属于任何部门，看不到任何一行" if is_chinese else "as you are in no org unit whose rows you may see"
    return f"{'、'.join(units)} 可见的数据内" if is_chinese else f"in the rows of {', '.join(units)}"


@dataclass(frozen=True)
class _Unit:
    """The text after a number: a unit, or what is counted."""

    unit: str
    counted: str
    is_chinese: bool

    def after(self, number: str) -> str:
        if self.unit or not self.counted:
            return f"{number} {self.unit}".rstrip()
        if self.is_chinese:
            return f"{number} 个{self.counted}"
        return f"{number} {self.counted if number == '1' else _plural(self.counted)}"


@dataclass(frozen=True)
class _Teller:
    """Words of one language for one result. labels, units, words: of its columns. figure: the unit of the figure asked for."""

    rows: Rows
    labels: Sequence[str]
    units: Sequence[str]
    words: Sequence[Words]
    figure: _Unit
    is_chinese: bool

    @property
    def colon(self) -> str:
        return "：" if self.is_chinese else ": "

    @property
    def between(self) -> str:
        return "；" if self.is_chinese else "; "

    def nothing(self, conditions: Sequence[str]) -> str:
        listed = self.between.join(conditions)
        if self.is_chinese:
            return f"没有符合条件的数据{f'（{listed}）' if listed else ''}。"
        return f"No row fits{f' ({listed})' if listed else ''}."

    def single(self, figure: str, conditions: Sequence[str]) -> str:
        """Return the one value; in words for NULL, an aggregate of no rows or of rows without a value."""
        found = self.rows.rows[0][0]
        if found is not None:
            return self.named(f"{self.name(0, 0)} {self._unit_of_one()}".rstrip(), figure)
        named, listed = self.named("", figure).strip(), self.between.join(conditions)
        if self.is_chinese:
            return f"没有数值{named}：没有符合条件且有值的数据{f'（{listed}）' if listed else ''}。"
        named = f" {named}" if named else ""
        return f"No value{named}: no row fits that has one{f' ({listed})' if listed else ''}."

    def _unit_of_one(self) -> str:
        """Return the unit of the one value: its column's, or that of the figure asked for."""
        if self.rows.columns[0] == "share":
            return "%"
        return self.units[0] or (self.figure.unit if is_number(self.rows.rows[0][0]) else "")

    def named(self, sentence: str, figure: str) -> str:
        if not figure:
            return sentence
        return f"{sentence}（{figure}）" if self.is_chinese else f"{sentence} ({figure})"

    def name(self, row: int, column: int) -> str:
        return told(self.rows.columns[column], self.rows.rows[row][column], self.words[column])

    def value(self, row: int, column: int) -> str:
        unit = self.units[column] if self.rows.rows[row][column] is not None else ""
        return f"{self.name(row, column)} {unit}".rstrip()

    def change(self) -> str:
        """Return two times with a figure each, and what changed; "" for other results."""
        columns, rows = self.rows.columns, self.rows.rows
        if columns == CHANGE and len(rows) == 1:
            values = (self.labels[1], rows[0][1]), (self.labels[0], rows[0][0])
        elif len(columns) == 2 and columns[0] == "period" and len(rows) == 2:
            values = (self.name(0, 0), rows[0][1]), (self.name(1, 0), rows[1][1])
        else:
            return ""
        parts = [f"{name}{self.colon}{self._of_figure(found)}" for name, found in values]
        (_, old), (_, new) = values
        if is_number(old) and is_number(new):
            parts.append(self._changed(Decimal(str(old)), Decimal(str(new))))
        return self.between.join(parts)

    def _of_figure(self, found: Any) -> str:
        return self.figure.after(spoken(found)) if found is not None else spoken(found)

    def _changed(self, before: Decimal, now: Decimal) -> str:
        by = now - before
        if not by:
            return "没有变化" if self.is_chinese else "no change"
        size = self._of_figure(abs(by))
        percent = f"{100 * by / before:+,.1f}" if before > 0 else ""
        if self.is_chinese:
            return f"{'增加' if by > 0 else '减少'} {size}{f'，{percent}%' if percent else ''}"
        less = "fewer" if self.figure.counted else "less"
        return f"{size} {'more' if by > 0 else less}{f', {percent} %' if percent else ''}"

    def few(self) -> str:
        """Return a single row, or a few of a name and a value; "" for other results."""
        columns, rows = self.rows.columns, self.rows.rows
        if len(rows) == 1 and len(columns) <= FEW_COLUMNS:
            return self.between.join(f"{name}{self.colon}{self.value(0, n)}" for n, name in enumerate(self.labels))
        if len(rows) <= FEW_ROWS and len(columns) == 2 and all(self._is_named(row) for row in rows):
            return self.between.join(f"{self.name(n, 0)}{self.colon}{self.value(n, 1)}" for n in range(len(rows)))
        if len(rows) <= FEW_ROWS and len(columns) == 1:
            return ("、" if self.is_chinese else ", ").join(self.value(n, 0) for n in range(len(rows)))
        return ""

    def _is_named(self, row: Sequence[Any]) -> bool:
        name, figure = row
        return is_number(figure) and (not is_number(name) or is_year(self.rows.columns[0], name))


def _plural(thing: str) -> str:
    """Return an English label's plural: customer → customers, company → companies; one ending in s is a plural."""
    if thing.endswith("y") and thing[-2:-1] not in "aeiou":
        return f"{thing[:-1]}ies"
    if thing.endswith(("sh", "ch", "x", "ss")):
        return f"{thing}es"
    return thing if thing.endswith("s") else f"{thing}s"
