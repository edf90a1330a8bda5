"""Which conversation a program goes on with: it sends all earlier messages again, and never says which one it means.

A conversation is known by the questions that were asked in it, in order, so that follow-ups stand on what was answered before, with its
sources and rights of today. What the program says was answered is not believed. It bears no title, and so is in no list of the chat page.
"""

import hashlib
import json
from collections.abc import Sequence

from django.db import transaction

from agent.models import Citation, Message, QueryCitation, Role, Session, WebCitation
from agent.sessions import create_session, sessions_of
from authz.principal import Principal


def conversation_of(principal: Principal, earlier: Sequence[str]) -> Session:
    """The person's conversation in which these were asked last; a copy of it up to there, where it went on meanwhile; else a new one."""
    known = (
        Message.objects.filter(session__in=sessions_of(principal), asked_key=asked_key(earlier)) if earlier else None
    )
    asked = known.select_related("session").order_by("-created_at", "-id").first() if known is not None else None
    if asked is None:
        return create_session(principal)
    turns = list(asked.session.messages.order_by("created_at", "id"))
    place = next(place for place, turn in enumerate(turns) if turn.pk == asked.pk)
    following = next((n for n, turn in enumerate(turns[place + 1 :], place + 1) if turn.role == Role.USER), None)
    return asked.session if following is None else _copy(principal, turns[:following])


def note_question(session: Session, questions: Sequence[str]) -> None:
    """The last question of a conversation is known from now on by all that a program has asked."""
    last = session.messages.filter(role=Role.USER).order_by("-created_at", "-id").values("pk")[:1]
    Message.objects.filter(pk__in=last).update(asked_key=asked_key(questions))


def asked_key(questions: Sequence[str]) -> str:
    said = [" ".join(question.split()) for question in questions]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


@transaction.atomic
def _copy(principal: Principal, turns: Sequence[Message]) -> Session:
    """A conversation with these turns and their sources, to go on otherwise."""
    session = create_session(principal)
    for turn in turns:
        sources: list[Citation | QueryCitation | WebCitation] = [
            *turn.citations.all(),
            *turn.queries.all(),
            *turn.pages.all(),
        ]
        turn.pk = Message().pk
        turn.session, turn.asked_key = session, ""
        turn.save(force_insert=True)
        for source in sources:
            source.pk, source.message = None, turn
            source.save(force_insert=True)
    return session
