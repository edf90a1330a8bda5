"""Which conversation a program goes on with: it sends all earlier messages again, and never says which one it means.

A conversation is known by the questions that were asked in it, in order, so that follow-ups stand on what was answered before, with its
sources and rights of today. What the program says was answered is not believed. It bears no title, and so is in no list of the chat page.
"""

import hashlib
import json
from collections.abc import Sequence
from uuid import UUID

from agent.conversations.sessions import create_session, sessions_of
from agent.models import Message, Session
from authz.principal import Principal


def conversation_of(principal: Principal, earlier: Sequence[str]) -> tuple[Session, UUID | None]:
    """The person's conversation in which these were asked last, and the answer there that goes before the next question; where it went
    on meanwhile, that question begins a branch. Else a new conversation, and None.
    """
    known = (
        Message.objects.filter(session__in=sessions_of(principal), asked_key=asked_key(earlier)) if earlier else None
    )
    asked = known.select_related("session").order_by("-created_at", "-id").first() if known is not None else None
    if asked is None:
        return create_session(principal), None
    return asked.session, Message.objects.get(parent=asked).pk


def note_question(answer_id: UUID, questions: Sequence[str]) -> None:
    """The question of this answer is known from now on by all that a program has asked."""
    asked = Message.objects.filter(pk=answer_id).values("parent_id")
    Message.objects.filter(pk__in=asked).update(asked_key=asked_key(questions))


def asked_key(questions: Sequence[str]) -> str:
    said = [" ".join(question.split()) for question in questions]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
