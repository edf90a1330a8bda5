"""Messages with everything that the chat page shows around them."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from agent.conversations.branches import Tree
from agent.conversations.presentation.details import around
from agent.conversations.presentation.message import ShownMessage
from agent.conversations.sessions import read_messages
from agent.models import Session
from authz.principal import Principal


def conversation_page(principal: Principal, session: Session, *, through: UUID | None = None) -> list[ShownMessage]:
    """Return one branch of the conversation in order, under today's rights, audited as `read_messages` does.

    The branch is the most recent one through the given message. Raises NotFound.
    """
    tree = Tree.of(session.pk)
    return _prepared(principal, session, tree, tree.path(through))


def turn_page(principal: Principal, session: Session, message_id: UUID) -> list[ShownMessage]:
    """Return a message after its parent. Raises NotFound."""
    tree = Tree.of(session.pk)
    return _prepared(principal, session, tree, tree.up_to(message_id)[-2:])


def _prepared(principal: Principal, session: Session, tree: Tree, ids: Sequence[UUID]) -> list[ShownMessage]:
    rows = list(session.messages.filter(pk__in=ids).prefetch_related("citations", "queries", "pages"))
    shown = read_messages(principal, session, rows)
    beside = around(principal, shown, rows)
    return [replace(item, around=beside.get(item.id), branches=tree.branches(item.id)) for item in shown]
