"""Files of a conversation: attached to a question, searchable in this conversation only, filed into a folder."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.core.files import File
from django.utils.translation import gettext as _

from agent.conversations.presentation.attachments import Attachment, ReadingProgress
from agent.conversations.sessions import get_session
from agent.models import Message, MessageRole, Session
from authz.principal import Principal
from authz.rights.checks import get_visible
from copilot_site.lib.errors import InvalidInput
from knowledge.library import build_document_rows
from knowledge.models import Document
from knowledge.services import attachments as files
from knowledge.services.documents import open_original
from knowledge.services.uploads import Upload, upload_document


def attach_to_conversation(principal: Principal, session_id: UUID, *, filename: str, file: "File[bytes]") -> Upload:
    """Attach a file to a conversation.

    Raises NotFound (not their conversation), and the errors of `knowledge.services.attachments.attach_file`.
    """
    session = get_session(principal, session_id)
    return files.attach_file(principal, conversation_id=session.pk, filename=filename, file=file)


def list_attachments(principal: Principal, session: Session) -> list[Attachment]:
    """Return all files of a conversation, in order of upload."""
    return [Attachment.of(row) for row in build_document_rows(files.list_attached_documents(principal, session.pk))]


def list_unsent_attachments(principal: Principal, session: Session, *, also: Collection[str] = ()) -> list[Attachment]:
    """Return the files not yet used in a question, and those with these ids, which may be attached again."""
    found = list_attachments(principal, session)
    sent = _list_sent_attachment_ids(session).difference(also) if found else set()
    return [item for item in found if str(item.id) not in sent]


def _list_sent_attachment_ids(session: Session) -> set[str]:
    rows = Message.objects.filter(session=session, role=MessageRole.USER).exclude(attachments=[])
    return {pk for ids in rows.values_list("attachments", flat=True) for pk in ids}


def delete_attachment(principal: Principal, session_id: UUID, document_id: UUID) -> None:
    """Delete a file permanently. Raises NotFound."""
    session = get_session(principal, session_id)
    files.remove_attached_document(principal, conversation_id=session.pk, document_id=document_id)


def remove_from_draft_question(principal: Principal, session_id: UUID, document_id: UUID) -> None:
    """Remove a file from the question being written: it is deleted unless another question uses it. Raises NotFound."""
    session = get_session(principal, session_id)
    if str(document_id) in _list_sent_attachment_ids(session):
        get_attachment(principal, session_id, document_id)
    else:
        delete_attachment(principal, session_id, document_id)


def copy_attachment_to_folder(principal: Principal, session_id: UUID, document_id: UUID, *, folder_id: UUID) -> Upload:
    """Add a copy of a file to a folder, like any upload, with the rights of that folder.

    The conversation keeps its own. Raises NotFound, PermissionDenied (no `add` right there), and the errors of
    `upload_document`.
    """
    document = get_attachment(principal, session_id, document_id)
    version = open_original(principal.in_conversation(session_id), document_id=document.pk)
    with version.file.open("rb") as file:
        return upload_document(principal, folder_id=folder_id, filename=version.document.filename, file=File(file))


def get_attachment(principal: Principal, session_id: UUID, document_id: UUID) -> Document:
    """Return a file of this person's conversation. Raises NotFound."""
    session = get_session(principal, session_id)
    return get_visible(Document, principal.in_conversation(session.pk), pk=document_id, folder_id=session.pk)


def validate_question_attachments(principal: Principal, session: Session, ids: Collection[UUID]) -> list[UUID]:
    """Return the ids of the files that a question uses, each once.

    Raises InvalidInput where one is missing, unreadable, or still being processed.
    """
    if not ids:
        return []
    known = {attachment.id: attachment for attachment in list_attachments(principal, session)}
    for pk in ids:
        if pk not in known:
            raise InvalidInput(_("A file of the question is no longer in this conversation. Attach it again."))
        if known[pk].reading is ReadingProgress.FAILED:
            raise InvalidInput(
                _("“%(name)s” cannot be read: %(why)s Remove it from the question.")
                % {"name": known[pk].name, "why": known[pk].state}
            )
        if known[pk].reading is ReadingProgress.GOES_ON:
            raise InvalidInput(_("“%(name)s” is still being read. Ask when it is done.") % {"name": known[pk].name})
    return list(dict.fromkeys(ids))


def list_searchable_attachments(principal: Principal, session_id: UUID) -> dict[UUID, str]:
    """Return file names by document, for the searchable files of a conversation."""
    return dict(
        files.list_attached_documents(principal, session_id).exclude(current_version=None).values_list("pk", "filename")
    )


def list_replaced_attachments(session: Session, message_id: UUID) -> list[UUID]:
    """Return the files of the question that this one replaces."""
    found: Sequence[str] = session.messages.filter(pk=message_id).values_list("attachments", flat=True).first() or ()
    return [UUID(pk) for pk in found]


def delete_old_attachments() -> int:
    """Delete the files of deleted conversations and those past their retention time; return the number of the latter."""
    ids = files.list_conversations_with_files()
    there = set(Session.objects.filter(pk__in=ids).values_list("pk", flat=True))
    for conversation_id in ids:
        if conversation_id not in there:
            files.delete_conversation_files(None, conversation_id)
    return files.delete_expired_attachments()
