"""Which conversation a program goes on with: it sends all earlier messages again, and never says which one it means.

A conversation is known by the questions that were asked in it, in order, so that follow-ups stand on what was answered before, with its
sources and rights of today. What the program says was answered is not believed. It bears no title, and so is in no list of the chat page.
"""

import hashlib
import json
from collections.abc import Sequence

from agent.models import Session
from agent.sessions import create_session, sessions_of
from authz.principal import Principal


def conversation_of(principal: Principal, questions: Sequence[str]) -> Session:
    """The person's conversation in which all but the last of these were asked, or all of them; else a new one. It is known by all of them
    from now on."""
    key = _key(questions)
    known = [key, _key(questions[:-1])] if len(questions) > 1 else []
    session = sessions_of(principal).filter(asked_key__in=known).first() or create_session(principal)
    session.asked_key = key
    session.save(update_fields=["asked_key"])
    return session


def _key(questions: Sequence[str]) -> str:
    said = [" ".join(question.split()) for question in questions]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
