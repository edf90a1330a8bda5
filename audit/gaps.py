"""Names and addresses that are not there any more, and whose they were."""

from collections.abc import Iterator
from dataclasses import dataclass

from audit.models import Entry
from audit.verify_export import PERSONAL


@dataclass(frozen=True)
class Lost:
    """A name or an address that is not there any more. person_id: whose it was; None where the entry does not say."""

    seq: int
    field: str
    person_id: int | None


def lost_in(seq: int, entry: Entry) -> Iterator[Lost]:
    """What the chain has a hash of and the row has no salt for."""
    for field in PERSONAL:
        if field in entry.personal and entry.salts.get(field) is None:
            yield Lost(seq, field, _whose(entry, field))


def _whose(entry: Entry, field: str) -> int | None:
    target = int(entry.target_id) if entry.target_type == "user" and entry.target_id.isdecimal() else None
    if field == "target_name":
        return target
    if field == "on_behalf_of_name":
        return entry.on_behalf_of_id
    return entry.actor_id if field == "actor_name" or entry.actor_id else target
