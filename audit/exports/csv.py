"""CSV for spreadsheets."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from audit.exports.base import Extract, Placed, written
from audit.models import written_time
from copilot_site.lib.text.spreadsheets import csv_parts

COLUMNS = (
    "seq", "at", "actor_id", "actor_name", "on_behalf_of_id", "on_behalf_of_name", "action", "outcome", "reason", "target_type",
    "target_id", "target_name", "request_id", "run_id", "address", "detail", "hash",
)  # fmt: skip


class CSV:
    """bom: mark the file as UTF-8 for Excel, which otherwise shows Chinese as noise."""

    media_type = "text/csv; charset=utf-8"
    extension = "csv"

    def __init__(self, *, bom: bool = False) -> None:
        self.name = "csv-bom" if bom else "csv"
        self._bom = bom

    def write(self, extract: Extract) -> Iterator[bytes]:
        rows = chain([COLUMNS], written(_cells, extract.entries))
        return (part.encode() for part in csv_parts(rows, bom=self._bom))


def _cells(placed: Placed) -> list[Any]:
    special = {
        "seq": placed.seq,
        "at": written_time(placed.entry.at),
        "detail": json.dumps(placed.entry.detail, ensure_ascii=False, sort_keys=True),
        "hash": placed.hash.hex(),
    }
    return [special[name] if name in special else getattr(placed.entry, name) for name in COLUMNS]
