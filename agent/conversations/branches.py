"""The tree of a conversation.

A question follows an answer, or begins it; a reworded question becomes a branch beside the first.

The history given to a model, and the conversation shown on a page, is one path of the tree (ADR 0024).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _

from agent.models import Message, MessageRole, Session
from copilot_site.lib.errors import NotFound


@dataclass(frozen=True)
class Branches:
    """The alternative questions at one place. number: the position of this one, from 1.

    before, after: its neighbours, in time.
    """

    number: int
    count: int
    before: UUID | None
    after: UUID | None


class MessageTree:
    """Ids of messages, each with the id of its parent."""

    def __init__(self, rows: Iterable[tuple[UUID, UUID | None]]) -> None:
        """Build the tree from rows of (message, its parent), the oldest first."""
        self._parents = dict(rows)
        self._children: dict[UUID | None, list[UUID]] = defaultdict(list)
        for pk, parent in self._parents.items():
            self._children[parent].append(pk)

    @classmethod
    def of(cls, session_id: UUID) -> "MessageTree":
        rows = Message.objects.filter(session_id=session_id).order_by("created_at", "id")
        return cls(rows.values_list("id", "parent_id"))

    def up_to(self, message_id: UUID) -> list[UUID]:
        """Return the path from the first question to this message, both included. Raises NotFound."""
        if message_id not in self._parents:
            raise NotFound(_("There is no such message in this conversation."))
        way: list[UUID] = []
        at: UUID | None = message_id
        while at is not None:
            way.append(at)
            at = self._parents[at]
        return way[::-1]

    def path(self, through: UUID | None = None) -> list[UUID]:
        """Return the most recent branch through this message. Raises NotFound."""
        order = {pk: place for place, pk in enumerate(self._parents)}
        if not order:
            return []
        if through is None:
            return self.up_to(max(order, key=lambda pk: order[pk]))
        way, below = self.up_to(through), [through]
        for pk in below:  # grows while it is walked: everything that follows
            below.extend(self._children[pk])
        newest = max(below, key=lambda pk: order[pk])
        return [*way, *self.up_to(newest)[len(way) :]]

    def branches(self, message_id: UUID) -> Branches | None:
        """Return the position of a message among its alternatives; None where it has none."""
        beside = self._children[self._parents[message_id]]
        place = beside.index(message_id)
        if len(beside) == 1:
            return None
        before = beside[place - 1] if place else None
        after = beside[place + 1] if place + 1 < len(beside) else None
        return Branches(place + 1, len(beside), before, after)


def find_parent_message(session: Session, *, follows: UUID | None, instead_of: UUID | None) -> UUID | None:
    """Return the answer that a new question follows; None where it begins the conversation.

    follows: an answer; None: the last one. instead_of: the question that the new one replaces. Raises NotFound.
    """
    if instead_of is not None:
        return _find_session_message(session, instead_of, MessageRole.USER).parent_id
    if follows is not None:
        return _find_session_message(session, follows, MessageRole.ASSISTANT).pk
    last = session.messages.filter(role=MessageRole.ASSISTANT).order_by("-created_at", "-id")
    return last.values_list("pk", flat=True).first()


def _find_session_message(session: Session, message_id: UUID, role: MessageRole) -> Message:
    found = session.messages.filter(pk=message_id, role=role).first()
    if found is None:
        raise NotFound(_("There is no such message in this conversation."))
    return found
