"""The part of the data that a question covers."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Q

from authz.principal import Principal
from knowledge.retrieval.search import Scope
from knowledge.tool_selectors import list_documents_in_scope

EVERYWHERE: Final = Scope()


@dataclass(frozen=True)
class TableName:
    """A table, by its source's name and its name in the semantic layer there."""

    source: str
    table: str


@dataclass(frozen=True)
class DataScope:
    """Narrows what a person may ask; it never widens.

    tables: None for all; else only these, and no other database. documents: the scope of spreadsheets asked as a whole.
    base_ids: the bases of spreadsheets with a named table; empty for all.
    """

    tables: tuple[TableName, ...] | None = None
    documents: Scope = EVERYWHERE
    base_ids: tuple[UUID, ...] = ()

    def whole(self, principal: Principal) -> Q:
        """Return sources of which every table that the person may ask is included, as a filter on those they may see."""
        if self == ALL_DATA:
            return ~Q(pk__in=[])  # all: `Q()` in an alternative would count as nothing
        sheets = Q(document__in=list_documents_in_scope(principal, self.documents))
        return sheets | Q(document=None) if self.tables is None else sheets

    def in_part(self, principal: Principal) -> Q:
        """Return sources of which some tables are named."""
        within = list_documents_in_scope(principal, Scope(knowledge_base_ids=self.base_ids))
        names = {item.source for item in self.tables or ()}
        return Q(name__in=names) & (Q(document=None) | Q(document__in=within))

    def tables_of(self, source: str) -> frozenset[str]:
        """Return the named tables of a source that is included in part."""
        return frozenset(item.table for item in self.tables or () if item.source == source)


ALL_DATA: Final = DataScope()
