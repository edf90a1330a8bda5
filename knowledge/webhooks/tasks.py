"""Tasks for webhooks. Arguments are ids; a delivery's state is on its row."""

from uuid import UUID

from celery import shared_task

from knowledge.webhooks.announcing import QUEUE
from knowledge.webhooks.sending import delete_old_deliveries, list_due_deliveries, send_delivery


@shared_task(name="knowledge.send_webhook")
def send_webhook(delivery_id: str) -> None:
    """Make one attempt; beat queues the next one if needed."""
    send_delivery(UUID(delivery_id))


@shared_task(name="knowledge.send_due_webhooks")
def send_due_webhooks() -> None:
    """Send due deliveries that failed or whose message was lost; delete those that are too old."""
    for delivery in list_due_deliveries():
        send_webhook.apply_async(args=(str(delivery.pk),), queue=QUEUE)
    delete_old_deliveries()
