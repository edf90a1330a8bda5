"""Tables of every format as one shape: a grid of cells in, typed blocks out.

A parser lays its cells out with `Grid` (spans repeat the same cell) and says what the format says: which cells are marked as names of
columns (`<th>`, Word's header row, bold, fill), or how many rows are (`<thead>`, frozen panes). Where the format says nothing, the types
of the cells and their repetition tell, else the table has no header.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any

from knowledge.parsers.blocks import Block, BlockKind, block, taken_links
from knowledge.text.normalise import cleaned
from knowledge.text.pipe_table import pipe_table

JOINED = " › "
"""Between the names of a column in several header rows."""
MOST_HEADER_ROWS = 3  # where the types of cells tell
MOST_SPAN_COLUMNS, MOST_SPAN_ROWS = 200, 1_000
_MOST_LOOKED_AT = 500  # rows, for what types tell
_LONGEST_NAME = 80  # characters
_TELLS = 0.8  # share of a column's cells that are of one type, where the type tells
_AMOUNT = re.compile(
    r"[-+−(]?\s*(?:[€$£¥￥]|(?:EUR|USD|CNY|GBP|RMB)\s)?\s*[-+−]?(?:\d[\d.,' \u00a0]*|[½¼¾⅓⅔⅛])\s*"
    r"(?:[%‰€$£¥元°]|[A-Za-zµμ°Ω²³/]{1,8}|万|亿|人|天|个|件|台|次|小时|分钟)?\)?\.?"
)
_DATE = re.compile(
    r"\d{4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2}日?)?(?:[ T]\d{1,2}:\d{2}.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?"
)
_CODE = re.compile(r"(?=.*\d)[A-Za-z]{0,8}[-_/.]?[\dA-Za-z]*\d[\w./-]*")
_PERIOD = re.compile(r"(?:19|20)\d\d(?:/\d{2,4})?年?|(?:[QH][1-4]|\d{1,2}月|[KF]?W\d{1,2})(?:[ /-]?(?:19|20)?\d\d)?")


@dataclass(frozen=True, eq=False, slots=True)
class Cell:
    """One cell. text: as the original shows it, links by `blocks.linked`. exact: the typed value where it is another. is_name: whether
    the format marks it as a name of columns. A cell that spans several places stands in each of them, the same object.

    shown: the text on one line, with its links; said: without them.
    """

    text: str = ""
    exact: str = ""
    is_name: bool = False
    shown: str = field(init=False)
    said: str = field(init=False)

    def __post_init__(self) -> None:
        shown = " ".join(cleaned(self.text).split())
        object.__setattr__(self, "shown", shown)
        object.__setattr__(self, "said", taken_links(shown)[0])


EMPTY = Cell()
Row = list[Cell]


class Grid:
    """Rows of cells, filled in reading order; a cell that hangs down from a row above takes its place first."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._hanging: dict[int, tuple[int, Cell]] = {}  # column → rows still to fill

    def add_row(self, cells: Sequence[tuple[Cell, int, int]]) -> None:
        """Add a row of (cell, columns, rows), where columns and rows are how many places it spans."""
        row: Row = []
        for cell, columns, rows in cells:
            self._fill(row)
            for _ in range(min(max(columns, 1), MOST_SPAN_COLUMNS)):
                if rows > 1:
                    self._hanging[len(row)] = (min(rows, MOST_SPAN_ROWS) - 1, cell)
                row.append(cell)
        self._fill(row)
        self.rows.append(row)

    def end_section(self) -> None:
        """End a part of the table: nothing hangs down into the next."""
        self._hanging.clear()

    def _fill(self, row: Row) -> None:
        while (column := len(row)) in self._hanging:
            left, cell = self._hanging.pop(column)
            if left > 1:
                self._hanging[column] = (left - 1, cell)
            row.append(cell)


def table_blocks(
    rows: Sequence[Sequence[Cell]], *, header_rows: int | None = None, kind: BlockKind = "table", **fields: Any
) -> list[Block]:
    """A table as blocks: captions for title rows, one table (or chart); a box of one cell is a paragraph; [] for an empty one.

    header_rows: how many the format states, after title rows; None where it says nothing. fields: of each block (page, boxes, hidden).
    """
    grid = _trimmed(rows)
    titles = _title_rows(grid, header_rows)
    captions = [found for row in grid[:titles] for found in block("caption", _one(row), **fields)]
    grid = grid[titles:]
    if not grid:
        return list(map(_as_paragraph, captions))
    if len({id(cell) for row in grid for cell in row if cell.said}) == 1:
        text = next(cell.text for row in grid for cell in row if cell.said)
        return [*map(_as_paragraph, captions), *block("paragraph", text, **fields)]
    head = min(header_rows, len(grid)) if header_rows is not None else _header_rows(grid)
    if header_rows is None and head >= len(grid):
        head = 0
    names = _names(grid[:head])
    body = _with_groups(grid[head:], names) if head < len(grid) else []
    if not body:  # names without rows: what they say is kept as a row
        names, body = [], grid
    head_row, is_headed = [names] if names else [], bool(names)
    shown = pipe_table([*head_row, *([cell.shown for cell in row] for row in body)], is_headed=is_headed)
    exact = ""
    if any(cell.exact for row in body for cell in row):
        typed = ([cell.exact or cell.said for cell in row] for row in body)
        exact = pipe_table([*head_row, *typed], is_headed=is_headed)
    return [*captions, *block(kind, shown, **(fields | {"is_headed": is_headed, "exact": exact}))]


def _as_paragraph(caption: Block) -> Block:
    """Return a caption that announces nothing as a paragraph."""
    return replace(caption, kind="paragraph")


def _trimmed(rows: Sequence[Sequence[Cell]]) -> list[Row]:
    """The grid as a rectangle without blank rows and columns."""
    width = max(map(len, rows), default=0)
    full = [[*row, *[EMPTY] * (width - len(row))] for row in rows]
    full = [row for row in full if any(cell.said for cell in row)]
    used = [i for i in range(width) if any(row[i].said for row in full)]
    return [[row[i] for i in used] for row in full]


def _one(row: Row) -> str:
    return next((cell.text for cell in row if cell.said), "")


def _is_spanned(row: Row) -> bool:
    """Whether one cell takes a row of several columns."""
    return len(row) > 1 and row[0].said != "" and all(cell is row[0] for cell in row)


def _title_rows(grid: list[Row], header_rows: int | None) -> int:
    """How many rows above a table hold one text alone: its title, not a name of columns."""
    count = 0
    while count < len(grid) - 1:
        row = grid[count]
        filled = {id(cell) for cell in row if cell.said}
        is_alone = len(row) > 1 and len(filled) == 1 and (_is_spanned(row) or row[0].said != "")
        if not is_alone or (header_rows and count == 0 and not _is_spanned(row) and row[0].is_name):
            break
        count += 1
    rest = grid[count:]
    if (
        count
        and not header_rows
        and _is_spanned(grid[count - 1])
        and any(map(_is_spanned, rest))
        and not _header_rows(rest)
    ):
        count -= 1  # the title of a first group, as that of a later one
    return count if any(len({id(cell) for cell in row if cell.said}) > 1 for row in rest) else 0


# --- names of columns ----------------------------------------------------------------------------------------------


def _header_rows(grid: list[Row]) -> int:
    """How many rows name the columns: by marks of the format, else by the types of the cells."""
    marked = 0
    for row in grid:
        if not all(cell.is_name for cell in row if cell.said):
            break
        marked += 1
    if 0 < marked < len(grid):
        return max(marked, _told_by_types(grid)) if _spreads(grid[marked - 1]) else marked
    return _told_by_types(grid)


def _told_by_types(grid: list[Row]) -> int:
    if len(grid) < 2 or len(grid[0]) < 2:
        return 0
    for head in range(1, min(MOST_HEADER_ROWS, len(grid) - 1) + 1):
        upper, last, body = grid[: head - 1], grid[head - 1], [row for row in grid[head:] if not _is_spanned(row)]
        if head > 1 and not all(_spreads(row) for row in upper):
            return 0
        if any(cell is below and cell.said for cell, below in zip(last, grid[head], strict=True)):
            continue  # a name reaches further down
        if (
            not _is_spanned(last)
            and _names_columns(last, _names(grid[:head]))
            and _types_change(last, body[:_MOST_LOOKED_AT])
        ):
            return head
    return 0


def _spreads(row: Row) -> bool:
    """Whether a row stands above several columns: cells that span them, or blanks behind names that no numbers are."""
    said = [cell.said for cell in row]
    is_wide = any(a is b and a.said for a, b in pairwise(row))
    return (is_wide or "" in said[1:]) and all(may_name(text) for text in said if text)


def _names_columns(row: Row, names: Sequence[str]) -> bool:
    """Whether the last row of names may be one. names: those of all rows, joined; only such may repeat below several headings."""
    filled = [cell.said for cell in row if cell.said]
    return len(filled) >= max(len(row) - 1, 1) and all(map(may_name, filled)) and len(set(names)) >= len(names) / 2


def may_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and (_PERIOD.fullmatch(text) is not None or type_of(text) == "text")


def _types_change(names: Row, body: list[Row]) -> bool:
    """Whether a column holds something that its name is not: amounts, days, codes, or the same few words again and again."""
    tells = False
    for column, name in enumerate(names):
        cells = [row[column].said for row in body if row[column].said]
        if not cells or not name.said:
            continue
        kinds = [type_of(cell) for cell in cells]
        kind = max(set(kinds), key=kinds.count)
        if kind != "text" and kinds.count(kind) >= _TELLS * len(cells):
            if type_of(name.said) == kind and _PERIOD.fullmatch(name.said) is None:
                return False
            tells = True
        elif name.said in cells:
            return False
        elif len(cells) >= 4 and len(set(cells)) <= len(cells) / 2:
            tells = True
    return tells


def type_of(text: str) -> str:
    """Tell amounts, days and codes from words: "amount", "date", "code" or "text"."""
    if _DATE.fullmatch(text):
        return "date"
    if _AMOUNT.fullmatch(text):
        return "amount"
    return "code" if _CODE.fullmatch(text) and len(text) <= 40 else "text"


def _names(head: list[Row]) -> list[str]:
    """One name for each column, those of several rows joined: "Second half › Damaged"."""
    if not head:
        return []
    upper, last = head[:-1], head[-1]
    filled = [_carried(row, head[place + 1 :]) for place, row in enumerate(upper)]
    names = []
    for column in range(len(last)):
        said = [row[column].said for row in [*filled, last]]
        names.append(JOINED.join(name for name, _ in groupby(part for part in said if part)))
    return names


def _carried(row: Row, below: list[Row]) -> Row:
    """A row of names with blanks filled from the left, where the rows below have names and no cell of its own spans."""
    if any(a is b and a.said for a, b in pairwise(row)):
        return row
    found: Row = []
    for column, cell in enumerate(row):
        is_named = any(each[column].said for each in below)
        found.append(found[-1] if not cell.said and found and is_named else cell)
    return found


def _with_groups(body: list[Row], names: list[str]) -> list[Row]:
    """The rows, each with the title of its group in front where a cell across all columns titles those that follow."""
    if not any(_is_spanned(row) for row in body) or all(_is_spanned(row) for row in body):
        return body
    group, rows = EMPTY, []
    for row in body:
        if _is_spanned(row):
            group = row[0]
        else:
            rows.append([group, *row])
    if names:
        names.insert(0, "")
    return rows
