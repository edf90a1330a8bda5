"""Models of the web search service and of the web hosts that may be read."""

from contextlib import suppress

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, URLValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.outgoing.addresses import parse_entries
from copilot_site.lib.text.line_fields import LineField

MAX_RESULTS = 10


class WebSearchProvider(models.Model):
    """A web search service. Its key is stored encrypted and is write-only. kind: of `agent.web.search_kinds`."""

    name = LineField(_("name"), max_length=80, unique=True)
    kind = models.CharField(_("kind"), max_length=40)
    base_url = models.CharField(_("address"), max_length=300, validators=[URLValidator(schemes=["http", "https"])])
    encrypted_key = models.TextField(blank=True, editable=False)
    most_results = models.PositiveSmallIntegerField(
        _("most results"),
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_RESULTS)],
        help_text=_("Of one search."),
    )
    is_used = models.BooleanField(_("used"), default=False, help_text=_("At most one is used."))
    asks_first = models.BooleanField(
        _("ask before a question leaves"),
        default=False,
        help_text=_("People see the exact words and allow each search before they leave the company."),
    )

    class Meta:
        verbose_name = _("search of the web")
        verbose_name_plural = _("searches of the web")
        ordering = ("name",)
        constraints = [models.UniqueConstraint("is_used", condition=Q(is_used=True), name="one_web_search_used")]

    def __str__(self) -> str:
        return self.name


def check_host(entry: str) -> None:
    """Raise ValidationError for anything but a host, `*.` and a host, or an address."""
    try:
        found = parse_entries(entry)
    except ValueError:
        found = ()
    if len(found) != 1:
        raise ValidationError(_("Write one host: example.com, or *.example.com for all below it."))


class WebHost(models.Model):
    """An allowed or forbidden web host. Where any host is allowed, no other may be read; forbidden hosts never are."""

    entry = models.CharField(
        _("host"),
        max_length=253,
        unique=True,
        validators=[check_host],
        help_text=_("example.com, or *.example.com for all below it."),
    )
    is_allowed = models.BooleanField(
        _("allowed"),
        default=True,
        help_text=_(
            "Not ticked: forbidden, even if others are allowed. If any host is allowed, only allowed hosts are read."
        ),
    )
    note = LineField(_("note"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("host of the web")
        verbose_name_plural = _("hosts of the web")
        ordering = ("entry",)

    def __str__(self) -> str:
        return self.entry

    def clean(self) -> None:
        """Normalise the entry for comparison: lower case, IDN as xn--; an invalid one is left for its field to report."""
        with suppress(ValueError):
            self.entry = next(iter(parse_entries(self.entry)), self.entry)
