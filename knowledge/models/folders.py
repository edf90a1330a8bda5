import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from authz.permissions import Right, list_extra_permissions
from authz.principal import Principal
from authz.rights.folders import select_folder_ids
from authz.rights.managers import Guarded
from copilot_site.lib.text.bilingual import in_language
from copilot_site.lib.text.line_fields import LineField
from knowledge.models.bases import ATTACHMENTS, KnowledgeBase


class FolderKind(models.TextChoices):
    FOLDER = "folder", _("folder")
    DOCUMENT = "document", _("exception for one document")
    ATTACHED = "attached", _("files of a conversation")


class Folder(Guarded):
    """A node of a knowledge base's tree. Each base has one root folder, which carries the base's own name.

    kind: a node of kind `document` carries the rights of one document that differ from its folder's, one of kind `attached` the files of
    a conversation, whose id it has; `Folder.objects` never gives them. owner: of an attached one the person of the conversation.
    inherits: whether grants on folders above and on the base reach this folder and what lies below it; denials always do.
    is_discoverable: whether people who may not see this folder may be told its name.
    chunk_count, term_count: what is published directly in this folder; the planner of a search adds them up.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    knowledge_base = models.ForeignKey(
        KnowledgeBase, models.CASCADE, related_name="folders", verbose_name=_("knowledge base")
    )
    parent = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="children", verbose_name=_("parent")
    )
    name = LineField(_("name"), max_length=200)
    kind = models.CharField(max_length=8, choices=FolderKind.choices, default=FolderKind.FOLDER, editable=False)
    inherits = models.BooleanField(_("inherits rights"), default=True, editable=False)
    is_discoverable = models.BooleanField(_("its name may be shown"), default=False, editable=False)
    chunk_count = models.IntegerField(_("passages"), default=0, editable=False)
    term_count = models.BigIntegerField(_("terms"), default=0, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", editable=False, db_index=False
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    OF_THE_SYSTEM = Q(knowledge_base=ATTACHMENTS)

    class Meta(Guarded.Meta):
        verbose_name = _("folder")
        verbose_name_plural = _("folders")
        ordering = ("name",)
        permissions = list_extra_permissions("folder", "folder")
        constraints = [
            models.UniqueConstraint(
                fields=["parent", "name"], condition=Q(kind=FolderKind.FOLDER), name="folder_name_once_in_parent"
            ),
            models.UniqueConstraint(
                "knowledge_base", condition=Q(parent=None), name="one_root_folder_in_knowledge_base"
            ),
        ]

    def __str__(self) -> str:
        return in_language(self.name)

    @classmethod
    def reach(cls, principal: Principal, right: Right) -> Q:
        return Q(pk__in=select_folder_ids(principal, right), kind=FolderKind.FOLDER)


class FolderLink(models.Model):
    """The closure table of the tree: one row for each folder and each folder above it, itself included at depth 0.

    is_cut: a folder below `ancestor` down to `descendant` does not inherit, so grants on `ancestor` do not reach `descendant`.
    """

    ancestor = models.ForeignKey(Folder, models.CASCADE, related_name="descendant_links")
    descendant = models.ForeignKey(Folder, models.CASCADE, related_name="ancestor_links")
    depth = models.PositiveSmallIntegerField()
    is_cut = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ancestor", "descendant"], include=["is_cut"], name="folder_link_once")
        ]
