"""Tables that a model wrote. Their rows are checked and kept one by one, each said with its header ("City: Rome; Limit: 160"); on a page
they are a table again.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from agent.conversations.presentation.message import ShownSentence

ROW_GAP = "\n- "  # how a row is set off where it is said
LEAST_ROWS, LEAST_COLUMNS = 2, 2  # fewer are a list whose items happen to have colons

Cells = dict[str, str]


def tables_in(sentences: Sequence[ShownSentence]) -> dict[int, tuple[list[str], Cells]]:
    """Place of a sentence → the columns of the table that it is a row of, and its cells; of rows that stand together and say the same
    columns, or some of those that the first says.
    """
    found: dict[int, tuple[list[str], Cells]] = {}
    for _is_row, group in groupby(enumerate(sentences), key=lambda each: each[1].gap == ROW_GAP):
        for run in _alike([(place, _cells(sentence.text)) for place, sentence in group if _is_row]):
            columns = list(run[0][1])
            if len(run) >= LEAST_ROWS:
                found |= {place: (columns, cells) for place, cells in run}
    return found


def _alike(rows: Sequence[tuple[int, Cells]]) -> Iterator[list[tuple[int, Cells]]]:
    """Rows in a row that fit under the columns of the first."""
    run: list[tuple[int, Cells]] = []
    for place, cells in rows:
        if run and cells and cells.keys() <= run[0][1].keys():
            run.append((place, cells))
            continue
        if run:
            yield run
        run = [(place, cells)] if len(cells) >= LEAST_COLUMNS else []
    if run:
        yield run


def _cells(said: str) -> Cells:
    """Return the cells of a row as it is said; none of what is no row. The column that names the rows may have no name."""
    first, *others = said.split("; ")
    pairs = [part.partition(": ") for part in ([first] if ": " in first or not others else [f": {first}"]) + others]
    return {name: value for name, _colon, value in pairs} if all(value for _name, _colon, value in pairs) else {}
