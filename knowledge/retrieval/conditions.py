"""Conditions on a document's fields, as part of the statements that read documents and passages."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.db.models.expressions import RawSQL

Value = str | int | float
MAX_CONDITIONS = 20  # of one question or search


@dataclass(frozen=True)
class FieldCondition:
    """Of one field. Values as `Document.metadata` holds them; None and "" say nothing. contains: a part of a text, whatever its case.

    at_least, at_most: the bounds belong to it.
    """

    field: str
    equals: Value | None = None
    contains: str = ""
    at_least: Value | None = None
    at_most: Value | None = None


def build_document_statement(conditions: Sequence[FieldCondition]) -> tuple[str, list[Any]]:
    """Return a statement that selects the documents that meet all conditions, with its values, for use in one that checks permissions."""
    parts = [part for condition in conditions for part in _build_clauses(condition)]
    where = " AND ".join(sql for sql, _values in parts) or "TRUE"
    return f"SELECT m.id FROM knowledge_document m WHERE {where}", [value for _sql, values in parts for value in values]  # noqa: S608 - constants; values are bound


def build_document_filter(conditions: Sequence[FieldCondition], path: str = "pk") -> Q:
    """Return the same as a filter on documents, or on rows related by `path`; without conditions it matches all."""
    if not conditions:
        return Q()
    sql, values = build_document_statement(conditions)
    return Q(**{f"{path}__in": RawSQL(sql, values)})  # noqa: S611 - made of constants; values are bound


def name_parameters(sql: str, values: Sequence[Any], prefix: str) -> tuple[str, dict[str, Any]]:
    """Return a statement with positional values as one with named values, for use in a larger one."""
    names = [f"{prefix}_{place}" for place in range(len(values))]
    return sql % tuple(f"%({name})s" for name in names), dict(zip(names, values, strict=True))


def _build_clauses(each: FieldCondition) -> Iterator[tuple[str, list[Any]]]:
    if each.equals is not None:
        yield "m.metadata @> %s::jsonb", [json.dumps({each.field: each.equals})]
    if each.contains:
        yield "strpos(lower(m.metadata ->> %s::text), lower(%s::text)) > 0", [each.field, each.contains]
    for sign, bound in ((">=", each.at_least), ("<=", each.at_most)):
        if bound is not None:  # jsonb orders values of different kinds, too
            value = json.dumps(bound)
            yield (
                f"jsonb_typeof(m.metadata -> %s::text) = jsonb_typeof(%s::jsonb) AND m.metadata -> %s::text {sign} %s::jsonb",
                [each.field, value, each.field, value],
            )
