"""Drive the writer: what the model writes, as far as it stands. Part of `Synthesize` until the answer comes from one conversation."""

from collections.abc import AsyncIterator

from agent.attribution.answer_writer import Writer
from agent.notices import broken_off, model_failed
from agent.providers.base import ModelError
from agent.run import Run
from agent.state import State
from agent.threads import worked
from agent.workflow import Together


async def write(run: Run) -> AsyncIterator[Together]:
    """Yield what the model writes, as far as it stands; what was found stays, whatever becomes of its sentences."""
    writer, failure = Writer(run), None
    try:
        async for events in writer.written():
            yield events
    except ModelError as error:
        failure = error
    async for events in writer.settled(is_asked=failure is None):
        yield events
    if failure is None:
        for events in writer.results():
            yield events
        await worked(writer.compare_sources)
    elif writer.has_sentences:
        broken_off(run, failure)
    else:
        model_failed(run, failure, State.SYNTHESIZE)
        return
    for last in writer.closing():
        yield last
    writer.record()
