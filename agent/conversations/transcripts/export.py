"""Export a conversation as a file, under today's rights of the reader. Audited with its evidence."""

from collections.abc import Callable, Sequence
from typing import Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agent.conversations.presentation.message import ShownMessage
from agent.conversations.transcripts import docx, markdown, pdf
from agent.conversations.transcripts.transcript import AddressOf, ConversationTranscript, build_transcript
from agent.models import Session
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.errors import NotFound

FORMATS: Final[dict[str, tuple[Callable[[ConversationTranscript], bytes], str]]] = {
    "md": (markdown.render_transcript_markdown, markdown.MEDIA_TYPE),
    "docx": (docx.render_docx, docx.MEDIA_TYPE),
    "pdf": (pdf.render_pdf, pdf.MEDIA_TYPE),
}


@transaction.atomic
def export_conversation(
    principal: Principal, session: Session, messages: Sequence[ShownMessage], form: str, *, address_of: AddressOf
) -> tuple[bytes, str]:
    """Return the file and its media type. messages: as the person may read them now.

    Raises NotFound for an unknown format.
    """
    if form not in FORMATS:
        raise NotFound(_("A conversation is exported as md, docx or pdf."))
    written, media_type = FORMATS[form]
    evidence = {evidence_id for message in messages for evidence_id in message.evidence_ids}
    record_action(
        principal, Action.CONVERSATION_EXPORTED, session, detail={"format": form, "evidence": sorted(evidence)}
    )
    return written(build_transcript(session.title, messages, address_of, timezone.now())), media_type
