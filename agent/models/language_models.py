"""The configured language models, and each person's usage per day."""

from decimal import Decimal

from django.conf import settings
from django.core.validators import MinValueValidator, URLValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.line_fields import LineField


class LanguageModel(models.Model):
    """A served model that people can choose by name. Its key is stored encrypted and is write-only."""

    name = LineField(_("name"), max_length=80, unique=True)
    base_url = models.CharField(
        _("address"), max_length=300, validators=[URLValidator(schemes=["http", "https"])], help_text=_("https://…/v1")
    )
    model = models.CharField(_("model"), max_length=200, help_text=_("The name the service uses."))
    encrypted_key = models.TextField(blank=True, editable=False)
    # host:port on this machine that a superuser allowed for this model; used while `base_url` leads there (agent/local_models.py)
    local_address = models.CharField(max_length=80, blank=True, default="", editable=False)
    context_tokens = models.PositiveIntegerField(
        _("context"), default=32_000, validators=[MinValueValidator(2_000)], help_text=_("How many tokens fit.")
    )
    price_input = models.DecimalField(
        _("price of input"), max_digits=12, decimal_places=4, default=Decimal(0), help_text=_("Per million tokens.")
    )
    price_output = models.DecimalField(
        _("price of output"), max_digits=12, decimal_places=4, default=Decimal(0), help_text=_("Per million tokens.")
    )
    is_default = models.BooleanField(_("default"), default=False)
    is_enabled = models.BooleanField(_("enabled"), default=True)

    class Meta:
        verbose_name = _("language model")
        verbose_name_plural = _("language models")
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint("is_default", condition=Q(is_default=True), name="one_default_language_model")
        ]

    def __str__(self) -> str:
        return self.name


class DayOfUse(models.Model):
    """The usage of one person's questions on one day (in the site's time zone)."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("person"))
    day = models.DateField(_("day"))
    runs = models.PositiveIntegerField(_("questions"), default=0)
    input_tokens = models.BigIntegerField(_("tokens sent"), default=0)
    output_tokens = models.BigIntegerField(_("tokens received"), default=0)
    cost = models.DecimalField(_("cost"), max_digits=16, decimal_places=6, default=Decimal(0))

    class Meta:
        verbose_name = _("day of use")
        verbose_name_plural = _("use of models")
        ordering = ("-day", "user")
        constraints = [models.UniqueConstraint("user", "day", name="use_once_a_day")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.day}"
