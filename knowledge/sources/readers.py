"""Who may read something out there, as people and groups are called here."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from pydantic import AfterValidator

from authz.addresses import accounts_with, folded


@dataclass(frozen=True)
class Readers:
    """Sign-in names and names of groups. Of one who is not known here nothing is said."""

    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()

    def people(self) -> frozenset[str]:
        members = User.objects.filter(groups__name__in=self.groups).values_list("username", flat=True)
        return self.users | frozenset(members)

    def within(self, other: "Readers") -> "Readers":
        """Who may read both: groups that both name, and the people of today who are in both."""
        return Readers(self.people() & other.people(), self.groups & other.groups)


def _pairs(lines: list[str]) -> list[str]:
    """Raises ValueError for a line that is none."""
    if any("=" not in each for each in lines):
        raise ValueError(_("write each as a name there, = and a name here"))
    return lines


Pairs = Annotated[list[str], AfterValidator(_pairs)]
"""Lines of `a name there = a name here`, of settings."""


def group_here(lines: list[str], *names: Any) -> str | None:
    """What a group is called here by such lines, known there by one of these names: "" for nobody; None where nothing is said of it."""
    pairs = [each.partition("=") for each in lines]
    known = {there.strip().casefold(): here.strip() for there, _sign, here in pairs}
    return next((known[str(each).casefold()] for each in names if str(each or "").casefold() in known), None)


def usernames_with(addresses: Iterable[str]) -> frozenset[str]:
    """The sign-in names of those with one of these e-mail addresses; nobody by one that nobody has, or two have."""
    wanted = {folded(address) for address in addresses}
    found = accounts_with(wanted, User.objects.all())
    return frozenset(user.username for address, user in found.items() if address in wanted)


def username_with(address: str) -> str:
    """Likewise of one; "" for nobody."""
    return next(iter(usernames_with([address])), "")
