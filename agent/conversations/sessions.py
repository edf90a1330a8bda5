"""Conversations: found, read under today's rights, named and organised."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from agent.conversations.branches import MessageTree
from agent.conversations.made_files import list_visible_made_files, unexpired_made_files
from agent.conversations.presentation.message import ShownMessage
from agent.conversations.presentation.visibility import show_visible_messages
from agent.models import Citation, MadeFile, Message, MessageRole, Session
from agent.profiles.kept_scope import convert_scope_to_json
from audit.actions import Action, Outcome
from audit.record import record_action
from authz.principal import Principal
from authz.rights.checks import get_visible
from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.models import Document, Folder
from knowledge.retrieval.search import Scope
from knowledge.services.attachments import delete_conversation_files

TITLE_LENGTH = 60


def create_session(principal: Principal, *, document: str = "", folder: str = "") -> Session:
    """Create a conversation. document, folder: the id of its first scope. Raises NotFound."""
    documents = (get_visible(Document, principal, pk=document).pk,) if document else ()
    folders = (get_visible(Folder, principal, pk=folder).pk,) if folder and not document else ()
    scope = convert_scope_to_json(Scope(document_ids=documents, folder_ids=folders))
    return Session.objects.create(user_id=principal.user_id, within=principal.folder_id, scope=scope)


def list_sessions(principal: Principal) -> QuerySet[Session]:
    """Return the person's own conversations, the latest first; for a token for a folder, only those begun with one."""
    own = Session.objects.filter(user_id=principal.user_id)
    return own if principal.folder_id is None else own.filter(within=principal.folder_id)


def search_sessions(
    principal: Principal, words: str = "", *, label: str = "", is_archived: bool = False
) -> QuerySet[Session]:
    """Return the person's non-empty conversations with all the words in their title or one question, pinned ones first.

    label: filter by label. is_archived: archived ones only. Answers are not searched: what an old one says may be
    hidden from the person by now.
    """
    found = list_sessions(principal).exclude(title="").filter(is_archived=is_archived)
    found = found.order_by("-is_pinned", "-updated_at")
    if label:
        found = found.filter(label=label)
    if not words:
        return found
    questions = Message.objects.filter(session=OuterRef("pk"), role=MessageRole.USER)
    in_title, in_question = Q(), Q()
    for word in words.split():
        in_title &= Q(title__icontains=word)
        in_question &= Q(content__icontains=word)
    return found.filter(in_title | Exists(questions.filter(in_question)))


def get_session(principal: Principal, session_id: UUID) -> Session:
    """Return this person's conversation. Raises NotFound, in the same words for a missing one and somebody else's."""
    session = list_sessions(principal).filter(pk=session_id).first()
    if session is None:
        raise NotFound(_("There is no such conversation, or it is not yours."))
    return session


@transaction.atomic
def delete_session(principal: Principal, session_id: UUID) -> None:
    """Delete a conversation with its files. Audited with the ids of its runs, whose entries stay. Raises NotFound."""
    session = get_session(principal, session_id)
    runs = [
        str(pk)
        for pk in session.messages.filter(role=MessageRole.ASSISTANT)
        .order_by("created_at")
        .values_list("pk", flat=True)
    ]
    delete_conversation_files(principal, session.pk)
    session.delete()
    record_action(principal, Action.CONVERSATION_DELETED, target_name=str(session_id), detail={"runs": runs})


def make_session_title(question: str) -> str:
    """Return a title for a conversation: its first question, cut at a word."""
    line = " ".join(question.split())
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[:TITLE_LENGTH]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut[20:] else cut}…"


def list_branch_messages(principal: Principal, session: Session, *, through: UUID | None = None) -> list[ShownMessage]:
    """Return one branch of the conversation in order, under today's rights.

    The branch is the most recent one through the given message. Audited where evidence is shown in it. Raises NotFound.
    """
    tree = MessageTree.of(session.pk)
    rows = session.messages.filter(pk__in=tree.path(through)).prefetch_related("citations", "queries", "pages")
    shown = read_messages(principal, session, rows)
    return [replace(message, branches=tree.branches(message.id)) for message in shown]


def read_messages(principal: Principal, session: Session, messages: Iterable[Message]) -> list[ShownMessage]:
    """Return messages, as `show_audited_messages`, for the person to read again; shown evidence is audited."""
    shown = show_audited_messages(principal, messages)
    _record_reading(principal, session, shown)
    return shown


def read_message(principal: Principal, session: Session, message_id: UUID) -> ShownMessage:
    """Return one message for the person to read again, audited as `read_messages` does. Raises NotFound."""
    shown = get_message(principal, session, message_id)
    _record_reading(principal, session, [shown])
    return shown


def _record_reading(principal: Principal, session: Session, shown: Sequence[ShownMessage]) -> None:
    evidence = {evidence_id for message in shown for evidence_id in message.evidence_ids}
    if evidence:
        record_action(principal, Action.CONVERSATION_READ, session, detail={"evidence": sorted(evidence)})


def list_cited_document_ids(message_ids: Iterable[UUID]) -> list[str]:
    """Return the ids of the documents that these answers quote, for the audit log."""
    found = Citation.objects.filter(message_id__in=message_ids).values_list("document_id", flat=True)
    return sorted({str(document_id) for document_id in found})


def get_message(principal: Principal, session: Session, message_id: UUID) -> ShownMessage:
    """Return one message without recording that it was read. Raises NotFound.

    Use it where this request has shown the answer already, or shows none of its text.
    """
    found = show_audited_messages(
        principal, session.messages.filter(pk=message_id).prefetch_related("citations", "queries", "pages")
    )
    if not found:
        raise NotFound(_("There is no such message in this conversation."))
    return found[0]


def get_answer(session: Session, message_id: UUID) -> Message:
    """Return the row of a finished answer. Show of it only what the person may read today. Raises NotFound."""
    found = session.messages.filter(pk=message_id, role=MessageRole.ASSISTANT, is_complete=True).first()
    if found is None:
        raise NotFound(_("There is no such message in this conversation."))
    return found


def show_audited_messages(principal: Principal, messages: Iterable[Message]) -> list[ShownMessage]:
    """Return messages as `show_visible_messages` does; audited where something is hidden."""
    shown = show_visible_messages(principal, messages)
    if any(message.masked_count for message in shown):
        masked = {str(message.id): message.masked_count for message in shown if message.masked_count}
        record_action(principal, Action.EVIDENCE_FILTERED, outcome=Outcome.FILTERED, detail={"sentences": masked})
    return shown


MAX_TITLE, MAX_LABEL = 200, 40  # characters, of what a person types


@transaction.atomic
def download_made_file(principal: Principal, session_id: UUID, file_id: UUID) -> MadeFile:
    """Return a file that a script made for a conversation, and audit the download. Raises NotFound."""
    session = get_session(principal, session_id)
    found = unexpired_made_files().filter(pk=file_id, message__session=session).first()
    if found is None or not list_visible_made_files(principal, [found.message_id]):
        raise NotFound(_("There is no such file, or it was deleted. Ask again to have it created."))
    detail = {"size_bytes": found.size_bytes, "documents": list_cited_document_ids([found.message_id])}
    record_action(principal, Action.SKILL_FILE_DOWNLOADED, found, run_id=str(found.message_id), detail=detail)
    return found


def update_session(principal: Principal, session_id: UUID, **changes: str | bool) -> None:
    """Change the given fields of `title`, `label`, `is_pinned` and `is_archived`.

    The time of the last question stays unchanged. Raises NotFound and InvalidInput (a title is never empty: the
    conversation would be in no list).
    """
    session = get_session(principal, session_id)
    given = {name: value.strip() if isinstance(value, str) else value for name, value in changes.items()}
    if given.get("title") == "":
        raise InvalidInput(_("Give the conversation a name."))
    for name, most in (("title", MAX_TITLE), ("label", MAX_LABEL)):
        if len(str(given.get(name, ""))) > most:
            raise InvalidInput(_("A name has at most %(most)s characters.") % {"most": most})
    Session.objects.filter(pk=session.pk).update(**given)
    record_action(principal, Action.CONVERSATION_FILED, session, detail={"changed": sorted(given)})


def list_session_labels(principal: Principal) -> list[str]:
    """Return the labels that the person uses, each once, by name."""
    rows = list_sessions(principal).exclude(label="").order_by("label")
    return list(rows.values_list("label", flat=True).distinct())
