from collections.abc import AsyncIterator
from dataclasses import replace

from asgiref.sync import sync_to_async

from agent.conversations.attachments import readable
from agent.conversations.history import history_of
from agent.events import Event
from agent.run import Goto, Run
from agent.state import Authz, State
from agent.tools.base import within
from authz.snapshot import take_snapshot
from knowledge.models import ATTACHMENTS


async def load_authz(run: Run) -> AsyncIterator[Event | Goto]:
    """Read the person again: what they may see is decided now, not when the page was opened; earlier answers included."""
    await sync_to_async(_load)(run)
    yield Goto(State.ROUTE)


def _load(run: Run) -> None:
    run.principal = run.principal.again()
    run.attached = replace(run.attached, names=readable(run.principal, run.session_id))
    run.told_inside += run.attached.names.values()
    bases = run.profile.knowledge_base_ids
    run.scope = within(run.scope, knowledge_base_ids=(*bases, ATTACHMENTS) if bases and run.attached.names else bases)
    run.state.authz = Authz(
        user_id=run.principal.username,
        roles=sorted(run.principal.roles),
        org_units=sorted(run.principal.org_units),
        perm_snapshot_id=take_snapshot(run.principal),
    )
    if run.is_follow_up:
        run.history = history_of(run.principal, run.session_id, before=run.message_id)
