"""Share a conversation with others in the company: each reads it under their own rights, checked at every access."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from agent.conversations.branches import MessageTree
from agent.conversations.presentation.details import build_answer_details
from agent.conversations.presentation.message import ShownMessage
from agent.conversations.sessions import get_answer, get_session, list_cited_document_ids, read_messages
from agent.events import StopReason
from agent.models import MessageRole, Share
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.errors import NotFound

SAYS_SENTENCES = (StopReason.OK, StopReason.CANCELLED)


@transaction.atomic
def share_conversation(principal: Principal, session_id: UUID, message_id: UUID) -> Share:
    """Let every signed-in user with the address read the conversation up to this answer.

    Sharing again returns the same address. Later questions are not shared. Raises NotFound.
    """
    session = get_session(principal, session_id)
    last = get_answer(session, message_id)
    shared, is_new = Share.objects.get_or_create(session=session, last=last)
    if is_new:
        documents = list_cited_document_ids(MessageTree.of(session.pk).up_to(last.pk))
        detail = {"share": str(shared.pk), "up_to": str(last.pk), "documents": documents}
        record_action(principal, Action.CONVERSATION_SHARED, session, detail=detail)
    return shared


@transaction.atomic
def end_share(principal: Principal, session_id: UUID, share_id: UUID) -> None:
    """Stop sharing; the address is invalid from now on. Raises NotFound."""
    session = get_session(principal, session_id)
    if not session.shares.filter(pk=share_id).delete()[0]:
        raise NotFound(_("There is no such conversation, or it is not yours."))
    record_action(principal, Action.CONVERSATION_UNSHARED, session, detail={"share": str(share_id)})


def read_share(reader: Principal, share_id: UUID) -> tuple[Share, list[ShownMessage]]:
    """Return the shared messages, as this person may read them now; audited like any reading of evidence.

    Raises NotFound.
    """
    shared = Share.objects.select_related("session__user").filter(pk=share_id).first()
    if shared is None or reader.is_nobody:
        raise NotFound(_("This conversation is not shared, or no longer."))
    way = MessageTree.of(shared.session_id).up_to(shared.last_id)
    rows = list(shared.session.messages.filter(pk__in=way).prefetch_related("citations", "queries", "pages"))
    shown = read_messages(reader, shared.session, rows)
    beside = build_answer_details(reader, shown, rows)
    return shared, remove_asker_details([replace(message, around=beside.get(message.id)) for message in shown])


def remove_asker_details(messages: Sequence[ShownMessage]) -> list[ShownMessage]:
    """Return the messages without what concerns the asker only: access offers, the understood question, web searches."""
    return [
        _remove_asker_details_from(message) if message.role == MessageRole.ASSISTANT else message
        for message in messages
    ]


def _remove_asker_details_from(message: ShownMessage) -> ShownMessage:
    message = _mask_service_results(message)
    sentences, beside = message.sentences, message.around
    if message.masked_count:  # a sentence without a source may repeat a hidden one
        sentences = tuple(item if item.citations else replace(item, text="", is_masked=True) for item in sentences)
    content = message.content
    if not sentences and message.is_complete:
        content = _("There was no answer.")
    elif message.stop_reason not in SAYS_SENTENCES:
        sentences = ()
        content = _("There was no answer.")
    return replace(
        message,
        sentences=sentences,
        content=content,
        notice="",
        understood="",
        readings=(),
        explore="",
        offers=(),
        approval=None,
        asked_outside=(),
        files=(),
        tool_calls=(),
        rating="",
        comment="",
        branches=None,
        around=beside and replace(beside, steps=(), read_besides=(), close_titles=(), took=""),
    )


def _mask_service_results(message: ShownMessage) -> ShownMessage:
    """Mask the results of outside services: they were fetched for the asker, and no rights are known for other readers."""
    theirs = {query.number for query in message.queries if query.service}
    if not theirs:
        return message
    sentences = tuple(
        replace(item, text="", is_masked=True) if theirs & set(item.citations) else item for item in message.sentences
    )
    queries = tuple(query for query in message.queries if query.number not in theirs)
    return replace(message, sentences=sentences, queries=queries)
