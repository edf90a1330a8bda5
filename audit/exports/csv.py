"""CSV for spreadsheets. A cell that a spreadsheet would run as a formula begins with an apostrophe."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from audit.content import written_time
from audit.exports.base import Extract, Placed

COLUMNS = (
    "seq", "at", "actor_id", "actor_name", "on_behalf_of_id", "on_behalf_of_name", "action", "outcome", "reason", "target_type",
    "target_id", "target_name", "request_id", "run_id", "address", "detail", "hash",
)  # fmt: skip
# Full-width signs too: spreadsheets with an East Asian input method take them for their ASCII forms.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


class CSV:
    """bom: mark the file as UTF-8 for Excel, which otherwise shows Chinese as noise."""

    media_type = "text/csv; charset=utf-8"
    extension = "csv"

    def __init__(self, *, bom: bool = False) -> None:
        self.name = "csv-bom" if bom else "csv"
        self._begin = "\ufeff" if bom else ""

    def write(self, extract: Extract) -> Iterator[bytes]:
        yield (self._begin + _line(COLUMNS)).encode()
        for placed in extract.entries:
            yield _line([safe(value) for value in _cells(placed)]).encode()


def safe(value: Any) -> str:
    """The value as a cell that shows what it says. Numbers stay numbers."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) and not isinstance(value, int) else text


def _cells(placed: Placed) -> list[Any]:
    special = {
        "seq": placed.seq,
        "at": written_time(placed.entry.at),
        "detail": json.dumps(placed.entry.detail, ensure_ascii=False, sort_keys=True),
        "hash": placed.hash.hex(),
    }
    return [special[name] if name in special else getattr(placed.entry, name) for name in COLUMNS]


def _line(cells: Any) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue()
