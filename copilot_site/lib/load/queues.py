"""Messages to workers, sent once their rows are stored."""

from uuid import UUID

from celery import current_app
from django.db import transaction


def send_on_commit(task: str, row_id: UUID, *, queue: str) -> None:
    """Queue a task when the transaction commits; the periodic task for these rows makes up for a lost message."""
    transaction.on_commit(lambda: current_app.send_task(task, args=(str(row_id),), queue=queue), robust=True)
