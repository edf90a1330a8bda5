"""Files that scripts made: kept for whoever asked, under the rights to what they were made of, for a while."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from agent.models import Message
from agent.sessions import get_session
from agent.skills.models import MadeFile
from agent.skills.showing import KEPT, kept_files, made_files
from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from business.results.visibility import Queried
from copilot_site.lib.errors import NotFound

MOST, MOST_BYTES = 5, 5 * 1024 * 1024  # of one script; of one file
SUFFIXES = frozenset({".docx", ".xlsx", ".pptx", ".pdf", ".csv", ".txt", ".md", ".json", ".png"})


def keep(message_id: UUID, files: Mapping[str, bytes], grounds: Sequence[Queried]) -> list[MadeFile]:
    """Those that people can use, at most MOST; none where the run is not stored."""
    if not Message.objects.filter(pk=message_id).exists():
        return []
    fit = [
        (name, content)
        for path, content in sorted(files.items())
        if (name := "".join(c for c in PurePosixPath(path).name if c.isprintable())[:120])
        and PurePosixPath(name).suffix.lower() in SUFFIXES
        and 0 < len(content) <= MOST_BYTES
    ][:MOST]
    keys = [each.key for each in grounds]
    rows = [
        MadeFile(message_id=message_id, name=name, size_bytes=len(content), content=content, grounds=keys)
        for name, content in fit
    ]
    return MadeFile.objects.bulk_create(rows)


def made_file(principal: Principal, session_id: UUID, file_id: UUID) -> MadeFile:
    """A file of a conversation of theirs, recorded as downloaded. Raises NotFound: theirs no more, or thrown away, or never there."""
    session = get_session(principal, session_id)
    found = kept_files().filter(pk=file_id, message__session=session).first()
    if found is None or not made_files(principal, [found.message_id]):
        raise NotFound(_("There is no such file, or it was thrown away: ask again to have it made."))
    detail: dict[str, object] = {"size_bytes": found.size_bytes}
    record(principal, Action.SKILL_FILE_DOWNLOADED, found, run_id=str(found.message_id), detail=detail)
    return found


def throw_away() -> int:
    """Those that are too old; how many."""
    return MadeFile.objects.filter(created_at__lte=timezone.now() - KEPT).delete()[0]
