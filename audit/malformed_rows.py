"""Rows that nobody here wrote: reading one must end neither a verification nor an export nor the signing."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from django.db import DatabaseError, transaction

from audit.models import Checkpoint, Entry, Hold

# What reading a row raises in which somebody wrote anything whatever: a time beyond Python's, a number without an end, a list for
# an object, nesting that has no bottom.
ODD = (ArithmeticError, AttributeError, DatabaseError, LookupError, RecursionError, TypeError, ValueError)
M = TypeVar("M", Entry, Checkpoint, Hold)


def readable(model: type[M], keys: list[int], *, instead: Callable[[], M] | None = None) -> dict[int, M]:
    """The rows that are there, by key; one that cannot be read as an empty row, which nothing was hashed or signed of.

    instead: what makes that one.
    """
    try:
        with transaction.atomic():
            found: dict[int, M] = model.objects.in_bulk(keys)
            return found
    except ODD:
        if len(keys) == 1:
            return {keys[0]: (instead or model)()}
    half = len(keys) // 2
    return readable(model, keys[:half], instead=instead) | readable(model, keys[half:], instead=instead)


def unreadable_entry() -> Entry:
    """What stands in an export for an entry that cannot be read: no hash fits it."""
    at, said = datetime.min.replace(tzinfo=UTC), "This row cannot be read: run manage.py verify_audit."
    return Entry(at=at, action="", outcome="", reason=said)
