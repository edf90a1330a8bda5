"""Models of privacy: who may read questions without a name, and who looked at a conversation."""

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from agent.models.conversations import Session

MAX_DELAY = 180  # days


class PrivacySettings(models.Model):
    """Settings of privacy for questions; one row, or none for the defaults.

    lists_every_question: whether lists of unanswered questions show those of fewer than three people that nobody
    shared. told_after_days: how long after a look at a conversation its owner is told.
    """

    lists_every_question = models.BooleanField(_("list every unanswered question"), default=False)
    told_after_days = models.PositiveSmallIntegerField(
        _("days until people are told"), default=0, validators=[MaxValueValidator(MAX_DELAY)]
    )

    class Meta:
        verbose_name = _("privacy setting")
        verbose_name_plural = _("privacy settings")

    def __str__(self) -> str:
        return "privacy"


class ConversationView(models.Model):
    """A look of an auditor or administrator at somebody's conversation.

    told_at: from when its owner is told, fixed at the look. seen_at: when the owner has read that.
    """

    session = models.ForeignKey(Session, models.CASCADE, related_name="views")
    viewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    viewed_at = models.DateTimeField(auto_now_add=True)
    told_at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("look at a conversation")
        verbose_name_plural = _("looks at conversations")
        ordering = ("-viewed_at",)
        indexes = [
            models.Index(fields=["session"], condition=models.Q(seen_at=None), name="view_unseen_idx"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
