"""Models of skills: uploads, reviews, uses, and files made by scripts."""

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.text.line_fields import LineField

NAME_LENGTH, DESCRIPTION_LENGTH = 64, 1024  # of the published format


class Skill(models.Model):
    """A skill by its name. in_use: the active version; None: disabled. profiles: whose runs may use it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = LineField(_("name"), max_length=NAME_LENGTH, unique=True)
    in_use = models.ForeignKey("SkillVersion", models.SET_NULL, null=True, related_name="+")
    profiles: models.ManyToManyField[Any, Any] = models.ManyToManyField(
        "AgentProfile", blank=True, related_name="+", verbose_name=_("assistants")
    )

    class Meta:
        verbose_name = _("skill")
        verbose_name_plural = _("skills")
        ordering = ("name",)
        permissions = [("review_skill", _("Can review skills and switch them on"))]

    def __str__(self) -> str:
        return self.name


class SkillVerdict(models.TextChoices):
    WAITING = "waiting", _("waits for a review")
    APPROVED = "approved", _("approved")
    REFUSED = "refused", _("refused")


class SkillVersion(models.Model):
    """An uploaded version; its content is immutable. archive: a zip of the checked files; sha256: of it.

    paths: of the files, with their sizes in bytes. by, reviewed_by: None where the account is gone; the audit log has
    the names.
    """

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    description = LineField(max_length=DESCRIPTION_LENGTH)
    instructions = models.TextField()
    archive = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    paths = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    verdict = models.CharField(max_length=10, choices=SkillVerdict.choices, default=SkillVerdict.WAITING)
    reviewed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    reviewed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-number",)
        constraints = [models.UniqueConstraint("skill", "number", name="skill_version_once")]

    def __str__(self) -> str:
        return f"{self.skill_id} {self.number}"


class MadeFile(models.Model):
    """A file that a script made for the asker.

    grounds: its sources, as keys of `business.results.visibility.Queried`: without the right to all of them nobody gets
    the file. Deleted with its answer, and after `agent.conversations.made_files.KEPT`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    message = models.ForeignKey("Message", models.CASCADE, related_name="+")
    name = LineField(max_length=120)
    size_bytes = models.PositiveIntegerField()
    content = models.BinaryField()
    grounds = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        ordering = ("created_at", "name")

    def __str__(self) -> str:
        return str(self.pk)
