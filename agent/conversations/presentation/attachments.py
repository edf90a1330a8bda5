"""A file of a conversation as shown to its owner: its name, and its processing state."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.utils.translation import gettext as _

from agent.models import Message
from authz.principal import Principal
from knowledge.library import DocumentRow, build_document_rows
from knowledge.models import Document, ParseStatus, StageName


class ReadingProgress(StrEnum):
    GOES_ON = "reading"
    DONE = "ready"
    FAILED = "failed"


@dataclass(frozen=True)
class Attachment:
    """A file of a conversation. state: its processing state, or why it cannot be read, in the reader's language."""

    id: UUID
    name: str
    size_bytes: int
    reading: ReadingProgress
    state: str

    @classmethod
    def of(cls, row: DocumentRow) -> "Attachment":
        version = row.version
        if version.parse_status == ParseStatus.FAILED:
            reading, message = ReadingProgress.FAILED, version.failure_reason
        elif row.document.current_version_id is None:
            reading, message = ReadingProgress.GOES_ON, _describe_state(row)
        else:
            reading, message = ReadingProgress.DONE, _("ready")
        return cls(row.document.pk, row.document.filename, version.size_bytes, reading, message)


def _describe_state(row: DocumentRow) -> str:
    stage = row.stage
    if stage is None:
        return _("waits to be read")
    if not stage.total:
        return _("is being read")
    place = {"n": min(stage.done + 1, stage.total), "all": stage.total}
    if stage.name == StageName.PARSE:
        return _("reading page %(n)s of %(all)s") % place  # of those that are pictures: all others take no time
    return _("reading passage %(n)s of %(all)s") % place


def find_visible_attachments(principal: Principal, rows: Iterable[Message]) -> dict[UUID, Attachment]:
    """Return the files of these questions that this person may see, in the conversation that `principal` is in."""
    wanted = {UUID(pk) for row in rows for pk in row.attachments}
    if not wanted:
        return {}
    found = build_document_rows(Document.objects.visible_to(principal).filter(pk__in=wanted))
    return {row.document.pk: Attachment.of(row) for row in found}
