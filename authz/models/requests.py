"""Asking to be let into a folder."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class RequestState(models.TextChoices):
    OPEN = "open", _("waiting for a decision")
    GRANTED = "granted", _("granted")
    REFUSED = "refused", _("refused")


class AccessRequest(models.Model):
    """A person asks the managers of a discoverable folder to let them view it. At most one waits for each person and folder.

    reason: the person's words. answer: the words of whoever decided. ends_at: when the grant that was given ends, if it does.
    """

    folder = models.ForeignKey("knowledge.Folder", models.CASCADE, related_name="+", verbose_name=_("folder"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="access_requests", verbose_name=_("person")
    )
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    state = models.CharField(_("state"), max_length=8, choices=RequestState.choices, default=RequestState.OPEN)
    asked_at = models.DateTimeField(_("asked"), auto_now_add=True)
    decided_at = models.DateTimeField(_("decided"), null=True, editable=False)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+", verbose_name=_("by")
    )
    answer = models.CharField(_("answer"), max_length=500, blank=True)
    ends_at = models.DateTimeField(_("ends"), null=True, blank=True)

    class Meta:
        verbose_name = _("access request")
        verbose_name_plural = _("access requests")
        ordering = ("-asked_at",)
        constraints = [
            models.UniqueConstraint("folder", "user", condition=Q(state="open"), name="one_open_request_a_folder")
        ]

    def __str__(self) -> str:
        return f"{self.user} → {self.folder}"
