"""Accounts and groups that a directory of the company keeps."""

from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


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
