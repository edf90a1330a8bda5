"""A question of a program, begun as a run: its model is a profile, its conversation is found again or new."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import get_language
from django.utils.translation import gettext as _
from rest_framework.request import Request

from agent.openai_api.answers import OpenAIAnswer
from agent.openai_api.conversation import conversation_after, conversation_of, note_question
from agent.profile_choice import usable_profiles
from agent.profiles import Options
from agent.rest.synchronous_answer import asked
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, NotFound
from knowledge.retrieval.search import Scope
from knowledge.text.language import language_of

DEFAULT = "copilot"  # the default profile, whatever it is called


def begun(principal: Principal, request: Request, given: Mapping[str, Any]) -> OpenAIAnswer:
    """given: model, questions in order, and `previous_response_id` where a program names the answer that goes before.

    Raises NotFound for a model or an answer that is not theirs, and what `agent.runs.start.begin` raises; nothing is left then.
    """
    profile, questions = profile_id(principal, given["model"]), given["questions"]
    before = given.get("previous_response_id")
    session, follows = conversation_after(principal, before) if before else conversation_of(principal, questions[:-1])
    options = Options(profile_id=profile, disable_title=True, follows=follows)
    language = "zh-hans" if language_of(questions[-1]) == "zh" else get_language() or "en"
    try:
        run = asked(principal, session.pk, questions[-1], scope=Scope(), language=language, options=options)
    except CopilotError:
        session.delete() if not session.messages.exists() else None
        raise
    if not before:  # else what was asked before is the conversation's, and the program sent none of it
        note_question(run.message_id, questions)
    return OpenAIAnswer(run, request.build_absolute_uri("/").rstrip("/"), model=given["model"])


def profile_id(principal: Principal, model: str) -> str:
    """The id of the profile that a program calls a model, "" for the default one. Raises NotFound, for one that is not theirs, too."""
    if model == DEFAULT:
        return ""
    usable = usable_profiles(principal)
    row = usable.filter(name=model).first()
    if row is None:
        known = ", ".join([DEFAULT, *usable.values_list("name", flat=True)])
        raise NotFound(_("There is no model “%(name)s”. Known are: %(known)s.") % {"name": model[:80], "known": known})
    return str(row.pk)
