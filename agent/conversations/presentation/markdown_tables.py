"""Tables that a model wrote.

Their rows are checked and stored one by one, each with its header ("City: Rome; Limit: 160"); a page shows them as a
table again.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from agent.conversations.presentation.message import ShownSentence

ROW_GAP = "\n- "  # the gap before each row
MIN_ROWS, MIN_COLUMNS = 2, 2  # fewer are a list whose items happen to have colons

Cells = dict[str, str]


def tables_in(sentences: Sequence[ShownSentence]) -> dict[int, tuple[list[str], Cells]]:
    """Return table columns and cells of each sentence that is a table row, by its position.

    A table is a run of consecutive rows with the columns of its first row, or some of them.
    """
    found: dict[int, tuple[list[str], Cells]] = {}
    for _is_row, group in groupby(enumerate(sentences), key=lambda item: item[1].gap == ROW_GAP):
        for run in _alike([(place, _cells(sentence.text)) for place, sentence in group if _is_row]):
            columns = list(run[0][1])
            if len(run) >= MIN_ROWS:
                found |= {place: (columns, cells) for place, cells in run}
    return found


def _alike(rows: Sequence[tuple[int, Cells]]) -> Iterator[list[tuple[int, Cells]]]:
    """Yield runs of consecutive rows whose columns are among those of the first."""
    run: list[tuple[int, Cells]] = []
    for place, cells in rows:
        if run and cells and cells.keys() <= run[0][1].keys():
            run.append((place, cells))
            continue
        if run:
            yield run
        run = [(place, cells)] if len(cells) >= MIN_COLUMNS else []
    if run:
        yield run


def _cells(text: str) -> Cells:
    """Return the cells of a row said with its header; empty for other text.

    The column that names the rows may be unnamed.
    """
    first, *others = text.split("; ")
    pairs = [part.partition(": ") for part in ([first] if ": " in first or not others else [f": {first}"]) + others]
    return {name: value for name, _colon, value in pairs} if all(value for _name, _colon, value in pairs) else {}
