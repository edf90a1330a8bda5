"""JSON lines with every hash: what `verify_export.py` checks without this system."""

import hashlib
from collections.abc import Iterator
from typing import Any

from audit.content import content_of, written_time
from audit.exports.base import Extract, Placed
from audit.keys import KeyUnusable, public_key, signing_key
from audit.verify_export import canonical


class JSONL:
    name = "jsonl"
    media_type = "application/x-ndjson"
    extension = "jsonl"

    def write(self, extract: Extract) -> Iterator[bytes]:
        """Header, checkpoints, entries, and a last line that signs all of it where this host has the key."""
        running, count = hashlib.sha256(), 0
        for line in _before(extract):
            running.update(line)
            yield line
        for placed in extract.entries:
            line, count = canonical(_entry(placed)) + b"\n", count + 1
            running.update(line)
            yield line
        yield canonical(_trailer(running.hexdigest(), count)) + b"\n"


def _before(extract: Extract) -> Iterator[bytes]:
    header = {
        "v": 1,
        "format": "audit-export",
        "exported_at": written_time(extract.exported_at),
        "filter": extract.chosen,
        "first_seq": extract.first_seq,
    }
    yield canonical({"header": header}) + b"\n"
    for checkpoint in extract.checkpoints:
        yield canonical({"checkpoint": checkpoint.statement(), "signature": checkpoint.signature}) + b"\n"


def _entry(placed: Placed) -> dict[str, Any]:
    entry = placed.entry
    personal = {name: {"text": str(getattr(entry, name) or ""), "salt": salt} for name, salt in entry.salts.items()}
    return {
        "seq": placed.seq,
        "previous_hash": placed.previous_hash.hex(),
        "hash": placed.hash.hex(),
        "entry": content_of(entry),
        "personal": personal,
    }


def _trailer(digest: str, count: int) -> dict[str, Any]:
    """Unsigned on a host without the key; the checkpoints inside are signed all the same."""
    trailer: dict[str, Any] = {"v": 1, "sha256": digest, "entries": count}
    try:
        key = signing_key()
    except KeyUnusable:
        return {"trailer": trailer, "signature": None}
    trailer["key"] = public_key(key)
    return {"trailer": trailer, "signature": key.sign(canonical(trailer)).hex()}
