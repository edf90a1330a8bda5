"""Arguments of a tool may narrow what the person chose; nothing widens it."""

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from knowledge.retrieval.search import Scope

NOTHING = (UUID(int=0),)  # an id that no row has: what is narrowed to nothing finds nothing, and never everything


def within(scope: Scope, *, knowledge_base_ids: Iterable[UUID] = (), document_ids: Iterable[UUID] = ()) -> Scope:
    """The scope cut down to these; empty arguments do not cut."""
    return replace(
        scope,
        knowledge_base_ids=_cut(scope.knowledge_base_ids, tuple(knowledge_base_ids)),
        document_ids=_cut(scope.document_ids, tuple(document_ids)),
    )


def _cut(chosen: tuple[UUID, ...], asked: tuple[UUID, ...]) -> tuple[UUID, ...]:
    if not asked or not chosen:
        return asked or chosen
    return tuple(pk for pk in asked if pk in chosen) or NOTHING
