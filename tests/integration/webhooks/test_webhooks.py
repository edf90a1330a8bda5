"""Webhooks against a real receiver: what is told to whom, how it is signed, tried again, given up, and looked at in the admin."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from agent.conversations.feedback import rate_answer
from agent.models import Message, MessageRole, Rating, Session
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.version import VERSION
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import DeliveryState, Source, Trigger, Webhook, WebhookDelivery, WebhookEvent
from knowledge.services.access import set_discoverable
from knowledge.services.access_requests import request_access
from knowledge.sources.runs import finish_source_run, start_source_run
from knowledge.webhooks.announcing import record_delivery
from knowledge.webhooks.sending import LATER, delete_old_deliveries, list_due_deliveries, send_delivery
from knowledge.webhooks.setting_up import save_webhook
from knowledge.webhooks.tasks import send_due_webhooks, send_webhook
from tests.factories import make_base, make_document, make_folder, make_user, newest_version
from tests.webhook_receiver import Receiver, receiving

pytestmark = pytest.mark.django_db
SITE = "https://knowledge.example.com"


@pytest.fixture
def receiver(settings: LazySettings) -> Iterator[Receiver]:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    with receiving() as made:
        yield made


def make_webhook(receiver: Receiver, *events: WebhookEvent) -> tuple[Webhook, str]:
    row = Webhook(
        name="Desk", url=receiver.url, events=[str(event) for event in events or [WebhookEvent.DOCUMENT_READY]]
    )
    return row, save_webhook(None, row, site=SITE)


def told(receiver: Receiver) -> list[dict[str, Any]]:
    return [json.loads(body) for _headers, body in receiver.came]


def delivered() -> list[WebhookDelivery]:
    """All that waits, sent once, in the order in which it happened."""
    return [done for row in WebhookDelivery.objects.order_by("created_at") if (done := send_delivery(row.pk))]


def test_each_event_is_told_with_ids_and_addresses_and_no_content(receiver: Receiver) -> None:
    make_webhook(receiver, *(event for event in WebhookEvent if event != WebhookEvent.PING))
    base, reader = make_base("Salaries"), make_user("reader")
    document = make_document(
        base, "board.md", "# Salaries\n\nThe director earns 420,000 euros.", title="Pay", ingested=True
    )
    broken = make_document(base, "broken.pdf", b"%PDF-1.4 nothing")
    run_ingestion(newest_version(broken).pk)
    source = Source.unscoped.create(name="Wiki", folder=make_folder(base), kind="folder", settings={"path": "/secret"})
    run = start_source_run(source, Trigger.HAND)
    assert run is not None
    finish_source_run(run, problem="The folder /secret does not exist.")
    folder = make_folder(base, "Payroll")
    set_discoverable(None, folder, is_discoverable=True)
    asked = request_access(Principal.of(reader), folder_id=folder.pk, reason="May payroll")
    answer = make_answer(reader)
    rate: dict[str, Any] = {"session_id": answer.session_id, "message_id": answer.pk, "comment": "All wrong."}
    rate_answer(Principal.of(reader), rating=Rating.HELPFUL, **rate)
    rate_answer(Principal.of(reader), rating=Rating.NOT_HELPFUL, **rate)
    assert {row.state for row in delivered()} == {DeliveryState.SENT}
    ids = {"knowledge_base_id": str(base.pk)}
    assert [(item["type"], item["data"]) for item in told(receiver)] == [
        ("document.ready", ids | {"document_id": str(document.pk), "version": 1, "url": f"{SITE}/documents/{document.pk}/"}),
        (
            "document.failed",
            ids | {
                "document_id": str(broken.pk), "version": 1, "reason": "damaged",
                "url": f"{SITE}/documents/{broken.pk}/",
            },
        ),
        (
            "source.ended",
            {"source_id": str(source.pk), "run_id": run.pk, "state": "failed", "url": f"{SITE}/admin/sources/{source.pk}/"},
        ),
        (
            "access.asked",
            {
                "folder_id": str(folder.pk), "request_id": asked.pk, "user_id": reader.pk,
                "url": f"{SITE}/requests/waiting/",
            },
        ),
        (
            "answer.rated_down",
            {
                "session_id": str(answer.session_id), "message_id": str(answer.pk), "fault": "",
                "url": f"{SITE}/admin/answers/{answer.pk}/",
            },
        ),
    ]  # fmt: skip
    everything = b"".join(body for _headers, body in receiver.came)
    assert not [
        word for word in (b"Salaries", b"420,000", b"Pay", b"/secret", b"May payroll", b"wrong") if word in everything
    ]


def make_answer(user: User) -> Message:
    session = Session.objects.create(user=user)
    question = Message.objects.create(session=session, role=MessageRole.USER, content="?")
    return Message.objects.create(
        session=session, parent=question, role=MessageRole.ASSISTANT, content="!", stop_reason="answered"
    )


def test_a_delivery_is_signed_as_standard_webhooks_says(receiver: Receiver) -> None:
    row, secret = make_webhook(receiver)
    assert secret.startswith("whsec_")
    assert secret not in row.encrypted_secret
    delivery = record_delivery(row, WebhookEvent.PING, "/", {})
    with time_machine.travel("2026-11-26T08:00:00Z", tick=False):
        WebhookDelivery.objects.update(next_at=timezone.now())
        assert send_delivery(delivery.pk) is not None
    ((headers, body),) = receiver.came
    moment = "1795680000"
    assert (headers["webhook-id"], headers["webhook-timestamp"]) == (str(delivery.pk), moment)
    signed = f"{delivery.pk}.{moment}.".encode() + body
    right = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
    assert headers["user-agent"] == f"EnterpriseKnowledgeCopilot/{VERSION}"
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(right).decode()}"
    assert save_webhook(None, row, site=SITE) == ""
    assert save_webhook(None, row, site=SITE, renew=True) not in {"", secret}


def test_what_fails_is_tried_later_and_later_and_given_up(receiver: Receiver) -> None:
    row, _secret = make_webhook(receiver)
    receiver.statuses = [500]
    delivery = record_delivery(row, WebhookEvent.DOCUMENT_READY, "/", {})
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for attempt, later in enumerate((*LATER, None), 1):
            send_webhook(str(delivery.pk))
            send_webhook(str(delivery.pk))  # a message that comes twice sends nothing twice
            delivery.refresh_from_db()
            assert (delivery.attempts, len(receiver.came), delivery.status) == (attempt, attempt, 500)
            if later is not None:
                assert (delivery.state, delivery.next_at) == (DeliveryState.WAITING, timezone.now() + later)
                assert list_due_deliveries() == []
                clock.shift(later)
                assert list_due_deliveries() == [delivery]
    assert (delivery.state, delivery.problem) == (DeliveryState.FAILED, "The address answered with status 500.")


def test_it_goes_through_the_module_for_addresses_and_follows_nothing(
    receiver: Receiver, settings: LazySettings
) -> None:
    row, _secret = make_webhook(receiver)
    with receiving() as other:
        receiver.statuses, receiver.location = [307], other.url
        send_delivery(record_delivery(row, WebhookEvent.PING, "/", {}).pk)
        assert (len(receiver.came), other.came) == (1, [])
    settings.OUTGOING_ALLOW = ("public",)
    refused = send_delivery(record_delivery(row, WebhookEvent.PING, "/", {}).pk)
    assert refused is not None
    assert "COPILOT_OUTGOING_ALLOW" in refused.problem
    assert len(receiver.came) == 1
    with pytest.raises(InvalidInput):
        save_webhook(None, Webhook(name="Inside", url="http://169.254.169.254/", events=["ping"]), site=SITE)


def test_an_inactive_webhook_is_told_nothing_and_old_deliveries_are_forgotten(receiver: Receiver) -> None:
    row, _secret = make_webhook(receiver)
    waiting = record_delivery(row, WebhookEvent.DOCUMENT_READY, "/", {})
    Webhook.objects.update(is_active=False)
    make_document(make_base(), ingested=True)
    assert WebhookDelivery.objects.count() == 1
    send_delivery(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, receiver.came) == (DeliveryState.FAILED, [])
    WebhookDelivery.objects.update(created_at=timezone.now() - timedelta(days=31))
    assert delete_old_deliveries() == 1


def test_what_is_due_is_queued(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    row, _secret = make_webhook(receiver)
    delivery = record_delivery(row, WebhookEvent.PING, "/", {})
    sent: list[Any] = []
    monkeypatch.setattr(send_webhook, "apply_async", lambda args, queue: sent.append((args, queue)))
    send_due_webhooks()
    assert sent == [((str(delivery.pk),), "maintenance")]


def test_an_administrator_sets_up_tries_and_sends_again(receiver: Receiver) -> None:
    page, root = Client(), make_user("root", is_superuser=True)
    page.force_login(root)
    given = {"name": "Desk", "url": receiver.url, "events": ["document.ready"], "is_active": "on"}
    answer = page.post("/admin/knowledge/webhook/add/", given, follow=True)
    assert "shown this once: whsec_" in answer.content.decode()
    row = Webhook.objects.get()
    assert row.site == "http://testserver"
    tried = page.post("/admin/knowledge/webhook/", {"action": "try_it", "_selected_action": [row.pk]}, follow=True)
    assert "accepted the test (204)" in tried.content.decode()
    assert told(receiver)[0]["type"] == "ping"
    WebhookDelivery.objects.update(state=DeliveryState.FAILED, attempts=6)
    address = "/admin/knowledge/webhookdelivery/"
    assert "Desk" in page.get(address).content.decode()
    page.post(address, {"action": "send_again", "_selected_action": [WebhookDelivery.objects.get().pk]})
    assert [(item.state, item.attempts) for item in delivered()] == [(DeliveryState.SENT, 1)]
    wrong = page.post("/admin/knowledge/webhook/add/", given | {"name": "b", "url": "http://169.254.169.254/"})
    assert wrong.status_code == 200
    assert Webhook.objects.count() == 1
    changed = page.post(f"/admin/knowledge/webhook/{row.pk}/change/", given, follow=True).content.decode()
    assert "whsec_" not in changed
