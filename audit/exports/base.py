"""What a format is."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from audit.models import Checkpoint, Entry
from copilot_site.lib.registry import Registry


@dataclass(frozen=True)
class Placed:
    """An entry, its number, and the hashes before it and at it."""

    seq: int
    previous_hash: bytes
    hash: bytes
    entry: Entry


@dataclass(frozen=True)
class Extract:
    """What is exported. chosen: the filter as stored, empty for the whole log.

    first_seq, last_seq: of the whole log at that time, 1 and 0 for an empty one. count: how many entries are chosen.
    """

    exported_at: datetime
    chosen: dict[str, str]
    first_seq: int
    last_seq: int
    count: int
    checkpoints: list[Checkpoint]
    entries: Iterable[Placed]


class ExportFormat(Protocol):
    """A way to write entries, streamed. name: in addresses and commands; extension: of the file, without a dot."""

    @property
    def name(self) -> str: ...
    @property
    def media_type(self) -> str: ...
    @property
    def extension(self) -> str: ...

    def write(self, extract: Extract) -> Iterator[bytes]:
        """The file, piece by piece."""
        ...


FORMATS: Registry[ExportFormat] = Registry("export format")
