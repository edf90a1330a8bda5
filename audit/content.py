"""From a row to what the chain holds of it. The format itself is defined in `verify_export.py`."""

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from audit.verify_export import CONTENT, PERSONAL, commitment, content_hash

if TYPE_CHECKING:
    from audit.models import Entry

SALT_BYTES = 16


def content_of(entry: "Entry") -> dict[str, Any]:
    """The fields of CONTENT as JSON values."""
    return {name: getattr(entry, name) for name in CONTENT} | {"at": written_time(entry.at)}


def seal(entry: "Entry") -> None:
    """Fill in what the chain will hold of an entry: salted hashes of names and address, and the hash of everything."""
    texts = {name: str(getattr(entry, name) or "") for name in PERSONAL}
    entry.salts = {name: secrets.token_hex(SALT_BYTES) for name, text in texts.items() if text}
    entry.personal = {name: commitment(texts[name], salt) for name, salt in entry.salts.items()}
    entry.content_hash = content_hash(content_of(entry))


def written_time(at: datetime) -> str:
    """UTC with microseconds, as the chain writes it: 2026-11-21T09:30:00.000001Z."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
