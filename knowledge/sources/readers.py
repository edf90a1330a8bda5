"""Who may read something out there, as people and groups are called here."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models.functions import Lower

PART = 1_000  # addresses of one statement


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


def usernames_with(addresses: Iterable[str]) -> frozenset[str]:
    """The sign-in names of those with one of these e-mail addresses; nobody by one that nobody has, or two have."""
    wanted = list({address.lower() for address in addresses if address})
    found: dict[str, list[str]] = {}
    for part in range(0, len(wanted), PART):
        rows = User.objects.annotate(address=Lower("email")).filter(address__in=wanted[part : part + PART])
        for address, username in rows.values_list("address", "username"):
            found.setdefault(address, []).append(username)
    return frozenset(names[0] for names in found.values() if len(names) == 1)


def username_with(address: str) -> str:
    """Likewise of one; "" for nobody."""
    return next(iter(usernames_with([address])), "")
