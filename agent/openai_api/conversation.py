"""Which conversation a program goes on with: it sends all earlier messages again, and never says which one it means.

A conversation is known by the questions that were asked in it, in order, so that follow-ups stand on what was answered before, with its
sources and rights of today. What the program says was answered is not believed. It bears no title, and so is in no list of the chat page.
"""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from django.utils.translation import gettext as _

from agent.conversations.sessions import create_session, sessions_of
from agent.models import Message, Role, Session
from authz.principal import Principal
from copilot_site.lib.errors import NotFound

RESPONSE = "resp_"  # how the id of an answer begins that is told to programs


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


def conversation_after(principal: Principal, response_id: str) -> tuple[Session, UUID]:
    """The person's conversation with this answer, and the answer. response_id: as it was told. Raises NotFound for anybody else's."""
    with suppress(ValueError):
        pk = UUID(response_id.removeprefix(RESPONSE))
        answer = Message.objects.filter(session__in=sessions_of(principal), pk=pk, role=Role.ASSISTANT)
        if found := answer.select_related("session").first():
            return found.session, found.pk
    raise NotFound(_("There is no such answer, or it is not yours."))


def note_question(answer_id: UUID, questions: Sequence[str]) -> None:
    """The question of this answer is known from now on by all that a program has asked."""
    asked = Message.objects.filter(pk=answer_id).values("parent_id")
    Message.objects.filter(pk__in=asked).update(asked_key=asked_key(questions))


def asked_key(questions: Sequence[str]) -> str:
    said = [" ".join(question.split()) for question in questions]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
