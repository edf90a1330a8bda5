"""The configured language models, each person's usage per day, and the budgets of org units per month."""

from datetime import date
from decimal import Decimal

from django.conf import settings
from django.core.validators import MinValueValidator, URLValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.text.line_fields import LineField


class LanguageModel(models.Model):
    """A served model that people can choose by name. Its key is stored encrypted and is write-only."""

    name = LineField(_("name"), max_length=80, unique=True)
    base_url = models.CharField(
        _("address"), max_length=300, validators=[URLValidator(schemes=["http", "https"])], help_text=_("https://…/v1")
    )
    model = models.CharField(_("model"), max_length=200, help_text=_("The name the service uses."))
    encrypted_key = models.TextField(blank=True, editable=False)
    # host:port on this machine that a superuser allowed for this model, while `base_url` leads there: agent/connections/local_models.py
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


class UnitBudget(models.Model):
    """Limit on spend on language models in a calendar month, by the people of an org unit and of those below it.

    used_tokens, used_cost: of `month`; in a later month nothing is used.
    """

    unit = models.OneToOneField("authz.OrgUnit", models.CASCADE, related_name="+", verbose_name=_("org unit"))
    tokens = models.PositiveBigIntegerField(
        _("tokens per month"), null=True, blank=True, help_text=_("Sent and received. Empty: no limit.")
    )
    cost = models.DecimalField(
        _("cost per month"), max_digits=12, decimal_places=2, null=True, blank=True,
        validators=[MinValueValidator(0)], help_text=_("In the currency of the prices. Empty: no limit."),
    )  # fmt: skip
    month = models.DateField(editable=False)
    used_tokens = models.PositiveBigIntegerField(default=0, editable=False)
    used_cost = models.DecimalField(max_digits=16, decimal_places=6, default=Decimal(0), editable=False)

    class Meta:
        verbose_name = _("budget of a unit")
        verbose_name_plural = _("budgets of units")
        ordering = ("unit__name",)
        constraints = [
            models.CheckConstraint(
                condition=Q(tokens__isnull=False) | Q(cost__isnull=False), name="unit_budget_limits_something",
                violation_error_message=_("Set a limit of tokens, of cost, or of both."),
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return str(self.unit)

    @property
    def used(self) -> tuple[int, Decimal]:
        """Return the tokens and the cost of this month."""
        return (self.used_tokens, self.used_cost) if self.month == find_month_start() else (0, Decimal(0))

    @property
    def share(self) -> float:
        """Return the used part of the limit that is nearer, 1 for all of it."""
        tokens, cost = self.used
        pairs = ((tokens, self.tokens), (cost, self.cost))
        return max(float(used) / float(most) if most else 1.0 for used, most in pairs if most is not None)


def find_month_start() -> date:
    """Return the first day of the month (in the site's time zone)."""
    return timezone.localdate().replace(day=1)
