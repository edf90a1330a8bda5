"""A passage as it is shown: whole lists, tables with their header, headings and code, with what is highlighted marked."""

import pytest

from agent.passages.excerpts import MAX_ROWS, SHORT, ExcerptPart, build_excerpt, split_around_marks

PROSE = "Lunch is at noon. Employees have 30 days. The rest is up to you.\n\nSoup is at eleven."
STEPS = "# Failover\n\n1. Stop the writer.\n2. Promote the replica.\n3. Point the clients at it."
TABLE = "| City | Limit |\n| --- | --- |\n| Oslo | 190 |\n| Rome | 160 |"
CODE = "Run this:\n\n```\nmake stop\nmake start\n```"


def span(text: str, part: str) -> tuple[int, int]:
    return text.index(part), text.index(part) + len(part)


def marked(parts: tuple[ExcerptPart, ...]) -> list[str]:
    return [piece.text for part in parts for piece in part.pieces if piece.is_marked]


def test_a_sentence_is_marked_in_its_whole_passage() -> None:
    parts = build_excerpt(PROSE, *span(PROSE, "Employees have 30 days."))
    assert [part.kind for part in parts] == ["prose", "prose"]
    assert [piece.text for piece in parts[0].pieces] == [
        "Lunch is at noon.",
        "Employees have 30 days.",
        "The rest is up to you.",
    ]
    assert marked(parts) == ["Employees have 30 days."]


def test_of_a_span_the_sentences_are_marked_that_the_answer_said() -> None:
    start, end = 0, len(PROSE)
    said = {"Lunch is at noon.", "Soup is at eleven."}
    assert marked(build_excerpt(PROSE, start, end, texts=said)) == ["Lunch is at noon.", "Soup is at eleven."]
    assert len(marked(build_excerpt(PROSE, start, end))) == 4


def test_steps_are_one_list_under_their_heading() -> None:
    heading, steps = build_excerpt(STEPS, *span(STEPS, "2. Promote the replica."))
    assert (heading.kind, steps.kind, len(steps.pieces)) == ("heading", "list", 3)
    assert marked((heading, steps)) == ["2. Promote the replica."]


def test_a_row_is_marked_in_its_table_with_the_header() -> None:
    (table,) = build_excerpt(TABLE, *span(TABLE, "| Rome | 160 |"))
    assert (table.kind, table.header, table.is_cut) == ("table", ("City", "Limit"), False)
    assert [(row.cells, row.is_marked) for row in table.pieces] == [(("Oslo", "190"), False), (("Rome", "160"), True)]


@pytest.mark.parametrize("place", [0, 9])
def test_of_a_long_table_the_rows_around_are_shown(place: int) -> None:
    text = "| City | Limit |\n| --- | --- |\n" + "\n".join(f"| C{number} | {number} |" for number in range(20))
    (table,) = build_excerpt(text, *span(text, f"| C{place} | {place} |"))
    assert (len(table.pieces), table.is_cut) == (MAX_ROWS, True)
    assert [row.cells[0] for row in table.pieces if row.is_marked] == [f"C{place}"]


def test_code_is_shown_line_by_line() -> None:
    parts = build_excerpt(CODE, *span(CODE, "make start"))
    assert [(part.kind, [piece.text for piece in part.pieces]) for part in parts][-1] == (
        "code",
        ["make stop", "make start"],
    )
    assert marked(parts) == ["make start"]


def test_a_long_passage_is_folded_around_its_marks_under_their_heading() -> None:
    filler = "The kitchen is on the second floor. " * (SHORT // 30)
    text = f"## Kitchen\n\n{filler}\n\n## Leave\n\nEmployees have 30 days.\n\n{filler}"
    before, core, after = split_around_marks(build_excerpt(text, *span(text, "Employees have 30 days.")))
    assert [part.kind for part in core] == ["heading", "prose"]
    assert marked(core) == ["Employees have 30 days."]
    assert marked((*before, *after)) == []
    assert [part.kind for part in before] == ["heading", "prose"]


def test_a_short_passage_is_shown_whole() -> None:
    parts = build_excerpt(PROSE, *span(PROSE, "Employees have 30 days."))
    assert split_around_marks(parts) == ((), parts, ())
