"""The names of a table's columns: by marks of the format, else by what the cells hold, else none; no value under another name."""

from knowledge.parsers.blocks import Block, mark_link
from knowledge.parsers.tables import Cell, Row, build_table_blocks
from knowledge.text.pipe_table import parse_cells


def cells(*rows: str, marked: int = 0) -> list[Row]:
    """Rows of cells from texts with bars, the first ones marked as names."""
    return [[Cell(cell, is_name=r < marked) for cell in parse_cells(row)] for r, row in enumerate(rows)]


def lines(block: Block) -> list[list[str]]:
    return [parse_cells(line) for line in block.text.split("\n")]


HEADED = {
    "amounts": cells("Truck|Fee|Weight", "small|30 €|12 t", "large|45 €|40 t"),
    "periods": cells("Site|2024|2025", "North|12|15", "South|7|9"),
    "a short mark": cells("Engine|CO2|Power", "V1|12.5|90", "V2|11.0|110"),
    "days": cells("Crane|Next check", "YC-30|2027-03-01", "YC-31|2027-04-15"),
    "addresses": cells("Person|Mail", "Anna|a@example.com", "Bo|b@example.com"),
    "repetition": cells("City|State", "Bonn|open", "Kiel|closed", "Ulm|open", "Jena|open", "Hof|closed"),
    "gaps": cells("Item|Net|VAT", "Lease|4200|", "Shelving|-|", "Scanner|n/a|", "Belt|12|3"),
    "one row": cells("Item|Price", "Pump|12.50"),
}
HEADLESS = {
    "a legend": cells("ok|crane may be used", "not ok|crane is locked"),
    "all words": cells("Anna|Bonn|red", "Bo|Kiel|blue", "Cy|Ulm|green"),
    "data in the first row": cells("Anna|5|2024-01-05", "Bo|7|2024-02-05"),
    "keys and their values": cells("Owner|Anna", "Length|5 m", "Weight|10 kg", "Price|30 €"),
    "a code first": cells("K-1|Anna|x", "K-2|Bo|y", "K-3|Cy|z"),
}


def test_what_cells_hold_tells_the_names() -> None:
    for table in HEADED.values():
        (block,) = build_table_blocks(table)
        assert block.is_headed, table
        assert lines(block)[0] == [cell.text for cell in table[0]]


def test_a_table_where_nothing_tells_has_no_names() -> None:
    for table in HEADLESS.values():
        (block,) = build_table_blocks(table)
        assert not block.is_headed, table
        assert lines(block) == [[cell.text for cell in row] for row in table]


def test_a_mark_of_the_format_tells_more_than_the_cells() -> None:
    (block,) = build_table_blocks(cells("Name|Town", "Anna|Bonn", "Bo|Kiel", marked=1))
    assert block.is_headed
    (block,) = build_table_blocks(cells("Site|2024", "North|12"), header_rows=0)
    assert not block.is_headed


def test_titles_groups_and_notes_of_a_table() -> None:
    wide = [Cell(text) for text in ("Fees 2026", "North", "East", "Source: yard office")]
    (plain,) = cells("Truck|Fee|Night")
    rows = cells("small|30|40", "large|45|60", "small|31|41")
    found = build_table_blocks([[wide[0]] * 3, plain, [wide[1]] * 3, *rows[:2], [wide[2]] * 3, rows[2], [wide[3]] * 3])
    assert [block.kind for block in found] == ["caption", "table", "paragraph"]
    assert [found[0].text, found[2].text] == ["Fees 2026", "Source: yard office"]
    assert lines(found[1])[0] == ["", "Truck", "Fee", "Night"]
    assert lines(found[1])[2:] == [
        ["North", "small", "30", "40"],
        ["North", "large", "45", "60"],
        ["East", "small", "31", "41"],
    ]


def test_a_link_stays_on_its_words_and_out_of_the_typed_values() -> None:
    table = [*cells("Site|Fee"), [Cell(mark_link("North", "https://example.com/n")), Cell("€5", exact="5")]]
    (block,) = build_table_blocks(table, header_rows=1)
    ((start, end, address),) = block.links
    assert (block.text[start:end], address) == ("North", "https://example.com/n")
    assert block.exact.split("\n")[2] == "| North | 5 |"
