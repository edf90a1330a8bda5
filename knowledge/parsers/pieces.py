"""Pieces of a paragraph of Word or PowerPoint: its visible text as one, and its hidden text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from knowledge.parsers.blocks import Block, build_hidden_block, mark_link
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.raised import format_subscript, format_superscript

_LETTER = re.compile(r"\w")
_PLACES = {"superscript": format_superscript, "subscript": format_subscript}


@dataclass(frozen=True)
class StyledPiece:
    """Characters of one look. place: "superscript" or "subscript". address: where a link leads."""

    text: str
    hidden: HiddenReason | None = None
    place: str | None = None
    address: str = ""


def join_visible_text(pieces: Iterable[StyledPiece]) -> str:
    """Return the text that people see, with its links (`blocks.mark_link`), superscripts and subscripts in characters of their own."""
    seen = (piece for piece in pieces if not piece.hidden)
    groups = ((address, _format_pieces(group)) for address, group in groupby(seen, lambda item: item.address))
    return "".join(mark_link(text, address) if address else text for address, text in groups)


def collect_hidden_blocks(pieces: Sequence[StyledPiece], *, page: int | None = None) -> list[Block]:
    """Return the hidden text, one block for each run of the same reason."""
    groups = groupby(pieces, lambda piece: piece.hidden)
    groups_of_text = [(reason, "".join(item.text for item in group)) for reason, group in groups]
    return [
        entry
        for reason, text in groups_of_text
        if reason and _LETTER.search(text)
        for entry in build_hidden_block(text, reason, page=page)
    ]


def _format_pieces(pieces: Iterable[StyledPiece]) -> str:
    groups = (
        (place, "".join(item.text for item in group)) for place, group in groupby(pieces, lambda piece: piece.place)
    )
    return "".join(_PLACES[place](text) if place in _PLACES else text for place, text in groups)
