"""Unread parts of a file, in words for the document's page, the report of an import and the API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from knowledge.parsers.losses import LOSSES


@dataclass(frozen=True)
class LostParts:
    """Parts of one kind, a key of LOSSES. text: how many of what, in the reader's language."""

    kind: str
    count: int
    text: str


def list_unread_parts(counts: Mapping[str, int]) -> list[LostParts]:
    """Name the counted parts, in the order of LOSSES."""
    return [
        LostParts(kind, counts[kind], ngettext(*forms, counts[kind]) % {"count": counts[kind]})
        for kind, forms in LOSSES.items()
        if counts.get(kind)
    ]


def format_unread_parts(parts: Sequence[LostParts]) -> str:
    """Return "Not read: 2 charts drawn as pictures, 3 formulas without values.", or "" when everything was read."""
    return _("Not read: %(parts)s.") % {"parts": _(", ").join(part.text for part in parts)} if parts else ""
