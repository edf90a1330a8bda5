import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.text.line_fields import LineField


class WebhookEvent(models.TextChoices):
    """The events sent to other systems. PING: a trial by hand."""

    DOCUMENT_READY = "document.ready", _("a document is ready")
    DOCUMENT_FAILED = "document.failed", _("a document could not be read")
    SOURCE_ENDED = "source.ended", _("a source of documents was read")
    ACCESS_ASKED = "access.asked", _("someone asks for access")
    ANSWER_RATED_DOWN = "answer.rated_down", _("an answer did not help")
    PING = "ping", _("a test")


class DeliveryState(models.TextChoices):
    WAITING = "waiting", _("waiting")
    SENT = "sent", _("sent")
    FAILED = "failed", _("failed")


class Webhook(models.Model):
    """An address that events are sent to. encrypted_secret: sealed for this row. site: the base of links in messages."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = LineField(_("name"), max_length=100, unique=True)
    url = models.CharField(_("address"), max_length=500)
    events = models.JSONField(_("events"), default=list)
    encrypted_secret = models.TextField(blank=True, editable=False)
    site = models.CharField(max_length=300, blank=True, editable=False)
    is_active = models.BooleanField(_("active"), default=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class WebhookDelivery(models.Model):
    """A message to a webhook. payload: ids and addresses, no content. next_at: when it is tried (again).

    attempts: are counted before they are made. status: of HTTP, where one came. problem: why the last one failed, "" where it did not.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="+", verbose_name=_("webhook"))
    event = models.CharField(_("event"), max_length=20, choices=WebhookEvent.choices)
    payload = models.JSONField(_("what is sent"))
    state = models.CharField(_("state"), max_length=7, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    status = models.PositiveSmallIntegerField(_("HTTP status"), null=True)
    problem = models.CharField(_("problem"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("happened"), auto_now_add=True)
    next_at = models.DateTimeField(_("next attempt"))
    sent_at = models.DateTimeField(_("sent"), null=True)

    class Meta:
        verbose_name = _("delivery of a webhook")
        verbose_name_plural = _("deliveries of webhooks")
        ordering = ("-created_at", "pk")
        indexes = [
            models.Index("next_at", name="delivery_waiting", condition=models.Q(state="waiting")),
            models.Index("created_at", name="delivery_age"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
