"""The value of a result in one sentence, before its table."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import repeat
from typing import Any

from agent.business.ask.describe import Meaning
from agent.business.report import spoken
from agent.business.session import Rows
from agent.query_result import TableReach

FEW_ROWS = 5  # of a name and a value each, which are told one by one
FEW_COLUMNS = 6  # of a single row
MOST_CHARACTERS = 300  # of all that is told one by one; beyond that the table is the better reading
CHANGE = ("current", "previous", "change", "change_percent")  # as comparisons name their columns


def headline(
    rows: Rows,
    total: int | None,
    meaning: Meaning | None,
    *,
    is_chinese: bool,
    labels: Sequence[str] = (),
    units: Sequence[str] = (),
    counted: str = "",
) -> str:
    """The value, two values and their change, or a few values by name; else how many rows there are; for nothing at all the
    conditions that nothing fulfils.

    labels, units: of the columns. counted: which rows may be seen, as `rows_told` says it; told of nothing and of nought, which
    would else be taken for everybody's.
    """
    teller = _Teller(
        rows, tuple(labels) or rows.columns, tuple(units) or tuple(repeat("", len(rows.columns))), is_chinese
    )
    figure = meaning.figure if meaning else ""
    scope = f"{'，' if is_chinese else ', '}{counted}" if counted else ""
    if not rows.rows:
        return teller.nothing(meaning.conditions if meaning else (), scope)
    if len(rows.rows) == len(rows.columns) == 1:
        found = rows.rows[0][0]
        return teller.named(teller.value(0, 0), figure) + (scope if not found and found is not False else "")
    shown = len(rows.rows)
    if total is not None:
        return f"共 {total:,} 行，显示前 {shown} 行。" if is_chinese else f"First {shown} of {total:,} rows."
    told = "" if rows.is_truncated else teller.change() or teller.few()
    if told and len(told) <= MOST_CHARACTERS:
        return teller.named(told, figure)
    return f"共 {shown} 行。" if is_chinese else f"{shown} row{'s' if shown > 1 else ''}."


def rows_told(reach: Sequence[TableReach], *, is_chinese: bool) -> str:
    """Which rows a result may stand on; "" where no table has org units."""
    filtered = [table.units for table in reach if table.units is not None]
    if not filtered:
        return ""
    units = sorted({unit for each in filtered for unit in each})
    if not units:
        return "您不属于任何部门，看不到任何一行" if is_chinese else "as you are in no org unit whose rows you may see"
    return f"{'、'.join(units)} 可见的数据内" if is_chinese else f"in the rows of {', '.join(units)}"


class _Teller:
    """Words of one language for one result."""

    def __init__(self, rows: Rows, labels: tuple[str, ...], units: tuple[str, ...], is_chinese: bool) -> None:
        self.rows, self.labels, self.units, self.is_chinese = rows, labels, units, is_chinese
        self.colon, self.between = ("：", "；") if is_chinese else (": ", "; ")

    def nothing(self, conditions: Sequence[str], scope: str) -> str:
        told = self.between.join(conditions)
        if self.is_chinese:
            return f"没有符合条件的数据{f'（{told}）' if told else ''}{scope}。"
        return f"No row fits{f' ({told})' if told else ''}{scope}."

    def named(self, told: str, figure: str) -> str:
        if not figure:
            return told
        return f"{told}（{figure}）" if self.is_chinese else f"{told} ({figure})"

    def value(self, row: int, column: int) -> str:
        return self.with_unit(self.rows.rows[row][column], self.units[column])

    def with_unit(self, found: Any, unit: str) -> str:
        return f"{spoken(found)} {unit}" if unit and found is not None else spoken(found)

    def change(self) -> str:
        """Two times with a figure each, and what changed; "" for other results."""
        columns, rows = self.rows.columns, self.rows.rows
        if columns == CHANGE and len(rows) == 1:
            values, unit = ((self.labels[1], rows[0][1]), (self.labels[0], rows[0][0])), self.units[0]
        elif len(columns) == 2 and columns[0] == "period" and len(rows) == 2:
            values, unit = ((rows[0][0], rows[0][1]), (rows[1][0], rows[1][1])), self.units[1]
        else:
            return ""
        parts = [f"{name}{self.colon}{self.with_unit(found, unit)}" for name, found in values]
        (_, before), (_, now) = values
        if _is_number(before) and _is_number(now):
            parts.append(self._changed(Decimal(str(before)), Decimal(str(now)), unit))
        return self.between.join(parts)

    def _changed(self, before: Decimal, now: Decimal, unit: str) -> str:
        by = now - before
        if not by:
            return "没有变化" if self.is_chinese else "no change"
        size = self.with_unit(abs(by), unit)
        percent = f"{100 * by / before:+,.1f}" if before > 0 else ""
        if self.is_chinese:
            return f"{'增加' if by > 0 else '减少'} {size}{f'，{percent}%' if percent else ''}"
        return f"{size} {'more' if by > 0 else 'less'}{f', {percent} %' if percent else ''}"

    def few(self) -> str:
        """A single row, or a few of a name and a value; "" for other results."""
        columns, rows = self.rows.columns, self.rows.rows
        if len(rows) == 1 and len(columns) <= FEW_COLUMNS:
            return self.between.join(f"{name}{self.colon}{self.value(0, n)}" for n, name in enumerate(self.labels))
        if (
            len(rows) <= FEW_ROWS
            and len(columns) == 2
            and all(not _is_number(name) and _is_number(n) for name, n in rows)
        ):
            return self.between.join(f"{spoken(row[0])}{self.colon}{self.value(n, 1)}" for n, row in enumerate(rows))
        if len(rows) <= FEW_ROWS and len(columns) == 1:
            return ("、" if self.is_chinese else ", ").join(self.value(n, 0) for n in range(len(rows)))
        return ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
