"""Org units and roles, carried by Django's groups."""

from django.contrib.auth.models import Group
from django.db import models
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
