"""Claims from the company's sign-in, and their mapping to groups."""

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.utils.translation import gettext_lazy as _


class ClaimMapping(models.Model):
    """Makes people with `value` in their groups claim members of `group`, which may carry an org unit or a role.

    provider: id of the sign-in it applies to; "" for all. One value may map to several groups.
    """

    provider = models.CharField(
        _("sign-in"), max_length=200, blank=True, help_text=_("Its provider id; empty: every company sign-in.")
    )
    value = models.CharField(_("value of the groups claim"), max_length=250)
    group = models.ForeignKey(Group, models.CASCADE, related_name="+", verbose_name=_("member of"))

    class Meta:
        verbose_name = _("claim mapping")
        verbose_name_plural = _("claim mappings")
        ordering = ("value", "group__name")
        constraints = [models.UniqueConstraint("provider", "value", "group", name="claim_mapping_once")]

    def __str__(self) -> str:
        return f"{self.value} → {self.group}"


class ClaimMembership(models.Model):
    """Marks a membership given by a mapping: the next sign-in may end it. One given by hand has no mark and stays."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="claim_memberships")
    group = models.ForeignKey(Group, models.CASCADE, related_name="+")
    provider = models.CharField(_("sign-in"), max_length=200)
    given_at = models.DateTimeField(_("since"), auto_now_add=True)

    class Meta:
        verbose_name = _("membership by claim")
        verbose_name_plural = _("memberships by claim")
        ordering = ("user__username", "group__name")
        constraints = [models.UniqueConstraint("user", "group", name="claim_membership_once")]

    def __str__(self) -> str:
        return f"{self.user}: {self.group}"


class UnmappedClaim(models.Model):
    """A value from a groups claim that has no mapping yet."""

    provider = models.CharField(_("sign-in"), max_length=200)
    value = models.CharField(_("value of the groups claim"), max_length=250)
    seen_at = models.DateTimeField(_("last seen"))

    class Meta:
        verbose_name = _("unmapped claim")
        verbose_name_plural = _("unmapped claims")
        ordering = ("-seen_at",)
        constraints = [models.UniqueConstraint("provider", "value", name="unmapped_claim_once")]

    def __str__(self) -> str:
        return self.value
