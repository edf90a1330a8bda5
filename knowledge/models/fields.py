import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from authz.managers import GuardedManager
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.line_fields import LineField
from knowledge.models.bases import KnowledgeBase


class FieldKind(models.TextChoices):
    """What a field of documents holds. Numbers and dates can be compared."""

    TEXT = "text", _("text")
    NUMBER = "number", _("number")
    DATE = "date", _("date")
    CHOICE = "choice", _("one of a list")


class DocumentField(models.Model):
    """What a base wants to be known of each of its documents. Its values stand in `Document.metadata`, under its name.

    choices: of a field of that kind. Whoever sees the base sees what its fields are called.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    knowledge_base = models.ForeignKey(KnowledgeBase, models.CASCADE, related_name="+")
    name = LineField(_("name"), max_length=60)
    kind = models.CharField(_("kind"), max_length=6, choices=FieldKind.choices, default=FieldKind.TEXT)
    choices = models.JSONField(default=list)
    position = models.PositiveSmallIntegerField(default=0)

    objects = GuardedManager["DocumentField"]()
    unscoped = models.Manager["DocumentField"]()

    class Meta:
        verbose_name = _("field of documents")
        verbose_name_plural = _("fields of documents")
        ordering = ("position", "name")
        default_manager_name = base_manager_name = "unscoped"
        constraints = [models.UniqueConstraint("knowledge_base", "name", name="field_once_in_base")]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        bases = KnowledgeBase.objects.reachable_by(principal, right)
        return Q(knowledge_base_id__in=bases.values("pk"))
