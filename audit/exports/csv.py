"""CSV for spreadsheets."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from audit.exports.base import ChainedEntry, Extract, write_entries
from audit.models import format_utc_time
from copilot_site.lib.text.spreadsheets import write_csv_parts

MEDIA_TYPE = "text/csv; charset=utf-8"
COLUMNS = (
    "seq", "at", "actor_id", "actor_name", "on_behalf_of_id", "on_behalf_of_name", "action", "outcome", "reason", "target_type",
    "target_id", "target_name", "request_id", "run_id", "address", "detail", "hash",
)  # fmt: skip


def write_csv(extract: Extract, *, bom: bool) -> Iterator[bytes]:
    """Yield the file. bom: mark it as UTF-8 for Excel, which otherwise shows Chinese as noise."""
    rows = chain([COLUMNS], write_entries(_build_cells, extract.entries))
    return (part.encode() for part in write_csv_parts(rows, bom=bom))


def _build_cells(placed: ChainedEntry) -> list[Any]:
    special = {
        "seq": placed.seq,
        "at": format_utc_time(placed.entry.at),
        "detail": json.dumps(placed.entry.detail, ensure_ascii=False, sort_keys=True),
        "hash": placed.hash.hex(),
    }
    return [special[name] if name in special else getattr(placed.entry, name) for name in COLUMNS]
