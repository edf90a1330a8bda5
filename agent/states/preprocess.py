from collections.abc import AsyncIterator

from agent.events import AgentQuery, Event
from agent.state import Goto, Run, State
from knowledge.ingestion.normalise import normalise


async def preprocess(run: Run) -> AsyncIterator[Event | Goto]:
    """Clean the question the way documents were cleaned, so that the two can meet."""
    run.state.input = {
        "query": run.question,
        "normalized_query": " ".join(normalise(run.question).split()),
        "session_id": str(run.session_id),
        "user_id": run.principal.username,
        "attachments": [],
    }
    run.state.messages.append({"role": "user", "content": run.question})
    yield AgentQuery(content=run.question, done=True)
    yield Goto(State.LOAD_AUTHZ)
