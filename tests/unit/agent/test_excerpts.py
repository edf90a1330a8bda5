"""A quotation where it stands."""

from agent.passages.excerpts import MOST_ROWS, excerpt_of, rows_in

PROSE = "# Leave\n\nAsk in writing. Employees have 30 days. They end in March.\n\nSoup is at eleven."
HEAD = "| City | Limit |\n|---|---|\n"
TABLE = f"Rates are in euros.\n\n{HEAD}| Oslo | 190 |\n| Rome | 160 |\n\nAsk finance."


def span(text: str, part: str) -> tuple[int, int]:
    start = text.index(part)
    return start, start + len(part)


def test_a_sentence_stands_between_its_neighbours() -> None:
    excerpt = excerpt_of(PROSE, *span(PROSE, "Employees have 30 days."))
    assert (excerpt.before, excerpt.marked, excerpt.after) == (
        "Ask in writing.", "Employees have 30 days.", "They end in March.",
    )  # fmt: skip
    assert excerpt.rows == ()


def test_another_paragraph_is_no_neighbour() -> None:
    excerpt = excerpt_of(PROSE, *span(PROSE, "Soup is at eleven."))
    assert (excerpt.before, excerpt.after) == ("", "")


def test_a_row_stands_in_its_table() -> None:
    excerpt = excerpt_of(TABLE, *span(TABLE, "| Rome | 160 |"))
    assert excerpt.header == ("City", "Limit")
    assert [(row.cells, row.is_marked) for row in excerpt.rows] == [(("Oslo", "190"), False), (("Rome", "160"), True)]
    assert not excerpt.is_cut
    assert rows_in(TABLE) == {"City: Oslo; Limit: 190", "City: Rome; Limit: 160"}


def test_of_a_long_table_the_rows_around_are_shown_and_all_that_are_quoted() -> None:
    text = HEAD + "".join(f"| C{number} | {number} |\n" for number in range(40))
    for place in (0, 1, 20, 39):
        excerpt = excerpt_of(text, *span(text, f"| C{place} | {place} |"))
        assert len(excerpt.rows) == MOST_ROWS
        assert [row.cells[0] for row in excerpt.rows if row.is_marked] == [f"C{place}"]
        assert excerpt.is_cut
    first, last = span(text, "| C5 | 5 |")[0], span(text, "| C15 | 15 |")[1]
    assert sum(row.is_marked for row in excerpt_of(text, first, last).rows) == 11


def test_a_span_that_is_no_sentence_is_quoted_as_it_is() -> None:
    assert excerpt_of("", 0, 0).marked == ""
