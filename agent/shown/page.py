"""Messages for a page: what they say, and what is around them."""

from dataclasses import replace
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agent.models import Message, Session
from agent.sessions import read_messages
from agent.shown.around import around
from agent.shown.message import ShownMessage
from authz.principal import Principal
from copilot_site.lib.errors import NotFound


def conversation_page(principal: Principal, session: Session) -> list[ShownMessage]:
    """The conversation in order, under today's rights, recorded as `read_messages` does."""
    return _prepared(principal, session, session.messages.all())


def message_page(principal: Principal, session: Session, message_id: UUID) -> ShownMessage:
    """One message of it. Raises NotFound."""
    shown = _prepared(principal, session, session.messages.filter(pk=message_id))
    if not shown:
        raise NotFound(_("There is no such message in this conversation."))
    return shown[0]


def _prepared(principal: Principal, session: Session, messages: QuerySet[Message]) -> list[ShownMessage]:
    rows = list(messages.prefetch_related("citations", "queries"))
    shown = read_messages(principal, session, rows)
    beside = around(principal, shown, rows)
    return [replace(message, around=beside.get(message.id)) for message in shown]
