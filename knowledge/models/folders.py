import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from authz.folders import folder_ids_with
from authz.managers import GuardedManager
from authz.permissions import Right, extra_permissions
from authz.principal import Principal
from knowledge.models.bases import KnowledgeBase


class Folder(models.Model):
    """A node of a knowledge base's tree. Each base has one root folder, which carries the base's own name.

    `chunk_count` and `term_count` count what is published directly in this folder: the planner of a search adds them up.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    knowledge_base = models.ForeignKey(
        KnowledgeBase, models.CASCADE, related_name="folders", verbose_name=_("knowledge base")
    )
    parent = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="children", verbose_name=_("parent")
    )
    name = models.CharField(_("name"), max_length=200)
    chunk_count = models.IntegerField(default=0, editable=False)
    term_count = models.BigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    unscoped = models.Manager()
    objects = GuardedManager["Folder"]()

    class Meta:
        verbose_name = _("folder")
        verbose_name_plural = _("folders")
        ordering = ("name",)
        default_manager_name = "unscoped"
        base_manager_name = "unscoped"
        permissions = extra_permissions("folder", "folder")
        constraints = [
            models.UniqueConstraint("parent", "name", name="folder_name_once_in_parent"),
            models.UniqueConstraint(
                "knowledge_base", condition=Q(parent=None), name="one_root_folder_in_knowledge_base"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        return Q(pk__in=folder_ids_with(principal, right))


class FolderLink(models.Model):
    """The closure table of the tree: one row for each folder and each folder above it, itself included at depth 0."""

    ancestor = models.ForeignKey(Folder, models.CASCADE, related_name="descendant_links")
    descendant = models.ForeignKey(Folder, models.CASCADE, related_name="ancestor_links")
    depth = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint("ancestor", "descendant", name="folder_link_once")]
