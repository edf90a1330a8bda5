"""JSON lines with every hash, which `verify_export.py` checks without this system."""

import hashlib
from collections.abc import Iterator
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.utils.translation import gettext as _

from audit.chain.keys import KeyUnusable, public_key_of, read_signing_key
from audit.exports.base import ChainedEntry, Extract, write_entries
from audit.models import build_chain_content, format_utc_time
from audit.verify_export import FORMAT, Export, write_canonical_json
from copilot_site.lib.errors import Conflict


def write_jsonl(extract: Extract) -> Iterator[bytes]:
    """Yield header, checkpoints, entries, and a last line that signs all of it, where this host has the key.

    A file without its last line is not an export: Conflict ends it there where the count differs from the header.
    """
    key = _find_signing_key()
    running, count = hashlib.sha256(), 0
    for line in _write_header_lines(extract, key):
        running.update(line)
        yield line
    for line in write_entries(_entry_line, extract.entries):
        count += 1
        running.update(line)
        yield line
    if count != extract.count:
        raise Conflict(_("Entries were purged while they were exported: export them again."))
    yield _write_signed_line("trailer", {"v": FORMAT, "sha256": running.hexdigest(), "entries": count}, key)


def _find_signing_key() -> Ed25519PrivateKey | None:
    """Return the signing key; None on a host without it, where header and last line stay unsigned."""
    try:
        return read_signing_key()
    except KeyUnusable:
        return None


def _write_signed_line(name: str, statement: dict[str, Any], key: Ed25519PrivateKey | None) -> bytes:
    """Return a line with a statement, the key that signs it, and the signature."""
    statement = statement | {"key": public_key_of(key) if key else None}
    signature = key.sign(write_canonical_json(statement)).hex() if key else None
    return write_canonical_json({name: statement, "signature": signature}) + b"\n"


def _write_header_lines(extract: Extract, key: Ed25519PrivateKey | None) -> Iterator[bytes]:
    header = {
        "v": FORMAT,
        "format": "audit-export",
        "exported_at": format_utc_time(extract.exported_at),
        "filter": extract.chosen,
        "first_seq": extract.first_seq,
        "last_seq": extract.last_seq,
        "entries": extract.count,
    }
    yield _write_signed_line("header", header, key)
    for statement, signature in extract.checkpoints:
        yield write_canonical_json({"checkpoint": statement, "signature": signature}) + b"\n"


def _entry_line(placed: ChainedEntry) -> bytes:
    """Write one entry. Raises any of ODD for what the verifier would take for no entry, and with it the whole file for no export."""
    made = _build_entry_object(placed)
    reading = Export()
    reading.is_complete = False
    reading.entry(made)
    return write_canonical_json(made) + b"\n"


def _build_entry_object(placed: ChainedEntry) -> dict[str, Any]:
    entry = placed.entry
    personal = {name: {"text": str(getattr(entry, name) or ""), "salt": salt} for name, salt in entry.salts.items()}
    return {
        "seq": placed.seq,
        "previous_hash": placed.previous_hash.hex(),
        "hash": placed.hash.hex(),
        "entry": build_chain_content(entry),
        "personal": personal,
    }
