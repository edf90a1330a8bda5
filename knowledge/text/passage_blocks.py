"""The blocks of a passage: their kinds and places, stored beside its text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.text.pipe_table import parse_cells


@dataclass(frozen=True, slots=True)
class PassageBlock:
    """A block, or the piece of one that stands in a passage. start, end: characters of the passage's text.

    kind, level, depth, lead, number, is_headed, language: as in `knowledge.parsers.blocks.Block`. links: (start, end, address), in
    characters of the passage's text. repeated: characters at its start that are shown again here (the names of a split table's columns).
    """

    kind: str
    start: int
    end: int
    level: int | None = None
    depth: int = 0
    lead: int = 0
    number: str = ""
    is_headed: bool = False
    language: str = ""
    links: tuple[tuple[int, int, str], ...] = ()
    repeated: int = 0

    def names_in(self, text: str) -> list[str]:
        """Return the names of a table's columns; [] where it has none."""
        return parse_cells(text[self.start : self.end].split("\n", 1)[0]) if self.is_headed else []


_DEFAULTS = {name: field.default for name, field in PassageBlock.__dataclass_fields__.items()}


def serialise_blocks(blocks: Sequence[PassageBlock]) -> list[dict[str, Any]]:
    """Return the block as JSON, without default values."""
    return [{name: value for name in _DEFAULTS if (value := getattr(one, name)) != _DEFAULTS[name]} for one in blocks]


def parse_blocks(value: Sequence[dict[str, Any]]) -> tuple[PassageBlock, ...]:
    """Read the output of `serialise_blocks`."""
    return tuple(
        PassageBlock(**{**item, "links": tuple((start, end, to) for start, end, to in item.get("links", ()))})
        for item in value
    )
