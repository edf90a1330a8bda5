"""CSV for spreadsheets."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from audit.exports.base import Extract, Placed, written
from audit.models import written_time
from copilot_site.lib.text.spreadsheets import csv_parts

MEDIA_TYPE = "text/csv; charset=utf-8"
COLUMNS = (
    "seq", "at", "actor_id", "actor_name", "on_behalf_of_id", "on_behalf_of_name", "action", "outcome", "reason", "target_type",
    "target_id", "target_name", "request_id", "run_id", "address", "detail", "hash",
)  # fmt: skip


def write(extract: Extract, *, bom: bool) -> Iterator[bytes]:
    """Yield the file. bom: mark it as UTF-8 for Excel, which otherwise shows Chinese as noise."""
    rows = chain([COLUMNS], written(_cells, extract.entries))
    return (part.encode() for part in csv_parts(rows, bom=bom))


def _cells(placed: Placed) -> list[Any]:
    special = {
        "seq": placed.seq,
        "at": written_time(placed.entry.at),
        "detail": json.dumps(placed.entry.detail, ensure_ascii=False, sort_keys=True),
        "hash": placed.hash.hex(),
    }
    return [special[name] if name in special else getattr(placed.entry, name) for name in COLUMNS]
