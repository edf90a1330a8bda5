"""Grants, as guardian's direct-foreign-key permission models: a grant goes when its folder goes."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase


class FolderUserGrant(UserObjectPermissionBase):
    content_object = models.ForeignKey("knowledge.Folder", models.CASCADE, related_name="user_grants")

    class Meta(UserObjectPermissionBase.Meta):
        verbose_name = _("right of a person on a folder")
        verbose_name_plural = _("rights of persons on folders")


class FolderGroupGrant(GroupObjectPermissionBase):
    content_object = models.ForeignKey("knowledge.Folder", models.CASCADE, related_name="group_grants")

    class Meta(GroupObjectPermissionBase.Meta):
        verbose_name = _("right of a group on a folder")
        verbose_name_plural = _("rights of groups on folders")


class KnowledgeBaseUserGrant(UserObjectPermissionBase):
    content_object = models.ForeignKey("knowledge.KnowledgeBase", models.CASCADE, related_name="user_grants")

    class Meta(UserObjectPermissionBase.Meta):
        verbose_name = _("right of a person on a knowledge base")
        verbose_name_plural = _("rights of persons on knowledge bases")


class KnowledgeBaseGroupGrant(GroupObjectPermissionBase):
    content_object = models.ForeignKey("knowledge.KnowledgeBase", models.CASCADE, related_name="group_grants")

    class Meta(GroupObjectPermissionBase.Meta):
        verbose_name = _("right of a group on a knowledge base")
        verbose_name_plural = _("rights of groups on knowledge bases")


class ApiToken(models.Model):
    """A key for programs. The secret is shown once; only its SHA-256 stays here."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=100)
    prefix = models.CharField(_("prefix"), max_length=12, unique=True)
    sha256 = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"))
    last_used_at = models.DateTimeField(_("last used"), null=True, editable=False)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
