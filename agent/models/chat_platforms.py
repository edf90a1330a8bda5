"""Models of chat platform bots: their settings, and the messages they received."""

import uuid

from django.conf import settings
from django.core.validators import RegexValidator, URLValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agent.models.conversations import Session
from copilot_site.lib.text.line_fields import LineField


class ChatBot(models.Model):
    """The company's app at a chat platform. Its secrets are stored encrypted, together, and write-only.

    platform: `feishu`, the only one so far. bot_id: the platform's id of the bot. site: of this product, for
    links, without a trailing slash. The event address that the platform calls contains the row's id.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    platform = models.CharField(_("platform"), max_length=40)
    name = LineField(_("name"), max_length=80, unique=True)
    base_url = models.CharField(
        _("address"),
        max_length=300,
        default="https://open.feishu.cn",
        validators=[URLValidator(schemes=["http", "https"])],
        help_text=_("Of its open API: https://open.feishu.cn, or https://open.larksuite.com for Lark."),
    )
    app_id = models.CharField("App ID", max_length=80, validators=[RegexValidator(r"^[\w-]+$")])
    encrypted_secrets = models.TextField(blank=True, editable=False)
    bot_id = models.CharField(max_length=128, blank=True, editable=False)
    takes_contact_mail = models.BooleanField(
        _("mail addresses from contact data count"),
        default=False,
        help_text=_(
            "People are recognised by the company mail address the platform gives them. Tick this only if it "
            "gives none and people cannot change their own contact data; otherwise someone could get another "
            "person's answers."
        ),
    )
    whom_to_ask = LineField(
        _("whom to ask"),
        max_length=200,
        blank=True,
        help_text=_("Shown to people without an account here. Empty: their administrator."),
    )
    is_active = models.BooleanField(_("active"), default=False, help_text=_("It is tested before it is enabled."))
    site = models.CharField(max_length=300, editable=False)

    class Meta:
        verbose_name = _("bot in a chat platform")
        verbose_name_plural = _("bots in chat platforms")
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class ChatMessage(models.Model):
    """One message to a bot, answered once. text: the question, until it is answered; None for non-text messages.

    user: the asker, where they have an account. session, answer_id: where it was answered; the next message of the same
    person in this chat follows it. begins_anew: they asked for a new conversation. claimed_at: the worker's latest
    heartbeat. problem: why there is no answer, in the platform's words or as the name of an error.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    bot = models.ForeignKey(ChatBot, models.CASCADE, related_name="messages")
    event_id = models.CharField(max_length=128)
    chat_id = models.CharField(max_length=128)
    message_id = models.CharField(max_length=128)
    sender_id = models.CharField(max_length=128)
    is_group = models.BooleanField()
    is_outside = models.BooleanField()
    text = models.TextField(null=True)  # noqa: DJ001 - no text is something else than an empty one
    begins_anew = models.BooleanField(default=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    session = models.ForeignKey(Session, models.SET_NULL, null=True, related_name="+")
    answer_id = models.UUIDField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=300, blank=True)
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("message to a bot")
        verbose_name_plural = _("messages to bots")
        ordering = ("-received_at", "id")
        constraints = [models.UniqueConstraint("bot", "event_id", name="chat_message_once")]
        indexes = [
            models.Index(fields=["received_at"], condition=Q(answered_at=None), name="chat_message_open_idx"),
            models.Index(fields=["received_at"], name="chat_message_age_idx"),
            models.Index(fields=["bot", "chat_id", "user", "-received_at"], name="chat_message_chat_idx"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
