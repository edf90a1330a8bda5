"""Events, recorded for every subscribed webhook in the transaction in which they happen."""

from django.urls import reverse
from django.utils import timezone

from copilot_site.lib.load.queues import send_on_commit
from knowledge.models import Document, Webhook, WebhookDelivery, WebhookEvent

QUEUE = "maintenance"


def announce_event(event: WebhookEvent, path: str, **ids: str | int) -> None:
    """Tell the active webhooks of this event when the transaction commits. path: of its page. ids: never content."""
    for webhook in Webhook.objects.filter(is_active=True, events__contains=[str(event)]):
        record_delivery(webhook, event, path, ids)


def announce_document(event: WebhookEvent, document: Document, **more: str | int) -> None:
    if document.is_attached:
        return  # of a conversation, which is private
    ids = {"knowledge_base_id": str(document.knowledge_base_id), "document_id": str(document.pk)}
    announce_event(event, reverse("document", args=[document.pk]), **ids, **more)


def record_delivery(webhook: Webhook, event: WebhookEvent, path: str, ids: dict[str, str | int]) -> WebhookDelivery:
    """Record one delivery, which a worker sends when the transaction commits."""
    now = timezone.now()
    data = {**ids, "url": f"{webhook.site}{path}"}
    payload = {"type": str(event), "timestamp": now.isoformat(timespec="seconds"), "data": data}
    delivery = WebhookDelivery.objects.create(webhook=webhook, event=event, payload=payload, next_at=now)
    queue_delivery(delivery)
    return delivery


def queue_delivery(delivery: WebhookDelivery) -> None:
    send_on_commit("knowledge.send_webhook", delivery.pk, queue=QUEUE)
