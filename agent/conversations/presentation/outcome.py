"""The ending of an answer, for pages: the template part that shows it, and one line on how it was made."""

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext as _

from agent.conversations.presentation.message import ShownMessage
from agent.events import StopReason
from agent.passages.answer import NAME
from agent.providers.configured import FROM_SETTINGS
from agent.run_state.verified_match import PROVIDER as VERIFIED

ENDINGS: Final[Mapping[str, str]] = {
    StopReason.NEED_CLARIFY: "asked-back",
    StopReason.TOOL_ERROR: "failed",
    StopReason.NO_EVIDENCE: "nothing",
    StopReason.PERMISSION_DENIED: "nothing",
    StopReason.BUDGET_EXHAUSTED: "nothing",
    StopReason.REFUSED: "nothing",
}


def ending_of(message: ShownMessage) -> str:
    """Return the name of the template part that shows it: `said` for an answer."""
    if message.kind and message.is_complete and message.stop_reason == StopReason.OK:
        return "passages"
    return ENDINGS.get(message.stop_reason, "said") if message.is_complete else "unfinished"


def foot_of(message: ShownMessage) -> str:
    """Return one line on how it was made; "" where there is nothing to say, as for a refusal."""
    ending = ending_of(message)
    if ending == "passages" and message.citations:
        return _("Excerpts from your documents")
    if ending != "said" or not any(not sentence.is_masked for sentence in message.sentences):
        return ""
    if message.stop_reason == StopReason.CANCELLED:
        return _("Stopped before it was complete")
    return _made_by(message)


def _made_by(message: ShownMessage) -> str:
    if message.provider in {"database", NAME}:
        return _without_model(message)
    if message.provider in {VERIFIED, "calculate"}:
        is_verified = message.provider == VERIFIED
        return _("Verified by a colleague, no language model") if is_verified else _("Calculated, not looked up")
    if not message.provider:
        return ""
    if message.provider == FROM_SETTINGS:  # a name that nobody gave it
        if message.unchecked_count:
            return _("Written by a language model; marked sentences were not checked against their source")
        return _("Written by a language model, each sentence checked against its source")
    if message.unchecked_count:
        text = _("Written by the model %(name)s; marked sentences were not checked against their source")
    else:
        text = _("Written by the model %(name)s, each sentence checked against its source")
    return text % {"name": message.provider}


def _without_model(message: ShownMessage) -> str:
    if message.citations and message.queries:
        return _("Quoted from your documents and counted by the database, no language model")
    if message.queries:
        return _("Calculated by the database, no language model")
    return _("Quoted from your documents, no language model") if message.citations else ""
