"""Rows written from outside: reading one must not break a verification, an export, the signing or a page."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, transaction
from django.db.models import CharField, DateTimeField, Field, JSONField
from django.utils.timezone import localtime

from audit.models import Checkpoint, Entry, Hold
from copilot_site.lib.text.json_input import require_shallow

# The errors of reading a row with arbitrary values: a time beyond Python's range, an infinite number, a list in place of
# an object, nesting too deep to parse.
ODD = (ArithmeticError, AttributeError, DatabaseError, LookupError, RecursionError, TypeError, ValueError)
UNREADABLE = object()  # in place of a value
M = TypeVar("M", Entry, Checkpoint, Hold)


def load_readable_rows(model: type[M], keys: list[int], *, instead: Callable[[], M] | None = None) -> dict[int, M]:
    """Return the existing rows by key; an unreadable one as an empty row, which matches no hash and no signature.

    instead: makes the empty row.
    """
    try:
        with transaction.atomic():
            found: dict[int, M] = model.objects.in_bulk(keys)
            return found
    except ODD:
        if len(keys) == 1:
            return {keys[0]: (instead or model)()}
    half = len(keys) // 2
    return load_readable_rows(model, keys[:half], instead=instead) | load_readable_rows(
        model, keys[half:], instead=instead
    )


def make_unreadable_entry() -> Entry:
    """Return the placeholder of an unreadable entry: no hash fits it."""
    at, reason = datetime.min.replace(tzinfo=UTC), "This row cannot be read: run manage.py verify_audit."
    return Entry(at=at, action="", outcome="", reason=reason)


def load_partial_rows(model: type[M], keys: list[int]) -> list[M]:
    """Return rows for a page, in this order; a damaged row keeps its readable fields, `unreadable` names the others."""
    whole = load_readable_rows(model, keys)
    return [_build_partial_row(model, key, whole.get(key)) for key in keys]


def _build_partial_row(model: type[M], key: int, row: M | None) -> M:
    fields = model._meta.concrete_fields
    if row is not None and row.pk is not None:
        values = {field: getattr(row, field.attname) for field in fields}
    else:
        values = {field: _read_single_column(model, key, field) for field in fields}
    unreadable = tuple(field.name for field, value in values.items() if not _is_valid_value(field, value))
    if row is None or unreadable:
        row = model(
            **{
                field.attname: value if _is_valid_value(field, value) else _make_empty_value(field)
                for field, value in values.items()
            }
        )
        row.pk, row.unreadable = key, unreadable
    return row


def _read_single_column(model: type[M], key: int, field: Field[Any, Any]) -> Any:
    """Return one column of a row; UNREADABLE where even that cannot be read, or the row is gone."""
    try:
        with transaction.atomic():
            return model.objects.values_list(field.attname, flat=True).get(pk=key)
    except (*ODD, ObjectDoesNotExist):
        return UNREADABLE


def _is_valid_value(field: Field[Any, Any], value: Any) -> bool:
    """Tell whether a page can show the value as one of its column's type."""
    if value is UNREADABLE or value is None:
        return value is None and field.null
    try:
        if isinstance(field, DateTimeField):
            localtime(value)
        return not isinstance(field, JSONField) or isinstance(require_shallow(value), dict)
    except ODD:
        return False


def _make_empty_value(field: Field[Any, Any]) -> Any:
    """Return the empty value of a field."""
    if isinstance(field, JSONField):
        return {}
    return "" if isinstance(field, CharField) else None
