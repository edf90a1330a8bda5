"""Values of documents' fields, and front matter of files: the fields that it fills, and its other values."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.text.one_line import tidy_line
from knowledge.models import Document, DocumentField, FieldKind, KnowledgeBase
from knowledge.retrieval.conditions import Value

NAME_LENGTH, VALUE_LENGTH = 60, 300
MAX_STATED, STATED_LENGTH = 100, 2_000  # metadata in a file: number of values, and characters of one
_LARGEST = 1e15
_APART = re.compile(r"[\s_-]+")


def clean_front_matter(fields: Mapping[str, str]) -> dict[str, str]:
    """Return a file's front matter for storage: one-line names and values, long ones shortened."""
    pairs = ((tidy_line(name)[:NAME_LENGTH], tidy_line(value)[:STATED_LENGTH]) for name, value in fields.items())
    return dict([(name, value) for name, value in pairs if name and value][:MAX_STATED])


def fill_document_fields(document: Document, stated: Mapping[str, str]) -> None:
    """Fill a document's fields from the front matter of its newest file, in this transaction.

    A value that somebody else gave stays; one that does not fit its field is left out. Names are the same whatever their case,
    with "_", "-" or a space.
    """
    before = document.current_version.stated if document.current_version else {}
    if not stated and not before:
        return
    row = Document.unscoped.select_for_update(of=("self",)).get(pk=document.pk)
    for field in DocumentField.unscoped.filter(knowledge_base=document.knowledge_base_id):
        if row.metadata.get(field.name) in (None, _find_stated_value(field, before)):
            set_field_value(row, field, _find_stated_value(field, stated))
    row.save(update_fields=["metadata"])
    document.metadata = row.metadata


def select_unmatched_values(fields: Iterable[DocumentField], stated: Mapping[str, str]) -> dict[str, str]:
    """Return the values in a file's front matter that match no field of its base."""
    known = {_normalise_name(field.name) for field in fields if _find_stated_value(field, stated) is not None}
    return {name: value for name, value in stated.items() if _normalise_name(name) not in known}


def fill_fields_from_files(base: KnowledgeBase, fields: Sequence[DocumentField]) -> None:
    """Fill new fields of all documents of a base from their front matter."""
    if not fields:
        return
    changed = []
    documents = Document.unscoped.select_for_update(of=("self",)).filter(knowledge_base=base)
    for document in documents.exclude(current_version__stated={}).select_related("current_version"):
        if document.current_version:
            for field in fields:
                set_field_value(document, field, _find_stated_value(field, document.current_version.stated))
            changed.append(document)
    Document.unscoped.bulk_update(changed, ["metadata"], batch_size=500)


def set_field_value(document: Document, field: DocumentField, value: Value | None) -> None:
    """Set a document's value in a field, None for no value, without saving."""
    document.metadata.pop(field.name, None)
    if value is not None:
        document.metadata[field.name] = value


def _find_stated_value(field: DocumentField, stated: Mapping[str, str]) -> Value | None:
    """Return a file's value for a field; None without a valid one."""
    given = next(
        (value for name, value in stated.items() if _normalise_name(name) == _normalise_name(field.name)), None
    )
    try:
        return parse_field_value(field, given)
    except InvalidInput:
        return None


def _normalise_name(name: str) -> str:
    return " ".join(_APART.split(name.casefold()))


def parse_field_value(field: DocumentField, given: Any) -> Value | None:
    """Return a value as it is stored, None for nothing. Raises InvalidInput, with the field's name."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return None
    try:
        return _READ[FieldKind(field.kind)](field, given)
    except (TypeError, ValueError, OverflowError) as error:
        kind = str(FieldKind(field.kind).label)
        known = f": {', '.join(field.choices)}" if field.kind == FieldKind.CHOICE else ""
        raise InvalidInput(
            _("“%(field)s” takes this: %(kind)s%(known)s.") % {"field": field.name, "kind": kind, "known": known}
        ) from error


def _parse_text(_field: DocumentField, given: Any) -> str:
    text = tidy_line(str(given))
    if isinstance(given, dict | list | bool) or len(text) > VALUE_LENGTH or "\0" in text:
        raise ValueError(given)
    return text


def _parse_number(_field: DocumentField, given: Any) -> int | float:
    number = float(given)
    if isinstance(given, bool) or not math.isfinite(number) or abs(number) > _LARGEST:
        raise ValueError(given)
    return int(number) if number.is_integer() else number


def _parse_date(_field: DocumentField, given: Any) -> str:
    return given.isoformat() if isinstance(given, date) else date.fromisoformat(str(given).strip()).isoformat()


def _parse_choice(field: DocumentField, given: Any) -> str:
    if given not in field.choices:
        raise ValueError(given)
    return str(given)


_READ = {
    FieldKind.TEXT: _parse_text,
    FieldKind.NUMBER: _parse_number,
    FieldKind.DATE: _parse_date,
    FieldKind.CHOICE: _parse_choice,
}
