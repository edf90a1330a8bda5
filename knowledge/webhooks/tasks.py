"""Tasks for webhooks. Arguments are ids; a delivery's state is on its row."""

from uuid import UUID

from celery import shared_task

from knowledge.webhooks.announcing import QUEUE
from knowledge.webhooks.sending import due, forget_old, send


@shared_task(name="knowledge.send_webhook")
def send_webhook(delivery_id: str) -> None:
    """Make one attempt; beat queues the next one if needed."""
    send(UUID(delivery_id))


@shared_task(name="knowledge.send_due_webhooks")
def send_due_webhooks() -> None:
    """Send due deliveries that failed or whose message was lost; delete those that are too old."""
    for delivery in due():
        send_webhook.apply_async(args=(str(delivery.pk),), queue=QUEUE)
    forget_old()
