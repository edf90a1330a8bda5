"""Who belongs where, and what is granted and denied.

Org units and roles are carried by Django's groups. Grants are guardian's direct-foreign-key permission models: a grant goes
when its folder goes. Denials are a model of their own, so that nothing of guardian's can take one for a grant.
"""

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from authz import request_models, snapshot_models  # noqa: F401 - Django looks for models in this file
from authz.claim_models import ClaimMapping, ClaimMembership, UnmappedClaim
from authz.permissions import Right
from authz.token_models import ApiToken, ServiceAccount, TokenUse

__all__ = [
    "ApiToken",
    "ClaimMapping",
    "ClaimMembership",
    "Denial",
    "FolderGroupGrant",
    "FolderUserGrant",
    "KnowledgeBaseGroupGrant",
    "KnowledgeBaseUserGrant",
    "OrgUnit",
    "OrgUnitLink",
    "Role",
    "ServiceAccount",
    "TokenUse",
    "UnitKind",
    "UnmappedClaim",
]


class UnitKind(models.TextChoices):
    DEPARTMENT = "department", _("department")
    PROJECT = "project", _("project")


class OrgUnit(models.Model):
    """A department or project. Its group has its name and id; whoever is in it counts as a member of every unit above, too."""

    group = models.OneToOneField(Group, models.CASCADE, primary_key=True, related_name="org_unit", editable=False)
    name = models.CharField(_("name"), max_length=150, unique=True)
    kind = models.CharField(_("kind"), max_length=12, choices=UnitKind.choices, default=UnitKind.DEPARTMENT)
    parent = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="children", verbose_name=_("belongs to")
    )

    class Meta:
        verbose_name = _("org unit")
        verbose_name_plural = _("org units")
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class OrgUnitLink(models.Model):
    """The closure table of the units: one row for each unit and each unit above it, itself included at depth 0."""

    ancestor = models.ForeignKey(OrgUnit, models.CASCADE, related_name="descendant_links")
    descendant = models.ForeignKey(OrgUnit, models.CASCADE, related_name="ancestor_links")
    depth = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint("ancestor", "descendant", name="org_unit_link_once")]


class Role(models.Model):
    """What people are, wherever they belong. Its group has its name and id; whoever is in the group has the role."""

    group = models.OneToOneField(Group, models.CASCADE, primary_key=True, related_name="role", editable=False)
    name = models.CharField(_("name"), max_length=150, unique=True)

    class Meta:
        verbose_name = _("role")
        verbose_name_plural = _("roles")
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Granted(models.Model):
    """When a grant was given, by whom, and until when it counts; without an end it counts until it is taken back."""

    expires_at = models.DateTimeField(_("ends"), null=True, blank=True)
    granted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+", verbose_name=_("by")
    )
    granted_at = models.DateTimeField(_("since"), db_default=Now(), editable=False)

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
    """One right that one person or group does not have on one place, or below it, whatever is granted."""

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
