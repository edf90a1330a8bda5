"""Comparison of the texts behind an old answer with those of today, for its replay; the texts are not copied."""

import hashlib
from collections.abc import Mapping
from uuid import UUID

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from knowledge.models import Chunk


class Today(TextChoices):
    """The present state of a cited passage."""

    SAME = "same", _("the same text")
    CHANGED = "changed", _("another text")
    GONE = "gone", _("no longer there")


def texts_today(hashes: Mapping[UUID, str]) -> dict[UUID, Today]:
    """Compare passages with their texts of then. hashes: passage → hexadecimal SHA-256 of its former text."""
    rows = Chunk.unscoped.filter(id__in=hashes).values_list("id", "text")
    now = {pk: hashlib.sha256(text.encode()).hexdigest() for pk, text in rows}
    return {pk: _today(now.get(pk), then) for pk, then in hashes.items()}


def _today(now: str | None, then: str) -> Today:
    if now is None:
        return Today.GONE
    return Today.SAME if now == then else Today.CHANGED
