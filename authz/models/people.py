"""Org units and roles, carried by Django's groups; and what the company's sign-in and directories say of people and groups."""

from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_site.lib.text.line_fields import LineField


class UnitKind(models.TextChoices):
    DEPARTMENT = "department", _("department")
    PROJECT = "project", _("project")


class OrgUnit(models.Model):
    """A department or project. Its group has its name and id; its members also count as members of every unit above."""

    group = models.OneToOneField(Group, models.CASCADE, primary_key=True, related_name="org_unit", editable=False)
    name = LineField(_("name"), max_length=150, unique=True)
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
    """A function of people, in any unit. Its group has its name and id; the group's members have the role."""

    group = models.OneToOneField(Group, models.CASCADE, primary_key=True, related_name="role", editable=False)
    name = LineField(_("name"), max_length=150, unique=True)

    class Meta:
        verbose_name = _("role")
        verbose_name_plural = _("roles")
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


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


class Directory(models.TextChoices):
    LDAP = "ldap", "LDAP"
    SCIM = "scim", "SCIM"


class DirectoryAccount(models.Model):
    """Marks an account as kept by a directory, which names, disables and enables it; others are managed here alone.

    external_id: the directory's permanent id of the person; "" where SCIM gave none. emails: as SCIM sent them; the
    account has the main one. is_gone: disabled by the directory, which may enable it again; an administrator's
    disabling stays.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    directory = models.CharField(_("directory"), max_length=10, choices=Directory.choices)
    external_id = models.CharField(_("id in the directory"), max_length=250, blank=True)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="directory_account", verbose_name=_("account")
    )
    emails = models.JSONField(default=list, editable=False)
    is_gone = models.BooleanField(_("disabled by the directory"), default=False, editable=False)
    created_at = models.DateTimeField(_("since"), auto_now_add=True)
    changed_at = models.DateTimeField(_("last changed"), auto_now=True)

    class Meta:
        verbose_name = _("account of a directory")
        verbose_name_plural = _("accounts of a directory")
        ordering = ("user__username",)
        permissions = [("provision", "Can keep accounts and groups through SCIM")]
        constraints = [models.UniqueConstraint("external_id", name="ldap_account_once", condition=Q(directory="ldap"))]

    def __str__(self) -> str:
        return f"{self.user} ({self.get_directory_display()})"


class DirectoryGroup(models.Model):
    """Marks a group whose members SCIM sets. is_made: SCIM created the group, and deletes it with the mark."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    external_id = models.CharField(_("id in the directory"), max_length=250, blank=True)
    group = models.OneToOneField(Group, models.CASCADE, related_name="directory_group", verbose_name=_("group"))
    is_made = models.BooleanField(_("made by the directory"), default=False, editable=False)
    created_at = models.DateTimeField(_("since"), auto_now_add=True)
    changed_at = models.DateTimeField(_("last changed"), auto_now=True)

    class Meta:
        verbose_name = _("group of a directory")
        verbose_name_plural = _("groups of a directory")
        ordering = ("group__name",)

    def __str__(self) -> str:
        return self.group.name
