"""Snapshots of a person's access, kept for audit and replay; never read to decide anything."""

from django.db import models
from django.utils.translation import gettext_lazy as _


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
