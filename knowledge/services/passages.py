"""Settings of a base for cutting documents into passages and for their language, with a preview."""

from dataclasses import dataclass, replace
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.checks import get_visible
from authz.rights.governing import get_governed
from copilot_site.lib.errors import InvalidInput
from knowledge.ingestion.chunking import ChunkDraft
from knowledge.ingestion.stages import load_parsed_document, resolve_sizes, split_into_passages
from knowledge.models import Chunk, Document, KnowledgeBase, Language
from knowledge.parsers.blocks import SEPARATOR, Block, ParsedDocument
from knowledge.retrieval.engine import load_engine
from knowledge.tasks import queue_cutting

FEWEST, FEWEST_MOST = 30, 40  # bounds, in tokens: of the target, of the maximum
PREVIEWED = 60_000  # characters of a document


@dataclass(frozen=True)
class Cutting:
    """target, most: tokens of a passage, None for the settings of the system. language: "" to recognise it in each document."""

    target: int | None = None
    most: int | None = None
    language: str = ""


BY_THE_SYSTEM = Cutting()


@dataclass(frozen=True)
class PassagePreview:
    """A document in other passages. before: how many it has now in what is shown; is_whole: whether that is all of it."""

    document: Document
    drafts: list[ChunkDraft]
    before: int
    is_whole: bool


def compute_passage_limit() -> int:
    """Return the largest size of a passage: the embedder's limit, or the system's setting if that is larger."""
    return max(load_engine().embedder.max_tokens, settings.CHUNK_MAX_TOKENS)


def validate_cutting(cutting: Cutting) -> Cutting:
    """Check settings. Raises InvalidInput (outside of the bounds, the most below the target, no such language)."""
    if cutting.language and cutting.language not in Language.values:
        raise InvalidInput(_("There is no such language."))
    if cutting.target is None and cutting.most is None:
        return cutting
    sizes, largest = resolve_sizes(cutting.target, cutting.most), compute_passage_limit()
    if not (FEWEST <= sizes.target <= largest and FEWEST_MOST <= sizes.most <= largest):
        raise InvalidInput(
            _("A passage should have %(fewest)s to %(largest)s tokens, and may have %(fewest_most)s to %(largest)s.")
            % {"fewest": FEWEST, "fewest_most": FEWEST_MOST, "largest": largest}
        )
    if sizes.most < sizes.target:
        raise InvalidInput(
            _("A passage may have at most %(most)s tokens; it should not have more than that: %(target)s.")
            % {"most": sizes.most, "target": sizes.target}
        )
    return cutting


@transaction.atomic
def change_cutting(by: Principal, base_id: UUID, cutting: Cutting) -> KnowledgeBase:
    """Store how the documents of a base are cut. They are cut again in the background and answer as before until then.

    Raises NotFound, InvalidInput.
    """
    base = get_governed(KnowledgeBase, by, pk=base_id)
    set_cutting(base, validate_cutting(cutting))
    base.save(update_fields=["chunk_tokens", "chunk_max_tokens", "language"])
    record_action(by, Action.KNOWLEDGE_BASE_CHANGED, base, detail=collect_cutting_settings(base))
    queue_cutting(base.pk)
    return base


def set_cutting(base: KnowledgeBase, cutting: Cutting) -> None:
    """Set checked settings on a row without saving it."""
    base.chunk_tokens, base.chunk_max_tokens, base.language = cutting.target, cutting.most, cutting.language


def collect_cutting_settings(base: KnowledgeBase) -> dict[str, int | str | None]:
    """Return the settings of a base, for the audit log."""
    return {"chunk_tokens": base.chunk_tokens, "chunk_max_tokens": base.chunk_max_tokens, "language": base.language}


def preview_cutting(by: Principal, base_id: UUID, cutting: Cutting, *, document_id: UUID) -> PassagePreview:
    """Return the passages that a document's first PREVIEWED characters would have. Recorded as opened; nothing is stored.

    Raises NotFound (also of a document that this person manages and may not read), InvalidInput.
    """
    base = get_governed(KnowledgeBase, by, pk=base_id)
    document = get_visible(Document, by, pk=document_id, knowledge_base_id=base.pk)
    if document.current_version is None:
        raise InvalidInput(_("“%(title)s” has no text yet.") % {"title": document.title})
    set_cutting(base, validate_cutting(cutting))
    parsed = load_parsed_document(document.current_version)
    shown = _select_beginning(parsed)
    drafts = split_into_passages(shown, base)
    now = Chunk.objects.visible_to(by).filter(version=document.current_version, is_retired=False)
    record_action(by, Action.DOCUMENT_OPENED, document, detail={"version": document.current_version.number})
    return PassagePreview(
        document, drafts, now.filter(start__lt=len(shown.text)).count(), len(shown.blocks) == len(parsed.blocks)
    )


def _select_beginning(parsed: ParsedDocument) -> ParsedDocument:
    length, blocks = 0, list[Block]()
    for block in parsed.blocks:
        length += len(block.text) + len(SEPARATOR)
        if blocks and length > PREVIEWED:
            break
        blocks.append(block)
    return replace(parsed, blocks=tuple(blocks))
