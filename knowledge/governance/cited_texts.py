"""Is the text behind an old answer still the one it was made from? For whoever replays it; the text itself stays where it is."""

import hashlib
from collections.abc import Mapping
from uuid import UUID

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from knowledge.models import Chunk


class Today(TextChoices):
    """What became of a passage."""

    SAME = "same", _("the same text")
    CHANGED = "changed", _("another text")
    GONE = "gone", _("no longer there")


def texts_today(hashes: Mapping[UUID, str]) -> dict[UUID, Today]:
    """hashes: passage → SHA-256 of its text as it was then, hexadecimal."""
    rows = Chunk.unscoped.filter(id__in=hashes).values_list("id", "text")
    now = {pk: hashlib.sha256(text.encode()).hexdigest() for pk, text in rows}
    return {pk: _today(now.get(pk), then) for pk, then in hashes.items()}


def _today(now: str | None, then: str) -> Today:
    if now is None:
        return Today.GONE
    return Today.SAME if now == then else Today.CHANGED
