"""The scope of a question as stored in a row."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from business.sources.data_scope import TableName
from knowledge.retrieval.conditions import FieldCondition
from knowledge.retrieval.search import Scope

_FIELDS = ("knowledge_base_ids", "folder_ids", "document_ids")


def convert_scope_to_json(scope: Scope, tables: Iterable[TableName] = ()) -> dict[str, Any]:
    """Return the scope as JSON: ids by kind, metadata conditions, and tables; empty for an unrestricted scope."""
    scope_data: dict[str, Any] = {field: [str(pk) for pk in getattr(scope, field)] for field in _FIELDS}
    scope_data["metadata"] = [convert_condition_to_json(item) for item in scope.metadata]
    scope_data["tables"] = [asdict(table) for table in tables]
    return {name: item for name, item in scope_data.items() if item}


def convert_condition_to_json(condition: FieldCondition) -> dict[str, Any]:
    """Return the non-empty parts of a condition, as in the API's `metadata`."""
    return {name: value for name, value in asdict(condition).items() if value not in (None, "")}


def read_stored_scope(row: Mapping[str, Any]) -> Scope:
    """Return the document scope that `convert_scope_to_json` was made from."""
    bases, folders, documents = (tuple(map(UUID, row.get(field, ()))) for field in _FIELDS)
    metadata = tuple(FieldCondition(**item) for item in row.get("metadata", ()))
    return Scope(knowledge_base_ids=bases, folder_ids=folders, document_ids=documents, metadata=metadata)


def read_stored_tables(row: Mapping[str, Any]) -> tuple[TableName, ...]:
    """Return the tables that `convert_scope_to_json` was made from."""
    return tuple(TableName(**item) for item in row.get("tables", ()))
