"""One question answered as a person would get it now, for whoever checks: nothing is written, no conversation is touched.

Business data are not asked: each of their queries is recorded, and a trial records nothing.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from uuid import UUID

from asgiref.sync import async_to_sync
from django.utils.translation import gettext as _

from agent.answer import CitedAnswer
from agent.events import Answer, Event, KnowledgeReference, References
from agent.profiles import Options, profile_of
from agent.records import check_question, give_model
from agent.revocation import guarded
from agent.state import EvidenceItem, Goto, Run, State
from agent.states import STATES
from agent.states.query import TOOL
from agent.tools.base import default_names
from agent.workflow import walk
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.retrieval.search import Scope

NOWHERE = UUID(int=0)  # of a run that is not stored


@dataclass(frozen=True)
class Trial:
    """What came of it. text: as it would have been streamed, with its marks."""

    text: str
    stop_reason: str
    answer: CitedAnswer | None
    references: tuple[KnowledgeReference, ...]
    evidence: tuple[EvidenceItem, ...]


def try_question(principal: Principal, question: str, *, language: str) -> Trial:
    """Walk the states as a run does, without storing anything. Call it within `read_only()`.

    Raises InvalidInput (no question, too long, one for business data) and what the states raise.
    """
    profile = profile_of(Options())
    names = default_names() if profile.tools is None else profile.tools
    run = Run(
        session_id=NOWHERE,
        message_id=NOWHERE,
        principal=principal,
        question=check_question(question),
        scope=Scope(),
        language=language,
        profile=replace(profile, tools=tuple(name for name in names if name != TOOL)),
    )
    give_model(run)
    events = async_to_sync(_events)(run)
    return Trial(
        text="".join(event.content for event in events if isinstance(event, Answer)),
        stop_reason=run.stop_reason.value,
        answer=run.answer,
        references=tuple(
            row for event in events if isinstance(event, References) for row in event.knowledge_references
        ),
        evidence=tuple(run.state.evidence_items),
    )


async def _events(run: Run) -> list[Event]:
    try:
        return [event async for event in guarded(run, walk(run, {**STATES, State.QUERY: _not_asked}))]
    finally:
        if run.model:
            await run.model.aclose()


def _not_asked(_run: Run) -> AsyncIterator[Event | Goto]:
    raise InvalidInput(_("Business data are not asked in a trial. Look at the query itself under “Check a statement”."))
