"""Grants, denials and requests for access, and snapshots of a person's access, which decide nothing.

Grants are guardian's direct-foreign-key permission models, deleted with their folder. Denials are a separate model, so
that no code of guardian's can take one for a grant.
"""

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from authz.permissions import Right
from copilot_site.lib.text.line_fields import LineField


class Granted(models.Model):
    """The time, giver and end of a grant; without an end it counts until it is revoked.

    origin: the outside source that gave it and ends it; None for people and the system. origin_name: for people.
    """

    expires_at = models.DateTimeField(_("ends"), null=True, blank=True)
    granted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+", verbose_name=_("by")
    )
    granted_at = models.DateTimeField(_("since"), db_default=Now(), editable=False)

    origin = models.UUIDField(null=True, editable=False, db_index=True)
    origin_name = LineField(max_length=100, default="", editable=False)

    class Meta:
        abstract = True


class FolderUserGrant(Granted, UserObjectPermissionBase):
    content_object = models.ForeignKey("knowledge.Folder", models.CASCADE, related_name="user_grants")

    class Meta(UserObjectPermissionBase.Meta):
        verbose_name = _("right of a person on a folder")
        verbose_name_plural = _("rights of persons on folders")


class FolderGroupGrant(Granted, GroupObjectPermissionBase):
    content_object = models.ForeignKey("knowledge.Folder", models.CASCADE, related_name="group_grants")

    class Meta(GroupObjectPermissionBase.Meta):
        verbose_name = _("right of a group on a folder")
        verbose_name_plural = _("rights of groups on folders")


class KnowledgeBaseUserGrant(Granted, UserObjectPermissionBase):
    content_object = models.ForeignKey("knowledge.KnowledgeBase", models.CASCADE, related_name="user_grants")

    class Meta(UserObjectPermissionBase.Meta):
        verbose_name = _("right of a person on a knowledge base")
        verbose_name_plural = _("rights of persons on knowledge bases")


class KnowledgeBaseGroupGrant(Granted, GroupObjectPermissionBase):
    content_object = models.ForeignKey("knowledge.KnowledgeBase", models.CASCADE, related_name="group_grants")

    class Meta(GroupObjectPermissionBase.Meta):
        verbose_name = _("right of a group on a knowledge base")
        verbose_name_plural = _("rights of groups on knowledge bases")


class Denial(models.Model):
    """One right denied to one person or group on one place and below it, whatever is granted."""

    folder = models.ForeignKey("knowledge.Folder", models.CASCADE, null=True, blank=True, related_name="denials")
    knowledge_base = models.ForeignKey(
        "knowledge.KnowledgeBase", models.CASCADE, null=True, blank=True, related_name="denials"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="denials", verbose_name=_("user")
    )
    group = models.ForeignKey(
        Group, models.CASCADE, null=True, blank=True, related_name="denials", verbose_name=_("group")
    )
    right = models.CharField(_("right"), max_length=10, choices=Right.choices)
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    denied_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+", verbose_name=_("by")
    )
    denied_at = models.DateTimeField(_("since"), db_default=Now(), editable=False)

    class Meta:
        verbose_name = _("denial")
        verbose_name_plural = _("denials")
        constraints = [
            models.CheckConstraint(
                condition=Q(folder=None) ^ Q(knowledge_base=None), name="denial_on_a_folder_or_a_knowledge_base"
            ),
            models.CheckConstraint(condition=Q(user=None) ^ Q(group=None), name="denial_to_a_person_or_a_group"),
            models.UniqueConstraint(
                fields=["folder", "knowledge_base", "user", "group", "right"], nulls_distinct=False, name="denial_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user or self.group}: {self.get_right_display()}"


class RequestState(models.TextChoices):
    OPEN = "open", _("waiting for a decision")
    GRANTED = "granted", _("granted")
    REFUSED = "refused", _("refused")


class AccessRequest(models.Model):
    """A request to the managers of a discoverable folder to view it; at most one is open per person and folder.

    reason: the person's words. answer: the words of whoever decided. ends_at: the end of the grant given, if any.
    seen_at: when the person has read the decision.
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
    seen_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = _("access request")
        verbose_name_plural = _("access requests")
        ordering = ("-asked_at",)
        constraints = [
            models.UniqueConstraint("folder", "user", condition=Q(state="open"), name="one_open_request_a_folder")
        ]

    def __str__(self) -> str:
        return f"{self.user} → {self.folder}"


class VisibleFolders(models.Model):
    """A set of folders, shared by all people who see exactly these. packed: their ids, 16 bytes each, ascending."""

    sha256 = models.CharField(primary_key=True, max_length=64)
    count = models.PositiveIntegerField()
    packed = models.BinaryField()


class PermissionSnapshot(models.Model):
    """A person with groups, roles, org units and visible folders; equal states share one row.

    id: `perm_` with the day it was first taken and the beginning of its hash. principal: the fields of `Principal`, lists sorted.
    The person is named and not linked: a snapshot outlives the account.
    """

    id = models.CharField(primary_key=True, max_length=40)
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    user_id = models.BigIntegerField(db_index=True)
    username = models.CharField(_("person"), max_length=150)
    principal = models.JSONField()
    folders = models.ForeignKey(VisibleFolders, models.PROTECT, related_name="+")
    taken_at = models.DateTimeField(_("first taken"), auto_now_add=True)

    class Meta:
        verbose_name = _("permission snapshot")
        verbose_name_plural = _("permission snapshots")
        ordering = ("-taken_at",)
        permissions = [("oversee", "Can see as another person and replay answers")]

    def __str__(self) -> str:
        return self.id
