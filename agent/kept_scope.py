"""What a question was narrowed to, as it is kept in a row."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from knowledge.retrieval.search import Scope

_FIELDS = ("knowledge_base_ids", "folder_ids", "document_ids")


def kept(scope: Scope) -> dict[str, list[str]]:
    """The ids of each kind that narrows it; nothing of a scope that narrows nothing."""
    return {field: [str(pk) for pk in ids] for field in _FIELDS if (ids := getattr(scope, field))}


def scope_of(row: Mapping[str, Sequence[str]]) -> Scope:
    """What `kept` was made of."""
    bases, folders, documents = (tuple(map(UUID, row.get(field, ()))) for field in _FIELDS)
    return Scope(knowledge_base_ids=bases, folder_ids=folders, document_ids=documents)
