"""Tables in plain text: one row a line, cells between bars. Tables written here can be read back cell by cell."""

import re
from collections.abc import Sequence

_BAR = re.compile(r"(?<!\\)\|")


def format_row(cells: Sequence[str]) -> str:
    """Write a row: white space becomes one space, a bar inside a cell is escaped."""
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"


def format_rule(width: int) -> str:
    """Write the line below the names of the columns."""
    return "| " + " | ".join(["---"] * width) + " |"


def format_table(rows: Sequence[Sequence[str]], *, is_headed: bool = True) -> str:
    """Write a table, short rows filled up; is_headed: whether its first row holds the names of the columns."""
    width = max(map(len, rows))
    lines = [format_row([*row, *[""] * (width - len(row))]) for row in rows]
    return "\n".join([lines[0], format_rule(width), *lines[1:]] if is_headed else lines)


def parse_cells(line: str) -> list[str]:
    """Read the cells of a row, also one of another form (`a|b`)."""
    line = line.strip().removeprefix("|")
    line = line if line.endswith("\\|") else line.removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(line)]


def split_escaped_cells(line: str) -> list[str]:
    """Return the cells of a line that `format_row` wrote as they stand there, still escaped."""
    return line[2:-2].split(" | ")


def find_cell_spans(line: str) -> list[tuple[int, int]]:
    """Return where each cell stands in a line that `format_row` wrote, as [start, end)."""
    spans, start = [], 2
    for cell in split_escaped_cells(line):
        spans.append((start, start + len(cell)))
        start += len(cell) + 3
    return spans


def format_labelled_row(names: Sequence[str], cells: Sequence[str]) -> str:
    """Write a row as text with its column names: "Name: value; Name: value". Two cells without names are a key and its value."""
    if not names and len(cells) == 2 and all(cells):
        return ": ".join(cells)
    named = zip(names or [""] * len(cells), cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)
