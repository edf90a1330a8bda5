"""Rights as a source of files says them: a file of rules at its top, which names people and groups as they are called here.

rights:
  - below: ""            # everything
    groups: [Engineering]
  - below: people/pay    # here these alone, in place of what is said above
    people: [lin]
"""

from collections.abc import Sequence
from typing import Any
from unicodedata import normalize

import yaml
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, ValidationError

from copilot_site.lib.one_line import tidy_line
from knowledge.sources.base import Access, Unreadable

FILE = ".rights.yaml"
MOST_BYTES = 1_000_000


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    below: str
    people: list[str] = []
    groups: list[str] = []


class _Rules(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    rights: list[_Rule]


def folder_path(path: str) -> str:
    """A path as the folders here are called that it becomes, in NFC: rules and what they speak of are compared by it."""
    return "/".join(name for part in normalize("NFC", path).split("/") if (name := tidy_line(part)))


def prefixes_of(folders: Sequence[str]) -> list[str]:
    """The paths of folders that lie in one another, from the top, "" first."""
    return [folder_path("/".join(folders[:count])) for count in range(len(folders) + 1)]


def read_rules(data: bytes | None) -> list[Access]:
    """data: of the file; None where there is none. Raises Unreadable for anything that is not sure."""
    if data is not None and len(data) > MOST_BYTES:
        raise Unreadable(_("%(file)s is larger than 1 MB.") % {"file": FILE})
    if data is None:
        raise Unreadable(_("There is no %(file)s at the top: nothing is brought until there is.") % {"file": FILE})
    try:
        given: Any = yaml.safe_load(data)
        rules = _Rules.model_validate(given).rights
    except (yaml.YAMLError, ValidationError, ValueError, RecursionError) as error:
        raise Unreadable(
            _("%(file)s cannot be read for sure: nothing is brought until it can.") % {"file": FILE}
        ) from error
    found = {}
    for rule in rules:
        prefix = folder_path(rule.below)
        if prefix in found or ".." in prefix.split("/"):
            raise Unreadable(_("%(file)s says two things of “%(below)s”.") % {"file": FILE, "below": rule.below})
        found[prefix] = Access(prefix, frozenset(rule.people), frozenset(rule.groups))
    if "" not in found:
        raise Unreadable(_("%(file)s does not say who may see everything else.") % {"file": FILE})
    return list(found.values())
