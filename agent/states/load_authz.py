from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async

from agent.events import Event
from agent.state import Goto, Run, State
from authz.principal import Principal


async def load_authz(run: Run) -> AsyncIterator[Event | Goto]:
    """Read the person again: what they may see is decided now, not when the page was opened."""
    run.principal = await sync_to_async(Principal.load)(run.principal.user_id)
    run.state.authz = {"user_id": run.principal.username, "roles": [], "org_units": sorted(run.principal.group_ids)}
    yield Goto(State.RETRIEVE)
