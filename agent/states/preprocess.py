from collections.abc import AsyncIterator

from agent.events import AgentQuery, Event
from agent.run_state.run import Goto, Run
from agent.run_state.state import RunInput, State, Turn
from knowledge.text.normalise import normalise_text


async def preprocess(run: Run) -> AsyncIterator[Event | Goto]:
    """Normalise the question the way documents were normalised, so that the two can match."""
    run.state.input = RunInput(
        query=run.question,
        normalized_query=" ".join(normalise_text(run.question).split()),
        session_id=str(run.session_id),
        user_id=run.principal.username,
    )
    run.state.messages.append(Turn(role="user", content=run.question))
    yield AgentQuery(content=run.question, done=not run.is_follow_up)
    yield Goto(State.LOAD_AUTHZ)
