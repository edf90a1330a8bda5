"""Names and addresses that are not there any more: whose they were, and whether their erasure was recorded."""

from collections.abc import Iterator
from dataclasses import dataclass

from audit.actions import Action
from audit.models import Entry


@dataclass(frozen=True)
class Lost:
    """A name or an address that is not there any more. person_id: whose it was; None where the entry does not say."""

    seq: int
    field: str
    person_id: int | None


def lost_in(seq: int, entry: Entry) -> Iterator[Lost]:
    """What the chain has a hash of and the row has no salt for."""
    for field in entry.personal:
        if field not in entry.salts:
            yield Lost(seq, field, _whose(entry, field))


def erasures() -> dict[int, int]:
    """By person: the sequence number of their last recorded erasure."""
    recorded = Entry.objects.filter(action=Action.PERSON_ERASED).order_by("link__seq")
    return {person: seq for person, seq in recorded.values_list("detail__person", "link__seq") if seq is not None}


def _whose(entry: Entry, field: str) -> int | None:
    target = int(entry.target_id) if entry.target_type == "user" and entry.target_id.isdecimal() else None
    if field == "target_name":
        return target
    if field == "on_behalf_of_name":
        return entry.on_behalf_of_id
    return entry.actor_id if field == "actor_name" or entry.actor_id else target
