"""Format an answer as a chat reply: its text, notices, choices, and its sources as links to our own pages."""

import json
import re
from uuid import UUID

from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from agent import texts
from agent.chat_platforms.base import Link, Reply
from agent.conversations.sessions import get_message, get_session
from agent.run_state.run import Run
from agent.runs.follow import replay_entries
from agent.text_answer import TextAnswer
from authz.principal import Principal
from knowledge.retrieval.search import Scope

_RULE = re.compile(r"^\|( --- \|)+\n", re.MULTILINE)  # below the head of a Markdown table: a reply is plain text


def reply_of(principal: Principal, session_id: UUID, message_id: UUID, *, site: str, is_group: bool) -> Reply:
    """Return the stored answer as a reply, under today's rights.

    Raises NotFound where the person or the answer is gone.

    is_group: the reply has no link to the conversation, which only its owner can open.
    """
    run = Run(session_id, message_id, principal, question="", scope=Scope(), language=get_language() or "en")
    answer = TextAnswer(run, site)
    for entry in replay_entries(principal, session_id, message_id):
        answer.took(json.loads(entry.body))
    if answer.error:
        return Reply(answer.error)
    shown = get_message(principal, get_session(principal, session_id), message_id)
    lost = (
        [str(texts.LEFT_OUT_BY_RIGHTS if answer.text.strip() else texts.RIGHTS_CHANGED)] if shown.masked_count else []
    )
    choices = [f"· {choice}" for choice in answer.choices]
    parts = [_RULE.sub("", answer.text).strip(), "\n".join(choices), "\n".join([*answer.notices, *lost])]
    links = [Link(f"[{number}]", answer.title_of(number), answer.url_of(number)) for number in answer.cited]
    if not is_group:
        links.append(Link("", _("Open in the chat"), site + reverse("conversation", args=[session_id])))
    return Reply("\n\n".join(part for part in parts if part), tuple(links))
