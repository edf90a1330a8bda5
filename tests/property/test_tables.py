"""No cell of a table is reported under a name of another column, or beside cells of another row, whatever spans what."""

from dataclasses import dataclass, field
from itertools import product
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html

from knowledge.parsers.blocks import Block
from knowledge.parsers.html.reader import HtmlReader
from knowledge.parsers.tables import JOINED
from knowledge.text.pipe_table import parse_cells


@dataclass
class Made:
    """A table with the places (row, column) that each of its texts takes. source: its HTML."""

    source: str = ""
    places: dict[str, set[tuple[int, int]]] = field(default_factory=dict)


@dataclass
class Shape:
    """columns: how many. share: of cells that span another place. is_marked: whether the first cell of a row is its name."""

    random: Random
    columns: int
    share: float
    is_marked: bool


@st.composite
def tables(draw: st.DrawFn) -> Made:
    columns = draw(st.one_of(st.integers(1, 6), st.integers(7, 200)))
    share = draw(st.sampled_from([0.0, 0.2, 0.6]))
    shape = Shape(Random(draw(st.integers(0, 10_000))), columns, share, draw(st.booleans()))
    head, body, has_parts = draw(st.integers(0, 3)), draw(st.integers(1, 6)), draw(st.booleans())
    made = Made()
    for part, rows in (("thead", range(head)), ("tbody", range(head, head + body))):
        inside = "".join(f"<tr>{line}</tr>" for line in _lines(made, shape, rows, is_head=part == "thead"))
        made.source += f"<{part}>{inside}</{part}>" if has_parts and rows else inside
    return made


def _lines(made: Made, shape: Shape, rows: range, *, is_head: bool) -> list[str]:
    """The rows of one part, its cells tiling it."""
    taken: set[tuple[int, int]] = set()
    lines = []
    for row in rows:
        lines.append("")
        for column in range(shape.columns):
            if (row, column) in taken:
                continue
            width = height = 1
            while (
                shape.random.random() < shape.share
                and column + width < shape.columns
                and (row, column + width) not in taken
            ):
                width += 1
            while shape.random.random() < shape.share and row + height < rows.stop:
                height += 1
            text = f"{'name' if is_head else 'said'} {row}.{column}."
            made.places[text] = set(product(range(row, row + height), range(column, column + width)))
            taken |= made.places[text]
            tag = "th" if is_head or (shape.is_marked and column == 0) else "td"
            lines[-1] += f"<{tag} rowspan={height} colspan={width}>{text}</{tag}>"
    return lines


def is_across(made: Made, cell: str) -> bool:
    """Whether cells take whole rows: titles of those below them, written beside each of them."""
    columns = {column for place in made.places.values() for _, column in place}
    return all({column for _, column in made.places[title]} == columns for title in cell.split(JOINED))


def read(made: Made) -> list[Block]:
    return list(HtmlReader(html.document_fromstring(f"<table>{made.source}</table>")).blocks)


@settings(max_examples=150, deadline=None)
@given(tables())
def test_cells_stand_under_names_of_their_column_and_beside_cells_of_their_row(made: Made) -> None:
    blocks = read(made)
    for table in (item for item in blocks if item.kind == "table"):
        lines = [parse_cells(line) for line in table.text.split("\n")]
        names = lines[0] if table.is_headed else [""] * len(lines[0])
        for line in lines[2:] if table.is_headed else lines:
            assert len(line) == len(names)
            own = [
                (name, cell)
                for name, cell in zip(names, line, strict=True)
                if cell and (name or not is_across(made, cell))
            ]
            rows = [{row for row, _ in made.places[cell]} for _, cell in own]
            assert not rows or set.intersection(*rows), "cells of several rows in one"
            for name, cell in own:
                parts = [made.places[part] for part in name.split(JOINED) if part]
                columns = [{column for _, column in places} for places in [*parts, made.places[cell]]]
                assert set.intersection(*columns), f"{cell} is reported under {name}"


@settings(max_examples=100, deadline=None)
@given(tables())
def test_no_cell_is_lost(made: Made) -> None:
    text = "\n".join(block.text for block in read(made))
    assert [cell for cell in made.places if cell not in text] == []
