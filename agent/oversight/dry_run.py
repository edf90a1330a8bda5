"""Answer one question as a person would get it now, for a reviewer: nothing is written, and no conversation is changed.

Business data are queried too: read only, with that person's rights. Audit records of tools are withheld and written
after the trial, as actions of the reviewer on behalf of that person; nothing says that the person asked.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from asgiref.sync import async_to_sync

from agent.events import Answer, Event, KnowledgeReference, References
from agent.profile_choice import find_requested_profile
from agent.profiles.settings import Options, Profile
from agent.revocation import iterate_readable_events
from agent.run_state.cited_answer import CitedAnswer
from agent.run_state.run import Run
from agent.run_state.state import EvidenceItem
from agent.runs.start import assign_model, check_question
from agent.states import STATES
from agent.tools.base import Tool, find_tool, list_enabled_tools
from agent.workflow import walk_states
from audit.actions import Action
from audit.record import Actor, DeferredEntries
from authz.principal import Principal
from business.results.shown_query import QueryShown
from copilot_site.lib.database import open_read_only_transaction
from knowledge.retrieval.search import Scope

NOWHERE = UUID(int=0)  # ids of a run that is not stored


@dataclass(frozen=True)
class DryRun:
    """The outcome. text: as it would have been streamed, with its marks. cost: of the language model."""

    text: str
    stop_reason: str
    answer: CitedAnswer | None
    references: tuple[KnowledgeReference, ...]
    evidence: tuple[EvidenceItem, ...]
    cost: Decimal

    @property
    def results(self) -> list[QueryShown]:
        return [query.shown for query in self.answer.queries if query.shown] if self.answer else []


@contextmanager
def open_read_only_review(by: Principal, *, on_behalf_of: Actor) -> Iterator[DeferredEntries]:
    """Open a block in which the database refuses to write.

    Withheld audit records are written after it, even on an error.
    """
    withheld = DeferredEntries()
    try:
        with open_read_only_transaction():
            yield withheld
    finally:
        withheld.write(by, on_behalf_of=on_behalf_of)


def dry_run_question(
    principal: Principal,
    question: str,
    *,
    language: str,
    withheld: DeferredEntries,
    by: Principal | None = None,
    profile: Profile | None = None,
) -> DryRun:
    """Walk the states as a run does, without storing anything. Call it within `open_read_only_review()`.

    by: the reviewer, where they may use an API token: its restrictions apply. Tools with side effects, or that send
    something outside, are not offered. profile: on trial, saved or not; None: the person's default. Raises InvalidInput
    (no question, too long) and the errors of the states.
    """
    profile = profile or find_requested_profile(principal, Options())
    harmless = tuple(name for name in list_enabled_tools(profile.tools) if _may_use_tool(find_tool(name), by))
    run = Run(
        session_id=NOWHERE,
        message_id=NOWHERE,
        principal=principal,
        question=check_question(question),
        scope=Scope(),
        language=language,
        profile=replace(profile, tools=harmless, outside=()),
        record=withheld,
    )
    assign_model(run)
    events = async_to_sync(_collect_events)(run)
    if run.answer and run.answer.citations:
        withheld(principal, Action.EVIDENCE_SHOWN, detail={"evidence": run.answer.evidence_ids})
    return DryRun(
        text="".join(event.content for event in events if isinstance(event, Answer)),
        stop_reason=run.stop_reason.value,
        answer=run.answer,
        references=tuple(
            row for event in events if isinstance(event, References) for row in event.knowledge_references
        ),
        evidence=tuple(run.state.evidence_items),
        cost=run.spent.cost,
    )


def _may_use_tool(tool: Tool, by: Principal | None) -> bool:
    is_open = by is None or not tool.scope or by.may_use(tool.scope)
    return is_open and not tool.has_side_effects and tool.brings != "outside"


async def _collect_events(run: Run) -> list[Event]:
    try:
        return [event async for event in iterate_readable_events(run, walk_states(run, STATES))]
    finally:
        await run.close_models()
