"""The differences between two versions of a document, block by block."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from uuid import UUID

from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record
from authz.checks import get_visible
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.document_text import is_read
from knowledge.ingestion.stages import load_parsed
from knowledge.models import DocumentVersion

AROUND = 2  # unchanged blocks that are shown before and after a difference


@dataclass(frozen=True)
class Piece:
    """A block as it is shown. kind: `same`, `removed`, `added`, or `gap` for `count` unchanged blocks that are left out."""

    kind: str
    text: str = ""
    count: int = 0


@dataclass(frozen=True)
class Comparison:
    older: DocumentVersion
    newer: DocumentVersion
    pieces: tuple[Piece, ...]

    @property
    def is_same(self) -> bool:
        return all(piece.kind in {"same", "gap"} for piece in self.pieces)


def compare_versions(principal: Principal, document_id: UUID, *, older: int, newer: int) -> Comparison:
    """Two versions by their numbers; recorded as opened. Raises NotFound, InvalidInput (one of them was not read)."""
    versions = [get_visible(DocumentVersion, principal, document_id=document_id, number=n) for n in (older, newer)]
    for version in versions:
        if not is_read(version):
            raise InvalidInput(
                _("Version %(number)s could not be read, so there is no text to compare.") % {"number": version.number}
            )
    record(principal, Action.DOCUMENT_OPENED, versions[0].document, detail={"versions": [older, newer]})
    before, after = ([block.text for block in load_parsed(version).blocks] for version in versions)
    return Comparison(versions[0], versions[1], tuple(differences(before, after)))


def differences(before: Sequence[str], after: Sequence[str]) -> Iterator[Piece]:
    """What was taken out, what was put in, and AROUND unchanged blocks beside them."""
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for place, (kind, a, b, c, d) in enumerate(steps):
        if kind == "equal":
            yield from _context(before[a:b], is_first=place == 0, is_last=place == len(steps) - 1)
        else:
            yield from (Piece("removed", text) for text in before[a:b])
            yield from (Piece("added", text) for text in after[c:d])


def _context(same: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[Piece]:
    head = 0 if is_first else AROUND
    tail = 0 if is_last else AROUND
    left_out = len(same) - head - tail
    if left_out <= 0:
        yield from (Piece("same", text) for text in same)
        return
    yield from (Piece("same", text) for text in same[:head])
    yield Piece("gap", count=left_out)
    yield from (Piece("same", text) for text in same[len(same) - tail :])
