"""Work for others, sent when what it is about is stored."""

from uuid import UUID

from celery import current_app
from django.db import transaction


def send_on_commit(task: str, row_id: UUID, *, queue: str) -> None:
    """Have a worker do it when the transaction commits; a message that is lost on the way is made up for by whoever tends these rows."""
    transaction.on_commit(lambda: current_app.send_task(task, args=(str(row_id),), queue=queue), robust=True)
