"""CSV and TSV: encoding and delimiter found out, the whole file as one table; every cell stays as it is written."""

import csv
import re
from collections import Counter
from io import StringIO
from itertools import zip_longest
from pathlib import Path

from knowledge.parsers import detect
from knowledge.parsers.base import ParseFailed, Rejected, parsers
from knowledge.parsers.blocks import ParsedDocument, unmarked
from knowledge.parsers.encoding import read_text
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.tables import Cell, table_blocks
from knowledge.parsers.written_values import decimal_mark, plain_days, plain_number

_DELIMITERS = ",;\t|"
_USUAL_MARKS = {";": ",", ",": "."}  # of decimals: where a comma is one, columns are not set apart by it
_STATED = re.compile(r'"?sep=(.)"?[ ,;\t]*\n', re.IGNORECASE)  # Excel's own first line
_SAMPLE_ROWS = 50
_MAX_FIELD_CHARACTERS = 1_000_000


class CsvParser:
    name = "csv"
    mime_types = ("text/csv", "text/tab-separated-values")
    extensions = (".csv", ".tsv")
    preload: tuple[str, ...] = ()

    def recognises(self, path: Path) -> bool:
        return detect.is_text(path)

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        text = unmarked(read_text(path, limits).replace("\0", "").removeprefix("\ufeff"))
        stated = _STATED.match(text)
        text = text[stated.end() :] if stated else text
        delimiter = stated[1] if stated else delimiter_of(text)
        csv.field_size_limit(_MAX_FIELD_CHARACTERS)
        rows: list[list[str]] = []
        cells = 0
        try:
            for row in csv.reader(StringIO(text), delimiter=delimiter, skipinitialspace=True):
                cells += len(row)
                if cells > limits.cells:
                    raise Rejected("too_many_cells", limit=limits.cells)
                rows.append(row)
        except csv.Error as error:
            raise ParseFailed("damaged", format="CSV") from error
        return ParsedDocument(blocks=tuple(table_blocks(_typed(rows, _USUAL_MARKS.get(delimiter, "")))))


def _typed(rows: list[list[str]], usual_mark: str) -> list[list[Cell]]:
    """The rows as cells that know what they hold. usual_mark: of decimals, where the cells themselves do not tell."""
    mark = decimal_mark(cell for row in rows for cell in row) or usual_mark
    columns = [[cell or "" for cell in column] for column in zip_longest(*rows, fillvalue="")]
    days = [plain_days(column) for column in columns]
    return [
        [Cell(cell, days[c][r] or plain_number(cell, mark)) for c, cell in enumerate(row)] for r, row in enumerate(rows)
    ]


def delimiter_of(text: str) -> str:
    """The delimiter that gives the most rows the same number of fields, at least two; a comma when none does."""
    lines = text.split("\n", _SAMPLE_ROWS)[:_SAMPLE_ROWS]

    def score(delimiter: str) -> tuple[int, int]:
        try:
            widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if row)
        except csv.Error:
            return 0, 0
        width, count = max(((w, n) for w, n in widths.items() if w > 1), key=lambda item: item[1], default=(0, 0))
        return count, width

    return max(_DELIMITERS, key=score)


parsers.add(CsvParser.name, CsvParser())
