"""Where a format marks no names of columns, the cells below tell them; what titles a group is no title of the table."""

from knowledge.parsers.tables import Cell, Grid, build_table_blocks


def text_of(*rows: list[tuple[str, int, int]]) -> str:
    """The table in pipes; each cell as (text, columns, rows)."""
    grid = Grid()
    for row in rows:
        grid.add_row([(Cell(text), columns, height) for text, columns, height in row])
    return "\n\n".join(block.text for block in build_table_blocks(grid.rows))


def one(*texts: str) -> list[tuple[str, int, int]]:
    return [(text, 1, 1) for text in texts]


def test_a_few_names_below_many_headings_are_names() -> None:
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"]
    head = [("Ramp", 1, 2), *((month, 2, 1) for month in months)]
    body = [one(f"Ramp {letter}", *(str(n) for n in range(12))) for letter in "ABCDE"]
    lines = text_of(head, one(*["Plan", "Actual"] * 6), *body).split("\n")
    assert lines[0].startswith("| Ramp | Jan › Plan | Jan › Actual | Feb › Plan |")
    assert lines[2].startswith("| Ramp A | 0 | 1 |")


def test_a_name_that_reaches_down_takes_the_rows_of_names_along() -> None:
    head = [("Ramp", 1, 2), ("Fee", 1, 2), ("Stock", 1, 2), ("Load", 2, 1)]
    body = [one(f"Ramp {letter}", "12", "40", "9", "6") for letter in "ABCDEFGHIJ"]
    assert text_of(head, one("static", "moving"), *body).startswith(
        "| Ramp | Fee | Stock | Load › static | Load › moving |\n"
    )


def test_titles_of_groups_do_not_hide_the_names() -> None:
    rows = [one("Ramp", "Load"), [("North", 2, 1)], one("A", "9"), one("B", "6"), [("South", 2, 1)], one("C", "7")]
    assert text_of(*rows).split("\n")[::2] == ["|  | Ramp | Load |", "| North | A | 9 |", "| South | C | 7 |"]


def test_the_first_group_of_a_table_without_names_is_one() -> None:
    groups = [[("North", 2, 1)], one("A", "9"), one("B", "6"), [("South", 2, 1)], one("C", "7")]
    assert text_of(*groups).split("\n") == ["| North | A | 9 |", "| North | B | 6 |", "| South | C | 7 |"]
    assert text_of([("Loads", 2, 1)], one("Ramp", "Load"), *groups).split("\n\n")[0] == "Loads"
