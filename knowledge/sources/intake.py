"""What a connector says is out there, as far as it can be stored here."""

from dataclasses import replace
from unicodedata import normalize

from django.utils.translation import gettext as _

from knowledge.sources.base import Item, Missed
from knowledge.sources.runs import storable

MOST = {"id": 1_000, "path": 1_000, "url": 2_048}  # characters, as SourceItem has them


def taken_in(each: Item | Missed) -> Item | Missed:
    """An item with its path in NFC, as rules are read; one that could not be stored is missed, and the others come all the same."""
    if isinstance(each, Missed):
        return each
    for name, most in MOST.items():
        text = getattr(each, name)
        if text != storable(text):
            return Missed(storable(each.id), _("Its name has characters that cannot be stored: rename it there."))
        if len(text) > most:
            said = _("Its name or address has more than %(most)s characters: shorten it there.")
            return Missed(storable(each.id), said % {"most": most})
    return replace(each, path=normalize("NFC", each.path))
