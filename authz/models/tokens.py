"""Keys for programs, and the accounts that only programs use."""

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from authz.scopes import DEFAULT_SCOPES, IN_NO_FOLDER, TokenScope
from copilot_site.lib.text.line_fields import LineField


def default_scopes() -> list[str]:
    return [scope.value for scope in DEFAULT_SCOPES]


class ServiceAccount(models.Model):
    """Marks a user row as a program's: it holds rights like a person, and neither a password nor a session lets it in.

    keeper: the person responsible for it; the account stays when they leave.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="service_account")
    purpose = LineField(_("purpose"), max_length=200)
    keeper = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("keeper")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("service account")
        verbose_name_plural = _("service accounts")
        ordering = ("user__username",)

    def __str__(self) -> str:
        return self.user.username


class ApiToken(models.Model):
    """A key for programs. The secret is shown once; only its SHA-256 stays here.

    scopes: values of `authz.scopes.TokenScope`. folder: of documents it reaches this folder and what lies below; it goes with the folder,
    because a token that outlived its limit would have none. A revoked token's row stays to tell its holder why it fails.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = LineField(_("name"), max_length=100)
    prefix = models.CharField(_("prefix"), max_length=12, unique=True)
    sha256 = models.CharField(max_length=64, editable=False)
    scopes = ArrayField(
        models.CharField(max_length=10, choices=TokenScope.choices), verbose_name=_("scopes"), default=default_scopes
    )
    folder: Any = models.ForeignKey(
        "knowledge.Folder", models.CASCADE, null=True, blank=True, related_name="+", verbose_name=_("folder")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"))
    revoked_at = models.DateTimeField(_("revoked"), null=True, editable=False)
    last_used_at = models.DateTimeField(_("last used"), null=True, editable=False)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def reaches_data(self) -> bool:
        """Tell whether it opens business data, which belong to no folder: a limit to a folder does not narrow them."""
        return not IN_NO_FOLDER.isdisjoint(self.scopes)


class TokenUse(models.Model):
    """The last time that a token's use from an address was audited. address: "" where none is known."""

    token = models.ForeignKey(ApiToken, models.CASCADE, related_name="uses")
    address = models.CharField(max_length=45, blank=True)  # the longest IPv6 form
    is_refused = models.BooleanField(default=False)
    recorded_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("token", "address", "is_refused", name="token_use_once_for_an_address")]
