"""Tables of every format: a grid of cells in, typed blocks out.

A parser lays its cells out with `Grid` (spans repeat the same cell) and says what the format says: which cells are marked as names of
columns (`<th>`, Word's header row, bold, fill), or how many rows are (`<thead>`, frozen panes). Where the format says nothing, the types
of the cells and their repetition tell, else the table has no header.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any

from knowledge.parsers.blocks import Block, BlockKind, build_block, extract_links
from knowledge.text.normalise import clean_text
from knowledge.text.pipe_table import format_table

JOINED = " › "
"""Between the names of a column in several header rows."""
MAX_HEADER_ROWS = 3  # where types decide
MAX_SPAN_COLUMNS, MAX_SPAN_ROWS = 200, 1_000
_MAX_LOOKED_AT = 500  # rows judged by types
_MAX_NAME = 80  # characters
_MAX_CAPTION = 200
_TELLS = 0.8  # share of a column's cells of one type, to judge by it
_FEWEST_REPEATED = 4  # cells of a column needed to judge by repetition
_MAX_BOX_LINES = 3  # rows of one column that count as lines of text
_MAX_TYPED = 60  # characters
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_TYPES = {
    "blank": re.compile(r"|[-–—./*?]{1,3}|n/?a\.?|#N/A|k\. ?A\.|无|null|none", re.IGNORECASE),
    "date": re.compile(
        r"(?:19|20)\d\d(?:[-/年]\d{1,2}月?|[-/.年]\d{1,2}[-/.月]\d{1,2}日?)(?:[ T]\d{1,2}:\d{2}.*)?"
        r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,3}:\d{2}(?::\d{2})?(?: [AP]M)?"
        rf"|\d{{1,2}}[-. ]{{1,2}}(?:{_MONTHS})[a-z]*[-. ,]{{1,2}}\d{{2,4}}|(?:{_MONTHS})[a-z]*\.? \d{{1,2}},? \d{{4}}"
    ),
    "amount": re.compile(
        r"[-+−(]?\s*(?:[€$£¥￥]|(?:EUR|USD|CNY|GBP|RMB)\s)?\s*[-+−]?(?:\d[\d.,' \u00a0]*|[½¼¾⅓⅔⅛])\s*"
        r"(?:[%‰€$£¥元°]|[A-Za-zµμ°Ω²³/]{1,8}|万|亿|人|天|个|件|台|次|小时|分钟)?\)?\.?"
    ),
    "code": re.compile(r"(?=.*\d)[A-Za-z]{0,8}[-_/.]?[\dA-Za-z]*\d[\w./-]*|\+?\d[\d ()/-]{5,}\d"),
    "address": re.compile(r"\S+@\S+\.\w+|https?://\S+|www\.\S+"),
    "choice": re.compile(r"yes|no|true|false|ja|nein|是|否|有|[√✓✔×✗x]", re.IGNORECASE),
}
"""What cells hold, by their form."""
_PERIOD = re.compile(r"(?:19|20)\d\d(?:/\d{2,4})?年?|(?:[QH][1-4]|\d{1,2}月|[KF]?W\d{1,2})(?:[ /-]?(?:19|20)?\d\d)?")


@dataclass(frozen=True, eq=False, slots=True)
class Cell:
    """One cell. text: as the original shows it, links by `blocks.mark_link`. exact: the typed value where it is another. is_name: whether
    the format marks it as a name of columns. A cell that spans several places stands in each of them, the same object.

    shown: the text on one line, with its links; plain: without them.
    """

    text: str = ""
    exact: str = ""
    is_name: bool = False
    shown: str = field(init=False)
    plain: str = field(init=False)

    def __post_init__(self) -> None:
        shown = " ".join(clean_text(self.text).split())
        object.__setattr__(self, "shown", shown)
        object.__setattr__(self, "plain", extract_links(shown)[0])


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
            self._fill_row_spans(row)
            for _ in range(min(max(columns, 1), MAX_SPAN_COLUMNS)):
                if rows > 1:
                    self._hanging[len(row)] = (min(rows, MAX_SPAN_ROWS) - 1, cell)
                row.append(cell)
        self._fill_row_spans(row)
        self.rows.append(row)

    def end_section(self) -> None:
        """End a part of the table: nothing hangs down into the next."""
        self._hanging.clear()

    def _fill_row_spans(self, row: Row) -> None:
        while (column := len(row)) in self._hanging:
            left, cell = self._hanging.pop(column)
            if left > 1:
                self._hanging[column] = (left - 1, cell)
            row.append(cell)


def build_table_blocks(
    rows: Sequence[Sequence[Cell]], *, header_rows: int | None = None, kind: BlockKind = "table", **fields: Any
) -> list[Block]:
    """Return a table as blocks: captions (title rows), one table or chart, paragraphs (notes); paragraphs for a box; [] for nothing.

    header_rows: how many the format states, after title rows; None where it says nothing. fields: of each block (page, boxes, hidden).
    """
    grid = _trim_grid(rows)
    titles = _count_title_rows(grid, header_rows)
    captions = [found for row in grid[:titles] for found in build_block("caption", _find_first_text(row), **fields)]
    captions = [_convert_to_paragraph(item) if len(item.text) > _MAX_CAPTION else item for item in captions]
    grid = grid[titles:]
    below = len(grid)
    while below and _is_spanned(grid[below - 1]):
        below -= 1  # a row below the table across all columns is a note
    notes = [found for row in grid[below:] for found in build_block("paragraph", _find_first_text(row), **fields)]
    grid = grid[:below]
    head = min(header_rows, len(grid)) if header_rows is not None else _count_header_rows(grid)
    are_lines = not head and all(len({cell for cell in row if cell.plain}) == 1 for row in grid)
    if are_lines and (len(grid) <= _MAX_BOX_LINES or len(grid[0]) > 1):
        lines = [found for row in grid for found in build_block("paragraph", _find_first_text(row), **fields)]
        return [*map(_convert_to_paragraph, captions), *lines, *notes]
    names = _build_column_names(grid[:head])
    body = _prefix_group_titles(grid[head:], names)
    if not body:  # a header without rows is kept as a row
        names, body = [], grid
    head_row, is_headed = [names] if names else [], bool(names)
    shown = format_table([*head_row, *([cell.shown for cell in row] for row in body)], is_headed=is_headed)
    exact = ""
    if any(cell.exact for row in body for cell in row):
        typed = ([cell.exact or cell.plain for cell in row] for row in body)
        exact = format_table([*head_row, *typed], is_headed=is_headed)
    return [*captions, *build_block(kind, shown, **(fields | {"is_headed": is_headed, "exact": exact})), *notes]


def _convert_to_paragraph(caption: Block) -> Block:
    return replace(caption, kind="paragraph")


def _trim_grid(rows: Sequence[Sequence[Cell]]) -> list[Row]:
    """Return the grid as a rectangle without blank rows and columns, and without rows that are merged into the one above."""
    width = max(map(len, rows), default=0)
    full = [[*row, *[EMPTY] * (width - len(row))] for row in rows if any(cell.plain for cell in row)]
    full = [row for above, row in zip([[], *full], full, strict=False) if row != above]
    used = [i for i in range(width) if any(row[i].plain for row in full)]
    return [[row[i] for i in used] for row in full]


def _find_first_text(row: Row) -> str:
    return next((cell.text for cell in row if cell.plain), "")


def _is_spanned(row: Row) -> bool:
    """Tell whether one cell spans a row of several columns."""
    return len(row) > 1 and row[0].plain != "" and all(cell is row[0] for cell in row)


def _count_title_rows(grid: list[Row], header_rows: int | None) -> int:
    """Return how many rows above a table hold one text alone: titles, not column names."""
    count = 0
    while count < len(grid) - 1:
        row = grid[count]
        filled = {id(cell) for cell in row if cell.plain}
        is_alone = len(row) > 1 and len(filled) == 1 and (len(row) > 2 or row[0].plain != "")
        if not is_alone or (header_rows and count == 0 and not _is_spanned(row) and row[0].is_name):
            break
        count += 1
    rest = grid[count:]
    if (
        count
        and not header_rows
        and _is_spanned(grid[count - 1])
        and any(map(_is_spanned, rest))
        and not _count_header_rows(rest)
    ):
        count -= 1  # the title of a first group, as that of a later one
    return count if any(len({id(cell) for cell in row if cell.plain}) > 1 for row in rest) else 0


# --- names of columns ----------------------------------------------------------------------------------------------


def _count_header_rows(grid: list[Row]) -> int:
    """Return how many rows name the columns: by marks of the format, else by the types of the cells."""
    marked = 0
    for row in grid:
        cells = {cell for cell in row if cell.plain}
        if not all(cell.is_name for cell in cells) or (marked and len(cells) < min(2, len(row))):
            break
        marked += 1
    if marked == len(grid):
        return _count_header_rows_by_type(grid)
    if marked and _is_group_row(grid[marked - 1]):  # grouped names; the column names may follow, unmarked
        return max(marked, _count_header_rows_by_type(grid))
    return marked or _count_header_rows_by_type(grid)


def _count_header_rows_by_type(grid: list[Row]) -> int:
    if len(grid) < 2 or len(grid[0]) < 2:
        return 0
    for head in range(min(MAX_HEADER_ROWS, len(grid) - 1), 0, -1):
        upper, last = grid[: head - 1], grid[head - 1]
        body = [row for row in grid[head : head + _MAX_LOOKED_AT] if not _is_spanned(row)]
        reaches_down = any(cell is below and cell.plain for cell, below in zip(last, grid[head], strict=True))
        may_name_columns = (
            not _is_spanned(last) and not reaches_down and _names_columns(last, _build_column_names(grid[:head]))
        )
        if all(map(_is_group_row, upper)) and may_name_columns and _has_type_change(last, body):
            return head
    return 0


def _is_group_row(row: Row) -> bool:
    """Tell whether a row groups columns: cells span them, or blanks follow names that are no numbers."""
    texts = [cell.plain for cell in row]
    is_wide = any(a is b and a.plain for a, b in pairwise(row))
    return (is_wide or "" in texts[1:]) and all(may_name_column(text) for text in texts if text)


def _names_columns(row: Row, names: Sequence[str]) -> bool:
    """Tell whether the last header row may be one. names: of all rows, joined; only these may repeat below several headings."""
    filled = [cell.plain for cell in row if cell.plain]
    return (
        len(filled) >= max(len(row) - 1, 1) and all(map(may_name_column, filled)) and len(set(names)) >= len(names) / 2
    )


def may_name_column(text: str) -> bool:
    """Tell whether a text may name a column: words, a period (2024, Q1), a short mark (CO2), but no amount or day."""
    return len(text) <= _MAX_NAME and (
        classify_text(text) in ("text", "code", "choice") or _PERIOD.fullmatch(text) is not None
    )


def _has_type_change(names: Row, body: list[Row]) -> bool:
    """Tell whether more columns hold another type than their name (amounts, days, codes, few repeated words) than the same."""
    tells = 0
    texts = {cell.plain for row in body for cell in row}
    are_new = all(name.plain not in texts for name in names if name.plain)
    for column, name in enumerate(names):
        typed = [
            (each.plain, kind)
            for row in body
            if (kind := classify_text((each := row[column]).exact or each.plain)) != "blank"
        ]
        cells = [texts for texts, _kind in typed]
        if not cells or not name.plain:
            continue
        kind, count = Counter(kind for _text, kind in typed).most_common(1)[0]
        if kind != "text" and count >= _TELLS * len(cells):
            is_same = classify_text(name.plain) == kind and not _PERIOD.fullmatch(name.plain)
            tells += -1 if is_same else len(names) > 2 or kind != "amount" or _is_uniform(cells)
        elif name.plain in cells:
            return False
        else:
            tells += are_new and len(cells) >= _FEWEST_REPEATED and len(set(cells)) <= len(cells) / 2
    return tells > 0


def _is_uniform(cells: Sequence[str]) -> bool:
    """Tell whether most cells differ in digits only: amounts of one kind below a name, not values of several keys."""
    forms = Counter(re.sub(r"[\d.,' ]+", "0", cell) for cell in cells)
    return forms.most_common(1)[0][1] > len(cells) / 2


@lru_cache(maxsize=4096)
def classify_text(text: str) -> str:
    """Return the type of a text (amount, day, code, …): one of _TYPES, or "text"."""
    for kind, form in _TYPES.items():
        if len(text) <= _MAX_TYPED and form.fullmatch(text):
            return kind
    return "text"


def _build_column_names(head: list[Row]) -> list[str]:
    """Return one name for each column, those of several rows joined: "Second half › Damaged"."""
    if not head:
        return []
    upper, last = head[:-1], head[-1]
    filled = [_fill_header_blanks(row, head[place + 1 :]) for place, row in enumerate(upper)]
    names = []
    for column in range(len(last)):
        found = [row[column].plain for row in [*filled, last]]
        names.append(JOINED.join(name for name, _ in groupby(part for part in found if part)))
    return names


def _fill_header_blanks(row: Row, below: list[Row]) -> Row:
    """Return a header row with blanks filled from the left, where rows below have names and none of its cells spans."""
    if any(a is b and a.plain for a, b in pairwise(row)):
        return row
    found: Row = []
    for column, cell in enumerate(row):
        is_named = any(item[column].plain for item in below)
        found.append(found[-1] if not cell.plain and found and is_named else cell)
    return found


def _prefix_group_titles(body: list[Row], names: list[str]) -> list[Row]:
    """Return the rows, each prefixed with its group's title, from a preceding cell across all columns."""
    has_keys = sum(row[0].is_name for row in body) > len(body) / 2

    def is_title(row: Row) -> bool:
        is_alone = not has_keys and len(row) > 2 and row[0].is_name and not any(cell.plain for cell in row[1:])
        return _is_spanned(row) or is_alone

    if not any(map(is_title, body)) or all(map(is_title, body)):
        return body
    titles: list[str] = []
    rows: list[Row] = []
    after_title = False
    for row in body:
        if is_title(row):
            titles = [*(titles if after_title else ()), row[0].plain]
        else:
            rows.append([Cell(JOINED.join(titles)) if titles else EMPTY, *row])
        after_title = is_title(row)
    if after_title:  # nothing follows: it is no title
        rows.append([Cell(JOINED.join(titles)), *[EMPTY] * len(body[0])])
    if names:
        names.insert(0, "")
    return rows
