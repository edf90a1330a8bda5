"""The tree of a conversation: a question follows an answer, or begins; asked again in other words it stands beside the first, as a branch.

What a model is told before a question, and what a page shows, is one path of the tree (ADR 0024).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _

from agent.models import Message, Role, Session
from copilot_site.lib.errors import NotFound


@dataclass(frozen=True)
class Branches:
    """The questions that stand at one place. number: which of them this is, from 1. before, after: the ones beside it, in time."""

    number: int
    count: int
    before: UUID | None
    after: UUID | None


class Tree:
    """Ids of messages, each with the one it follows."""

    def __init__(self, rows: Iterable[tuple[UUID, UUID | None]]) -> None:
        """rows: (message, its parent), the oldest first."""
        self._parents = dict(rows)
        self._children: dict[UUID | None, list[UUID]] = defaultdict(list)
        for pk, parent in self._parents.items():
            self._children[parent].append(pk)

    @classmethod
    def of(cls, session_id: UUID) -> "Tree":
        rows = Message.objects.filter(session_id=session_id).order_by("created_at", "id")
        return cls(rows.values_list("id", "parent_id"))

    def up_to(self, message_id: UUID) -> list[UUID]:
        """The way from the first question to this message, both included; raises NotFound."""
        if message_id not in self._parents:
            raise NotFound(_("There is no such message in this conversation."))
        way: list[UUID] = []
        at: UUID | None = message_id
        while at is not None:
            way.append(at)
            at = self._parents[at]
        return way[::-1]

    def path(self, through: UUID | None = None) -> list[UUID]:
        """A whole branch: the one that was written last, of those through this message. Raises NotFound."""
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
        """None where nothing stands beside it."""
        beside = self._children[self._parents[message_id]]
        place = beside.index(message_id)
        if len(beside) == 1:
            return None
        before = beside[place - 1] if place else None
        after = beside[place + 1] if place + 1 < len(beside) else None
        return Branches(place + 1, len(beside), before, after)


def followed(session: Session, *, follows: UUID | None, instead_of: UUID | None) -> UUID | None:
    """The answer that a new question comes after; None where it begins the conversation.

    follows: an answer; else the last one. instead_of: a question, beside which the new one stands. Raises NotFound.
    """
    if instead_of is not None:
        return _one(session, instead_of, Role.USER).parent_id
    if follows is not None:
        return _one(session, follows, Role.ASSISTANT).pk
    last = session.messages.filter(role=Role.ASSISTANT).order_by("-created_at", "-id")
    return last.values_list("pk", flat=True).first()


def _one(session: Session, message_id: UUID, role: Role) -> Message:
    found = session.messages.filter(pk=message_id, role=role).first()
    if found is None:
        raise NotFound(_("There is no such message in this conversation."))
    return found
