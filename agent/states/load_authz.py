from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Final

from asgiref.sync import sync_to_async

from agent.conversations.attachments import list_searchable_attachments
from agent.conversations.history import load_history
from agent.events import Event
from agent.run_state.run import Goto, Run
from agent.run_state.state import Authz, State
from agent.tools.base import list_enabled_tools, restrict_scope
from authz.rights.snapshot import take_snapshot
from business.sources.services import has_open_source

QUERY: Final = "database_query"
OF_DOCUMENTS: Final = frozenset(
    {
        "knowledge_search", "grep_chunks", "list_knowledge_chunks", "query_knowledge_graph", "get_document_info",
        "data_analysis", "data_schema",
    }
)  # fmt: skip


async def load_authz(run: Run) -> AsyncIterator[Event | Goto]:
    """Load the person's current rights, which may have changed since the page was opened; earlier answers included."""
    await sync_to_async(_load_rights)(run)
    yield Goto(State.ROUTE)


def _load_rights(run: Run) -> None:
    run.principal = run.principal.again()
    run.attached = replace(run.attached, names=list_searchable_attachments(run.principal, run.session_id))
    run.inside_texts += run.attached.names.values()
    run.scope = restrict_scope(run.scope, knowledge_base_ids=run.base_ids)
    if run.chosen:
        run.profile = replace(run.profile, tools=tuple(_yield_allowed_tools(run)))
    run.state.authz = Authz(
        user_id=run.principal.username,
        roles=sorted(run.principal.roles),
        org_units=sorted(run.principal.org_units),
        perm_snapshot_id=take_snapshot(run.principal),
    )
    if run.is_follow_up and not run.is_by_words:  # only a model reads earlier answers
        run.history = load_history(run.principal, run.session_id, before=run.message_id)


def _yield_allowed_tools(run: Run) -> Iterator[str]:
    """Yield the profile's tools that apply to what the person chose."""
    has_data = has_open_source(run.principal, run.data)
    for name in list_enabled_tools(run.profile.tools):
        if has_data if name == QUERY else not (run.asks_tables_alone and name in OF_DOCUMENTS):
            yield name
