"""Messages are answered by the process that took them, beside the runs of the chat and in the same queues; a worker takes up what it
left when it died.
"""

import asyncio
from uuid import UUID

from agent.chat_platforms.answering import answer
from agent.threads import is_waited_for

_answering: set[asyncio.Task[None]] = set()  # a loop keeps tasks weakly


async def launch(pk: UUID) -> None:
    """Answer a message in the running loop, and do not wait for it; where somebody's thread waits for the loop, a worker does it."""
    if is_waited_for():
        return
    task = asyncio.create_task(answer(pk), name=f"chat message {pk}")
    _answering.add(task)
    task.add_done_callback(_answering.discard)
