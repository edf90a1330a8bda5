"""CSV and TSV: encoding and delimiter found out, the whole file as one table; every cell stays as it is written."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from io import StringIO
from itertools import zip_longest
from pathlib import Path

from knowledge.parsers import detect
from knowledge.parsers.base import ParseFailed, ParseLimits, Rejected, parsers
from knowledge.parsers.blocks import ParsedDocument, remove_link_marks
from knowledge.parsers.encoding import read_text
from knowledge.parsers.office.number_formats import PRECISION
from knowledge.parsers.tables import Cell, build_table_blocks

_CURRENCY = r"(?:[€$£¥￥]|EUR|USD|CNY|GBP|CHF|RMB|元)"
_NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−–])?\s*(?:{_CURRENCY}\s*)?(?P<sign2>[-+−–])?(?P<digits>\d[\d.,'\u00a0\u202f]*)"
    rf"(?P<share>\s*%)?(?:\s*{_CURRENCY})?(?(open)\))"
)
_POINT = r"(?:[1-9]\d{0,2}(?:[,'\u00a0\u202f]\d{3})+|0|[1-9]\d*)(?:\.\d+)?"  # 1,234.5
_COMMA = r"(?:[1-9]\d{0,2}(?:[.'\u00a0\u202f]\d{3})+|0|[1-9]\d*)(?:,\d+)?"  # 1.234,5
_IS_POINT, _IS_COMMA = re.compile(_POINT), re.compile(_COMMA)
_DAY = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})")


def find_decimal_mark(cells: Iterable[str]) -> str:
    """Return "." or ",": the decimal mark of all unambiguous cells; "" where there are none."""
    marks = {
        _detect_mark(found["digits"].strip())
        for cell in cells
        if not cell.isdecimal() and (found := _NUMBER.fullmatch(cell))
    }
    marks.discard("")
    return marks.pop() if len(marks) == 1 else ""


def _detect_mark(digits: str) -> str:
    """Return the decimal mark that a number can have alone: of 1.204,90 and 12,50, not of 1,204."""
    reads_point, reads_comma = _IS_POINT.fullmatch(digits), _IS_COMMA.fullmatch(digits)
    return "" if bool(reads_point) == bool(reads_comma) else "." if reads_point else ","


def normalise_number(cell: str, mark: str) -> str:
    """Return a number without groups, currency and per cent; "" for other text, and for a plain number.

    mark: the table's own (`find_decimal_mark`).
    """
    found = None if cell.isdecimal() else _NUMBER.fullmatch(cell.strip())
    if not found:
        return ""
    digits = found["digits"].strip()
    mark = _detect_mark(digits) or mark
    if not mark and not digits.isdecimal():
        return ""
    if not (_IS_COMMA if mark == "," else _IS_POINT).fullmatch(digits) or sum(map(str.isdecimal, digits)) > PRECISION:
        return ""
    plain = re.sub(r"[^\d,]" if mark == "," else r"[^\d.]", "", digits).replace(",", ".")
    if found["share"]:
        plain = f"{(Decimal(plain) / 100).normalize():f}"
    signs = {found["sign"], found["sign2"]} & {"-", "−", "–"}
    return f"-{plain}" if signs or found["open"] else plain


def normalise_days(cells: Sequence[str]) -> list[str]:
    """Return the days of a column as 2024-04-03, "" for other text; all "" if day and month cannot be told apart."""
    found = [_DAY.fullmatch(cell.strip()) for cell in cells]
    days = [(int(entry[1]), int(entry[3]), int(entry[4]), entry[2]) for entry in found if entry]
    is_day_first = any(first > 12 for first, _second, _year, _sign in days) or all(sign == "." for *_, sign in days)
    is_month_first = any(second > 12 for _first, second, _year, _sign in days)
    if not days or is_day_first == is_month_first:
        return [""] * len(cells)
    return [_format_day(entry, is_day_first) if entry else "" for entry in found]


def _format_day(found: re.Match[str], is_day_first: bool) -> str:
    first, second, year = int(found[1]), int(found[3]), int(found[4])
    day, month = (first, second) if is_day_first else (second, first)
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


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
        text = remove_link_marks(read_text(path, limits).replace("\0", "").removeprefix("\ufeff"))
        stated = _STATED.match(text)
        text = text[stated.end() :] if stated else text
        delimiter = stated[1] if stated else detect_delimiter(text)
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
        return ParsedDocument(
            blocks=tuple(build_table_blocks(_convert_to_cells(rows, _USUAL_MARKS.get(delimiter, ""))))
        )


def _convert_to_cells(rows: list[list[str]], usual_mark: str) -> list[list[Cell]]:
    """Return the rows as typed cells. usual_mark: the decimal mark where the cells are ambiguous."""
    mark = find_decimal_mark(cell for row in rows for cell in row) or usual_mark
    columns = [[cell or "" for cell in column] for column in zip_longest(*rows, fillvalue="")]
    days = [normalise_days(column) for column in columns]
    return [
        [Cell(cell, days[c][r] or normalise_number(cell, mark)) for c, cell in enumerate(row)]
        for r, row in enumerate(rows)
    ]


def detect_delimiter(text: str) -> str:
    """Return the delimiter that gives the most rows the same number of fields, at least two; a comma when none does."""
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
