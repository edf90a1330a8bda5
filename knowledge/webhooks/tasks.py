"""What workers do for webhooks. Ids in; how far a delivery is stands on its row."""

from uuid import UUID

from celery import shared_task
from django.db import transaction

from knowledge.models import WebhookDelivery
from knowledge.webhooks.sending import due, forget_old, send

QUEUE = "maintenance"


@shared_task(name="knowledge.send_webhook")
def send_webhook(delivery_id: str) -> None:
    """One attempt; the next one, if there has to be one, is sent by beat."""
    send(UUID(delivery_id))


@shared_task(name="knowledge.send_due_webhooks")
def send_due_webhooks() -> None:
    """Send again what failed or whose message was lost, when its time has come; forget what is too old."""
    for delivery in due():
        send_webhook.apply_async(args=(str(delivery.pk),), queue=QUEUE)
    forget_old()


def queue_delivery(delivery: WebhookDelivery) -> None:
    """Have a worker send it when the transaction commits."""
    args = (str(delivery.pk),)
    transaction.on_commit(lambda: send_webhook.apply_async(args=args, queue=QUEUE), robust=True)
