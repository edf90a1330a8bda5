"""A file that a script made, taken out of a conversation."""

from uuid import UUID

from django.utils.translation import gettext as _

from agent.conversations.sessions import get_session
from agent.models.skills import MadeFile
from agent.skills.files import kept_files, made_files
from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.errors import NotFound


def made_file(principal: Principal, session_id: UUID, file_id: UUID) -> MadeFile:
    """A file of a conversation of theirs, recorded as downloaded. Raises NotFound: theirs no more, or thrown away, or never there."""
    session = get_session(principal, session_id)
    found = kept_files().filter(pk=file_id, message__session=session).first()
    if found is None or not made_files(principal, [found.message_id]):
        raise NotFound(_("There is no such file, or it was thrown away: ask again to have it made."))
    detail: dict[str, object] = {"size_bytes": found.size_bytes}
    record(principal, Action.SKILL_FILE_DOWNLOADED, found, run_id=str(found.message_id), detail=detail)
    return found
