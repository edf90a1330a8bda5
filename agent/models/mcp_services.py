"""Outside services, their allowed tools, and the approvals asked of people."""

import json
import uuid
from datetime import timedelta

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.text.line_fields import LineField
from copilot_site.lib.text.plain_text import show_invisible_characters

NAME = RegexValidator(r"^[a-z][a-z0-9-]{0,23}$", _("Small letters, digits and hyphens, at most 24."))
LIVES = timedelta(hours=24)  # lifetime of a request for approval


class Transport(models.TextChoices):
    HTTP = "http", _("streamable HTTP")
    SSE = "sse", _("HTTP with server-sent events (older services)")
    LOCAL = "local", _("a command from the server's file")


class OAuthGrant(models.TextChoices):
    """The OAuth grant types for a service's tokens, by their names in OAuth."""

    CLIENT_CREDENTIALS = "client_credentials", _("this site asks for them as itself (client credentials)")
    AUTHORIZATION_CODE = "authorization_code", _("an administrator signs in (authorization code)")


class McpService(models.Model):
    """An outside service. name: the prefix of its tools' names for models; immutable, as profiles name the tools.

    tools: their descriptions as last fetched by an administrator, which models get: [{name, title, description, schema,
    is_read_only}]. allowed_tools: tools that may be used; unasked_tools: those among them that run without approval.
    The secret is sent in the header `header_name`; with an `oauth_issuer` it is the secret of `oauth_client_id` there,
    and the header carries a token. It is sealed for the address, issuer and client.
    """

    name = LineField(_("name"), max_length=24, unique=True, validators=[NAME])
    transport = models.CharField(_("way"), max_length=8, choices=Transport.choices, default=Transport.HTTP)
    url = models.CharField(_("address"), max_length=300, blank=True, help_text="https://…/mcp")
    header_name = models.CharField(
        _("header of the key"),
        max_length=60,
        default="Authorization",
        validators=[RegexValidator(r"^[A-Za-z0-9-]+$")],
    )
    oauth_grant = models.CharField(
        _("tokens (OAuth)"), max_length=24, choices=OAuthGrant.choices, default=OAuthGrant.CLIENT_CREDENTIALS
    )
    oauth_issuer = models.CharField(
        _("issuer of tokens"),
        max_length=300,
        blank=True,
        help_text=_(
            "https://… of who gives this site tokens for the service. Empty: the key stands in its header; where an administrator signs in,"
            " the service names the issuer."
        ),
    )
    oauth_client_id = models.CharField(
        _("client id"),
        max_length=200,
        blank=True,
        help_text=_(
            "What the issuer calls this site; the key below is its secret. Empty, where an administrator signs in: this site registers"
            " itself."
        ),
    )
    oauth_scope = models.CharField(
        _("scopes"), max_length=300, blank=True, help_text=_("By spaces; empty: what the service asks for.")
    )
    encrypted_secret = models.TextField(blank=True, editable=False)
    encrypted_sign_in = models.TextField(blank=True, editable=False)
    signed_in_at = models.DateTimeField(_("signed in"), null=True, editable=False)
    tools = models.JSONField(default=list, editable=False)
    allowed_tools = models.JSONField(_("allowed tools"), default=list, blank=True)
    unasked_tools = models.JSONField(_("tools that run without asking"), default=list, blank=True)
    is_enabled = models.BooleanField(_("enabled"), default=True)
    read_at = models.DateTimeField(_("tools read"), null=True, editable=False)

    class Meta:
        verbose_name = _("service with tools (MCP)")
        verbose_name_plural = _("services with tools (MCP)")
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def is_signed_in_to(self) -> bool:
        """Return whether its tokens come from an administrator's sign-in."""
        return self.oauth_grant == OAuthGrant.AUTHORIZATION_CODE


class ApprovalState(models.TextChoices):
    PENDING = "pending", _("waits for you")
    ALLOWED = "allowed", _("allowed")
    REFUSED = "refused", _("not allowed")
    USED = "used", _("done")


class ToolApproval(models.Model):
    """A call that needs a person's approval. It is made at most once, with exactly these arguments.

    message: the answer that asks. question: of the run, which continues after the approval, in the same scope and with
    the profile of that name.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    message = models.ForeignKey("agent.Message", models.CASCADE, related_name="+")
    tool = models.CharField(max_length=80)
    title = LineField(max_length=200)
    arguments = models.JSONField()
    question = models.TextField()
    scope = models.JSONField(default=dict)
    profile = models.CharField(max_length=80, blank=True)
    language = models.CharField(max_length=10)
    state = models.CharField(max_length=10, choices=ApprovalState.choices, default=ApprovalState.PENDING)
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("created_at",)

    @property
    def is_open(self) -> bool:
        """Return whether it can still be decided."""
        return self.state == ApprovalState.PENDING and self.created_at > timezone.now() - LIVES

    @property
    def shown_arguments(self) -> list[tuple[str, str]]:
        """Return names and values as they are sent, with invisible characters made visible."""
        texts = {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in self.arguments.items()
        }
        return [(show_invisible_characters(name), show_invisible_characters(text)) for name, text in texts.items()]
