"""The differences between two versions of a document, block by block."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.checks import get_visible
from copilot_site.lib.errors import InvalidInput
from knowledge.documents.block_diff import StepBudget, diff_blocks
from knowledge.documents.text import is_version_parsed
from knowledge.ingestion.stages import load_parsed_document
from knowledge.models import DocumentVersion

AROUND = 2  # unchanged blocks that are shown before and after a difference
MAX_CHARACTERS = 4_000_000  # of both versions together: two times a thousand pages
MAX_PIECES = 2_000  # that one page shows


@dataclass(frozen=True)
class DiffPiece:
    """A block as it is shown. kind: `same`, `removed`, `added`, or `gap` for `count` unchanged blocks that are left out."""

    kind: str
    text: str = ""
    count: int = 0


@dataclass(frozen=True)
class VersionComparison:
    older: DocumentVersion
    newer: DocumentVersion
    pieces: tuple[DiffPiece, ...]
    is_cut: bool = False  # there are more differences than are shown

    @property
    def is_same(self) -> bool:
        return all(piece.kind in {"same", "gap"} for piece in self.pieces)


def compare_versions(principal: Principal, document_id: UUID, *, older: int, newer: int) -> VersionComparison:
    """Compare two versions by number; recorded as opened. Raises NotFound, InvalidInput (one of them was not read)."""
    versions = [get_visible(DocumentVersion, principal, document_id=document_id, number=n) for n in (older, newer)]
    for version in versions:
        if not is_version_parsed(version):
            raise InvalidInput(
                _("Version %(number)s could not be read, so there is no text to compare.") % {"number": version.number}
            )
    record_action(principal, Action.DOCUMENT_OPENED, versions[0].document, detail={"versions": [older, newer]})
    before, after = ([block.text for block in load_parsed_document(version).blocks] for version in versions)
    if sum(map(len, before)) + sum(map(len, after)) > MAX_CHARACTERS:
        raise InvalidInput(
            _("These versions are too long to compare here. Download both, and compare them on your computer.")
        )
    pieces = tuple(islice(iterate_changed_blocks(before, after), MAX_PIECES + 1))
    return VersionComparison(versions[0], versions[1], pieces[:MAX_PIECES], is_cut=len(pieces) > MAX_PIECES)


def iterate_changed_blocks(
    before: Sequence[str], after: Sequence[str], steps: StepBudget | None = None
) -> Iterator[DiffPiece]:
    """Yield removed and added blocks, with AROUND unchanged blocks beside them. steps: the budget of comparisons."""
    found = diff_blocks(before, after, steps or StepBudget())
    for place, (is_same, part) in enumerate(found):
        if is_same:
            yield from _iterate_context_blocks(
                before[part.a : part.b], is_first=place == 0, is_last=place == len(found) - 1
            )
        else:
            yield from (DiffPiece("removed", text) for text in before[part.a : part.b])
            yield from (DiffPiece("added", text) for text in after[part.c : part.d])


def _iterate_context_blocks(same: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[DiffPiece]:
    head = 0 if is_first else AROUND
    tail = 0 if is_last else AROUND
    left_out = len(same) - head - tail
    if left_out <= 0:
        yield from (DiffPiece("same", text) for text in same)
        return
    yield from (DiffPiece("same", text) for text in same[:head])
    yield DiffPiece("gap", count=left_out)
    yield from (DiffPiece("same", text) for text in same[len(same) - tail :])
