"""The interface of an export format."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from audit.chain.malformed_rows import ODD, make_unreadable_entry
from audit.models import Entry
from copilot_site.lib.registry import Registry

T = TypeVar("T")


@dataclass(frozen=True)
class ChainedEntry:
    """An entry, its number, and the hashes before it and at it."""

    seq: int
    previous_hash: bytes
    hash: bytes
    entry: Entry


Signed = tuple[dict[str, Any], str]
"""What a checkpoint states, and the signature."""


@dataclass(frozen=True)
class Extract:
    """The extent of an export. chosen: the filter as stored, empty for the whole log.

    first_seq, last_seq: of the whole log at that time, 1 and 0 for an empty one. count: how many entries are chosen.
    """

    exported_at: datetime
    chosen: dict[str, str]
    first_seq: int
    last_seq: int
    count: int
    checkpoints: list[Signed]
    entries: Iterable[ChainedEntry]


@dataclass(frozen=True)
class ExportFormat:
    """A way to write entries, streamed. name: in addresses and commands; extension: of the file, without a dot."""

    name: str
    media_type: str
    extension: str
    write: Callable[[Extract], Iterator[bytes]]


def write_entries(write: Callable[[ChainedEntry], T], entries: Iterable[ChainedEntry]) -> Iterator[T]:
    """Yield each entry as written; in place of one that cannot be written, an entry that says so."""
    for placed in entries:
        try:
            made = write(placed)
        except ODD:
            made = write(replace(placed, entry=make_unreadable_entry()))
        yield made


FORMATS: Registry[ExportFormat] = Registry("export format")
