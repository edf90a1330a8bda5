"""Tables, lists and footnotes of HTML: the meaning of their elements and attributes."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from knowledge.parsers.list_numbers import format_list_number
from knowledge.parsers.tables import Row

_NUMBER = re.compile(r"\s*(\d{1,6})")
_NOTE_ROLES = frozenset(("doc-footnote", "doc-endnote"))
_NOTE_ID = re.compile(r"(?:user-content-)?(?:fn|footnote|endnote|cite_note)(?!ref)[-_:.]?\w", re.IGNORECASE)
_OF_ROWS = frozenset(("row", "rowgroup"))


def span_of(cell: Any, name: str) -> int:
    """Return the number of places a cell spans; 0 rows means the rest of its section."""
    found = _NUMBER.match(cell.get(name) or "")
    return int(found[1]) if found else 1


def sections_of(table: Any) -> list[tuple[Any, list[Any]]]:
    """Return the parts of a table with their rows as they stand on the page: the head first, the foot last."""
    parts: list[tuple[Any, list[Any]]] = []
    for child in table.iterchildren("thead", "tbody", "tfoot", "tr"):
        if child.tag != "tr":
            parts.append((child, list(child.iterchildren("tr"))))
        elif parts and parts[-1][0] is table:
            parts[-1][1].append(child)
        else:
            parts.append((table, [child]))
    return sorted(parts, key=lambda part: {"thead": 0, "tfoot": 2}.get(part[0].tag, 1))


def _iterate_cells(table: Any) -> Iterator[Any]:
    return (cell for _, rows in sections_of(table) for row in rows for cell in row.iterchildren("td", "th"))


def is_layout_table(table: Any) -> bool:
    """Tell whether a table is used for layout: without marked headers, and with more than lines of text."""
    if (table.get("role") or "").lower() in ("presentation", "none"):
        return True
    cells = list(_iterate_cells(table))
    if len(cells) < 2:
        return True
    is_marked = any(cell.tag == "th" for cell in cells) or any(True for _ in table.iterchildren("thead", "caption"))
    return not is_marked and next(table.iterdescendants("table", "h1", "h2", "h3", "h4", "h5", "h6"), None) is not None


def is_header_cell(cell: Any, section: Any, *, is_headed: bool, is_alone: bool) -> bool:
    """Tell whether a cell is marked as a column header. is_headed: whether the table has a `thead`. is_alone: in its row."""
    if is_headed:
        return bool(section.tag == "thead")
    return cell.tag == "th" and not is_alone and (cell.get("scope") or "").lower() not in _OF_ROWS


def count_header_rows(table: Any, rows: Sequence[Row]) -> int | None:
    """Return the number of header rows below the titles; None where nothing is marked."""
    filled = [row for row in rows if any(cell.plain for cell in row)]
    is_headed = next(table.iterchildren("thead"), None) is not None
    marked = 0
    while marked < len(filled) and all(cell.is_name for cell in filled[marked] if cell.plain):
        marked += 1
    if marked == len(filled):
        return None
    if marked:
        titles = 0
        while titles < marked and len(filled[titles]) > 1 and all(cell is filled[titles][0] for cell in filled[titles]):
            titles += 1
        return marked - titles
    names_rows = [row for row in sections_of(table) for tr in row[1] for row in [tr] if row.find("td") is not None]
    has_row_names = bool(names_rows) and all(next(tr.iterchildren("td", "th")).tag == "th" for tr in names_rows)
    return 0 if is_headed or has_row_names else None


def find_footnotes(tree: Any, targets: set[str]) -> Iterator[tuple[Any, str]]:
    """Return the footnotes of a page, with their ids. targets: the ids that links lead to."""
    for element in tree.iter("aside", "li", "div", "p", "dd", "section"):
        name = element.get("id") or ""
        if element.get("role") in _NOTE_ROLES or (name in targets and _NOTE_ID.match(name)):
            yield element, name


def iterate_item_numbers(element: Any) -> Iterator[str]:
    """Yield the numbers of the items of a list, as the page shows them; "" for bullets."""
    items = list(element.iterchildren("li"))
    step = -1 if element.get("reversed") is not None else 1
    number = _parse_whole_number(element.get("start"), len(items) if step < 0 else 1)
    for item in items:
        number = _parse_whole_number(item.get("value"), number)
        yield f"{_format_number(number, element.get('type') or '1')}." if element.tag == "ol" else ""
        number += step
    while True:
        yield ""


def _parse_whole_number(text: str | None, otherwise: int) -> int:
    return int(text) if text and re.fullmatch(r"\s*-?\d{1,9}\s*", text) else otherwise


def _format_number(number: int, kind: str) -> str:
    """Format a number in digits, letters or Roman numerals."""
    if kind in ("a", "A") and number > 0:
        letters = ""
        while number > 0:
            number, rest = divmod(number - 1, 26)
            letters = chr(ord(kind) + rest) + letters
        return letters
    return format_list_number(number, {"i": "lowerRoman", "I": "upperRoman"}.get(kind, "decimal"))
