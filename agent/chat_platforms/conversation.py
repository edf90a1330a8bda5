"""Which conversation a message goes on with."""

from datetime import timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from agent.conversations.sessions import create_session, sessions_of
from agent.models import ChatMessage, Message, Session
from authz.principal import Principal

GOES_ON = timedelta(days=1)  # after the last question, before another conversation begins


def conversation_of(principal: Principal, row: ChatMessage) -> tuple[Session, UUID | None]:
    """The conversation of this person in this chat, and the answer there that the message comes after; another one after a day.

    In a group the message comes after what was said there, whatever its person asked elsewhere in the same conversation.
    """
    earlier = ChatMessage.objects.filter(
        Q(answer_id__isnull=False) | Q(begins_anew=True),
        bot_id=row.bot_id, chat_id=row.chat_id, user_id=principal.user_id, received_at__gt=timezone.now() - GOES_ON,
    ).exclude(pk=row.pk)  # fmt: skip
    last = earlier.order_by("-received_at").first()
    if last is not None and last.answer_id:
        session = sessions_of(principal).filter(messages=last.answer_id).first()
        if session is not None:
            return session, last.answer_id if row.is_group else None
    return create_session(principal), None


def is_finished(answer_id: UUID) -> bool:
    return Message.objects.filter(pk=answer_id, is_complete=True).exists()
