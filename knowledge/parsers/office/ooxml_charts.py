"""Charts of Office files as the data they are drawn from: categories are rows, series are columns."""

from collections.abc import Iterator, Sequence
from typing import Any

from knowledge.parsers.blocks import Block, build_block
from knowledge.parsers.office.number_formats import format_number, format_plain_number
from knowledge.parsers.office.ooxml_names import A, parse_whole_number
from knowledge.parsers.tables import JOINED, Cell, build_table_blocks

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_AXES = ("catAx", "dateAx", "serAx", "valAx")
_MAX_POINTS = 20_000  # of one series: more than a chart can show
_Column = tuple[str, dict[int, Cell]]


def build_chart_blocks(tree: Any, **fields: Any) -> list[Block]:
    """Return a chart as a caption (its titles) and tables, one for each set of categories; [] where it has no values.

    tree: a chart part's root. fields: of each block.
    """
    tables: list[tuple[_Column, list[_Column]]] = []
    first = _find_axis_title(tree, "catAx", "dateAx")
    for series in tree.iter(f"{_C}ser"):
        categories = first, _read_points(series, "cat", "xVal")
        values = _read_series_name(series), _read_points(series, "val", "yVal")
        sizes = [("", points)] if (points := _read_points(series, "bubbleSize")) else []
        if not values[1]:
            continue
        if tables and _extract_texts(tables[-1][0]) == _extract_texts(categories):
            tables[-1][1].extend([values, *sizes])
        else:
            tables.append((categories, [values, *sizes]))
    found = [entry for categories, columns in tables for entry in _build_table(categories, columns, fields)]
    titles = [_read_title(tree.find(f"{_C}chart/{_C}title")), *(_find_axis_title(tree, item) for item in _AXES)]
    caption = "\n".join(dict.fromkeys(title for title in titles if title))
    return [*build_block("caption", caption, **fields), *found] if found else []


def _build_table(categories: _Column, columns: Sequence[_Column], fields: dict[str, Any]) -> list[Block]:
    names = [categories[0], *(name for name, _ in columns)]
    head = [[Cell(name, is_name=True) for name in names]] if any(names) else []
    places = sorted({place for _, points in [categories, *columns] for place in points})
    rows = [[points.get(place, Cell()) for _, points in [categories, *columns]] for place in places]
    return build_table_blocks([*head, *rows], header_rows=len(head), kind="chart", **fields)


def _extract_texts(column: _Column) -> dict[int, str]:
    return {place: cell.text for place, cell in column[1].items()}


def _read_series_name(series: Any) -> str:
    node = series.find(f"{_C}tx")
    return "" if node is None else JOINED.join(item.text or "" for item in node.iter(f"{_C}v")).strip()


def _find_axis_title(tree: Any, *kinds: str) -> str:
    titles = (_read_title(axis.find(f"{_C}title")) for kind in kinds for axis in tree.iter(_C + kind))
    return next((title for title in titles if title), "")


def _read_title(title: Any) -> str:
    """Return the words of a title: typed, or kept from a cell."""
    if title is None:
        return ""
    lines = ("".join(item.itertext(f"{A}t")) for item in title.iter(f"{A}p"))
    typed = " ".join(line.strip() for line in lines if line.strip())
    return typed or " ".join(item.text or "" for item in title.iter(f"{_C}v")).strip()


def _read_points(series: Any, *names: str) -> dict[int, Cell]:
    """Return the points of a series by their places, as the chart shows them."""
    source = next((found for name in names if (found := series.find(_C + name)) is not None), None)
    if source is None:
        return {}
    levels = [dict(_read_level(item, "")) for item in source.iter(f"{_C}lvl")]
    if levels:
        return _join_levels(levels)
    kept = next(source.iter(f"{_C}numCache", f"{_C}numLit", f"{_C}strCache", f"{_C}strLit"), None)
    return {} if kept is None else dict(_read_level(kept, kept.findtext(f"{_C}formatCode") or ""))


def _read_level(kept: Any, code: str) -> Iterator[tuple[int, Cell]]:
    is_number = "num" in kept.tag.rpartition("}")[2]
    for _, point in zip(range(_MAX_POINTS), kept.iterchildren(f"{_C}pt"), strict=False):
        text = (point.findtext(f"{_C}v") or "").strip()
        if text:
            yield (
                parse_whole_number(point.get("idx")),
                _build_number_cell(text, point.get("formatCode") or code) if is_number else Cell(text),
            )


def _build_number_cell(text: str, code: str) -> Cell:
    try:
        value = float(text)
    except ValueError:
        return Cell(text)
    exact = format_plain_number(value)
    shown = format_number(value, code) if code and code != "General" else None
    return Cell(shown or exact, exact if shown and shown != exact else "")


def _join_levels(levels: Sequence[dict[int, Cell]]) -> dict[int, Cell]:
    """Join categories of several levels, the innermost first: an outer one holds until the next of its level."""
    found: dict[int, Cell] = {}
    outer = [""] * (len(levels) - 1)
    for place in sorted({place for level in levels for place in level}):
        outer = [level[place].text if place in level else held for level, held in zip(levels[1:], outer, strict=True)]
        if place in levels[0]:
            found[place] = Cell(JOINED.join(part for part in [*reversed(outer), levels[0][place].text] if part))
    return found
