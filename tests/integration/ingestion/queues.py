"""The queues of the tests' Valkey, read as a worker reads them."""

from queue import Empty
from uuid import UUID

from copilot_site.celery import app


def drained(queue: str) -> list[UUID]:
    """The versions whose ingestion waits in a queue, in order; the queue is empty after that."""
    found: list[UUID] = []
    with app.connection_for_read() as connection, connection.SimpleQueue(queue) as waiting:
        while True:
            try:
                message = waiting.get(block=False)
            except Empty:
                return found
            message.ack()
            if "ingest" in message.headers["task"]:  # other work on documents waits there, too
                found.append(UUID(message.payload[0][0]))
