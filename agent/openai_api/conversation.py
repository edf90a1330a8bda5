"""Match a program's request to a conversation: the program sends all earlier messages again, and no conversation id.

A conversation is identified by its questions, in order, so that follow-ups build on the stored answers, with their
sources and today's rights. The answers that the program sends are ignored. The conversation has no title, so the chat
page does not list it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.utils.translation import get_language
from django.utils.translation import gettext as _
from rest_framework.request import Request

from agent.conversations.sessions import create_session, list_sessions
from agent.models import Message, MessageRole, Session
from agent.openai_api.answers import OpenAIAnswer
from agent.profile_choice import usable_profiles
from agent.profiles.settings import Options
from agent.rest.synchronous_answer import start_synchronous_run
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, NotFound
from knowledge.retrieval.search import Scope
from knowledge.text.language import detect_language

RESPONSE = "resp_"  # prefix of an answer's id, as given to programs


def match_conversation(principal: Principal, earlier: Sequence[str]) -> tuple[Session, UUID | None]:
    """Return the person's latest conversation with these questions, and the answer that the next question follows.

    Begin a new one, and return None for the answer, where there is none. Where the conversation has continued
    meanwhile, the question begins a branch.
    """
    known = (
        Message.objects.filter(session__in=list_sessions(principal), asked_key=hash_questions(earlier))
        if earlier
        else None
    )
    asked = known.select_related("session").order_by("-created_at", "-id").first() if known is not None else None
    if asked is None:
        return create_session(principal), None
    return asked.session, Message.objects.get(parent=asked).pk


def find_conversation_after(principal: Principal, response_id: str) -> tuple[Session, UUID]:
    """Return the person's conversation with this answer, and the answer. response_id: as given to the program.

    Raises NotFound, also for another person's.
    """
    with suppress(ValueError):
        pk = UUID(response_id.removeprefix(RESPONSE))
        answer = Message.objects.filter(session__in=list_sessions(principal), pk=pk, role=MessageRole.ASSISTANT)
        if found := answer.select_related("session").first():
            return found.session, found.pk
    raise NotFound(_("There is no such answer, or it is not yours."))


def store_question_key(answer_id: UUID, questions: Sequence[str]) -> None:
    """Store the key of all of the program's questions so far with this answer's question."""
    asked = Message.objects.filter(pk=answer_id).values("parent_id")
    Message.objects.filter(pk__in=asked).update(asked_key=hash_questions(questions))


def hash_questions(questions: Sequence[str]) -> str:
    questions_asked = [" ".join(question.split()) for question in questions]
    return hashlib.sha256(json.dumps(questions_asked).encode()).hexdigest()


DEFAULT = "copilot"  # the default profile, whatever it is called


def start_program_run(principal: Principal, request: Request, given: Mapping[str, Any]) -> OpenAIAnswer:
    """Start a run for a program's question.

    given: model, questions in order, and `previous_response_id`, the answer before it. Raises NotFound for a missing
    model or answer, or one not theirs, and the errors of `agent.runs.start.prepare_run`; then a new conversation is removed.
    """
    profile, questions = find_profile_id(principal, given["model"]), given["questions"]
    before = given.get("previous_response_id")
    session, follows = (
        find_conversation_after(principal, before) if before else match_conversation(principal, questions[:-1])
    )
    options = Options(profile_id=profile, disable_title=True, follows=follows, channel="openai")
    language = "zh-hans" if detect_language(questions[-1]) == "zh" else get_language() or "en"
    try:
        run = start_synchronous_run(
            principal, session.pk, questions[-1], scope=Scope(), language=language, options=options
        )
    except CopilotError:
        session.delete() if not session.messages.exists() else None
        raise
    if not before:  # else the program sent only the new question
        store_question_key(run.message_id, questions)
    return OpenAIAnswer(run, request.build_absolute_uri("/").rstrip("/"), model=given["model"])


def find_profile_id(principal: Principal, model: str) -> str:
    """Return the id of the profile that a program calls a model, "" for the default.

    Raises NotFound for a missing one, or one not theirs.
    """
    if model == DEFAULT:
        return ""
    usable = usable_profiles(principal)
    row = usable.filter(name=model).first()
    if row is None:
        known = ", ".join([DEFAULT, *usable.values_list("name", flat=True)])
        raise NotFound(
            _("There is no model “%(name)s”. Choose from: %(known)s.") % {"name": model[:80], "known": known}
        )
    return str(row.pk)
