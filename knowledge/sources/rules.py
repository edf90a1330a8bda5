"""Access rules of a source of files: a file at its top, which names people and groups as they are called here.

rights:
  - below: ""            # everything
    groups: [Engineering]
  - below: people/pay    # here these alone, in place of what is said above
    people: [lin]
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from unicodedata import normalize

import yaml
from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from authz.sign_in.addresses import find_accounts_by_address, fold_address
from copilot_site.lib.text.one_line import tidy_line
from knowledge.sources.base import PathReaders, Unreadable

FILE = ".rights.yaml"
MAX_BYTES = 1_000_000


class _SourceRule(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    below: str
    people: list[str] = []
    groups: list[str] = []


class _Rules(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    rights: list[_SourceRule]


def normalise_folder_path(path: str) -> str:
    """Return a path in the names that its folders get here, in NFC; rules are compared by it."""
    return "/".join(name for part in normalize("NFC", path).split("/") if (name := tidy_line(part)))


def list_path_prefixes(folders: Sequence[str]) -> list[str]:
    """Return the paths of nested folders, from the top, "" first."""
    return [normalise_folder_path("/".join(folders[:count])) for count in range(len(folders) + 1)]


def parse_access_rules(data: bytes | None) -> list[PathReaders]:
    """Parse rules. data: of the file; None without one. Raises Unreadable for anything ambiguous."""
    if data is not None and len(data) > MAX_BYTES:
        raise Unreadable(_("%(file)s is larger than 1 MB.") % {"file": FILE})
    if data is None:
        raise Unreadable(_("There is no %(file)s at the top, so nothing is imported.") % {"file": FILE})
    try:
        given: Any = yaml.safe_load(data)
        rules = _Rules.model_validate(given).rights
    except (yaml.YAMLError, ValidationError, ValueError, RecursionError) as error:
        raise Unreadable(_("%(file)s is not clear: nothing is imported until it is.") % {"file": FILE}) from error
    found = {}
    for rule in rules:
        prefix = normalise_folder_path(rule.below)
        if prefix in found or ".." in prefix.split("/"):
            raise Unreadable(_("%(file)s contradicts itself about “%(below)s”.") % {"file": FILE, "below": rule.below})
        found[prefix] = PathReaders(prefix, frozenset(rule.people), frozenset(rule.groups))
    if "" not in found:
        raise Unreadable(_("%(file)s does not say who can see everything else.") % {"file": FILE})
    return list(found.values())


@dataclass(frozen=True)
class Readers:
    """Sign-in names and names of groups. Unknown names are ignored."""

    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()

    def people(self) -> frozenset[str]:
        members = User.objects.filter(groups__name__in=self.groups).values_list("username", flat=True)
        return self.users | frozenset(members)

    def within(self, other: "Readers") -> "Readers":
        """Return who may read both: groups that both name, and the people of today who are in both."""
        return Readers(self.people() & other.people(), self.groups & other.groups)


def _check_pair_lines(lines: list[str]) -> list[str]:
    """Check lines of pairs. Raises ValueError for an invalid line."""
    if any("=" not in line for line in lines):
        raise ValueError(_("write each as a name there, = and a name here"))
    return lines


Pairs = Annotated[list[str], AfterValidator(_check_pair_lines)]
"""Lines of `a name there = a name here`, of settings."""


def find_local_group(lines: list[str], *names: Any) -> str | None:
    """Return the group here for one of its names in the source: "" for nobody; None if the lines do not mention it."""
    pairs = [line.partition("=") for line in lines]
    known = {there.strip().casefold(): here.strip() for there, _sign, here in pairs}
    return next((known[str(item).casefold()] for item in names if str(item or "").casefold() in known), None)


def find_usernames_by_email(addresses: Iterable[str]) -> frozenset[str]:
    """Return the sign-in names of those with one of these e-mail addresses; unknown and shared addresses give nobody."""
    wanted = {fold_address(address) for address in addresses}
    found = find_accounts_by_address(wanted, User.objects.all())
    return frozenset(user.username for address, user in found.items() if address in wanted)


def find_username_by_email(address: str) -> str:
    """Return the same for one address; "" for nobody."""
    return next(iter(find_usernames_by_email([address])), "")
