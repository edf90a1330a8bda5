"""A change of a membership, first shown with what it does to the person's access."""

from django.contrib.auth.models import Group, User
from django.db import models
from django.utils.translation import gettext_lazy as _

from authz.holders import bases_about
from authz.impact import Effects
from authz.models import OrgUnit, Role
from authz.principal import Principal
from authz.units import join, leave
from knowledge.governance import dry_run


class Membership(models.TextChoices):
    JOIN = "join", _("Make a member")
    LEAVE = "leave", _("End the membership")


def change_membership(
    by: Principal, user: User, place: OrgUnit | Role | Group, what: Membership, *, confirmed: str = ""
) -> Effects | None:
    """Let a person join or leave, or show what that would do. Raises PermissionDenied, InvalidInput (the last manager of a place)."""
    change = join if what is Membership.JOIN else leave
    return dry_run.carry_out(
        by,
        lambda: change(by, place, user=user),
        what=what.value,
        target=user,
        base_ids=bases_about(place if isinstance(place, Group) else place.group),
        confirmed=confirmed,
    )
