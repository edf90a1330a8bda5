"""One delivery: signed as https://www.standardwebhooks.com says, tried again later and later, through the one module for addresses."""

import base64
import hashlib
import hmac
import json
import time
from datetime import timedelta
from uuid import UUID

import requests
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from urllib3.exceptions import HTTPError

from copilot_site.lib.outgoing.addresses import build_http_service_policy
from copilot_site.lib.outgoing.http import HttpSession, find_refusal
from copilot_site.lib.version import AGENT
from knowledge.models import DeliveryState, WebhookDelivery
from knowledge.webhooks.setting_up import SecretLost, open_webhook_secret

CONNECT_S, SILENCE_S = 5, 10
LATER = tuple(
    timedelta(seconds=item) for item in (60, 300, 1_800, 7_200, 43_200)
)  # after the first attempt, the second, …
KEPT = timedelta(days=30)


def send_delivery(delivery_id: UUID) -> WebhookDelivery | None:
    """Make one attempt; None where there is nothing to send now: sent, given up, or in another worker's hands."""
    delivery = _claim_delivery(delivery_id)
    if delivery is None:
        return None
    status, problem = _post_delivery(delivery)
    delivery.status, delivery.problem = status, problem[:300]
    if not problem:
        delivery.state, delivery.sent_at = DeliveryState.SENT, timezone.now()
    elif delivery.attempts > len(LATER) or not delivery.webhook.is_active:
        delivery.state = DeliveryState.FAILED
    delivery.save(update_fields=["status", "problem", "state", "sent_at"])
    return delivery


def sign_message(secret: str, delivery_id: str, timestamp: int, body: bytes) -> str:
    """Return a message's signature. secret: `whsec_` and Base64."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = hmac.new(key, f"{delivery_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"


def list_due_deliveries() -> list[WebhookDelivery]:
    """Return overdue deliveries, oldest first."""
    waiting = WebhookDelivery.objects.filter(state=DeliveryState.WAITING, next_at__lte=timezone.now())
    return list(waiting.order_by("next_at")[:500])


def delete_old_deliveries() -> int:
    return WebhookDelivery.objects.filter(created_at__lte=timezone.now() - KEPT).delete()[0]


@transaction.atomic
def _claim_delivery(delivery_id: UUID) -> WebhookDelivery | None:
    """Claim a delivery: the attempt is counted and the next one scheduled, so a dying worker loses one attempt."""
    rows = WebhookDelivery.objects.select_for_update(of=("self",), skip_locked=True).select_related("webhook")
    row = rows.filter(pk=delivery_id, state=DeliveryState.WAITING, next_at__lte=timezone.now()).first()
    if row is not None:
        row.next_at = timezone.now() + LATER[min(row.attempts, len(LATER) - 1)]
        row.attempts += 1
        row.save(update_fields=["next_at", "attempts"])
    return row


def _post_delivery(delivery: WebhookDelivery) -> tuple[int | None, str]:
    """Return the status and the problem; redirects are not followed, and the answer's body is not read."""
    if not delivery.webhook.is_active:
        return None, _("The webhook was switched off.")
    url, body, now = delivery.webhook.url, json.dumps(delivery.payload).encode(), int(time.time())
    try:
        signed = sign_message(open_webhook_secret(delivery.webhook), str(delivery.pk), now, body)
        headers = {
            "Content-Type": "application/json", "User-Agent": AGENT,
            "webhook-id": str(delivery.pk), "webhook-timestamp": str(now), "webhook-signature": signed,
        }  # fmt: skip
        timeout = (CONNECT_S, SILENCE_S)
        with (
            HttpSession(build_http_service_policy(url)) as session,
            session.post(
                url, data=body, headers=headers, stream=True, allow_redirects=False, timeout=timeout
            ) as answer,
        ):
            if 200 <= answer.status_code < 300:
                return answer.status_code, ""
            return answer.status_code, _("The address answered with status %(n)s.") % {"n": answer.status_code}
    except SecretLost as error:
        return None, str(error)
    except (requests.RequestException, HTTPError, OSError, ValueError) as error:
        refusal = find_refusal(error)
        return None, str(refusal) if refusal else _("The address does not answer (%(why)s).") % {
            "why": type(error).__name__
        }
