"""The tables that a question can be asked of, as this person may ask them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from authz.principal import Principal
from business.semantic_layer.model import SemanticModel
from business.sources.data_scope import DataScope, TableName
from business.sources.services import OpenSource, open_sources
from knowledge.retrieval.search import Scope

NO_DOCUMENTS: Final = Scope(document_ids=(UUID(int=0),))  # an id that no row has


@dataclass(frozen=True)
class AskableTable:
    """A table that the person may ask, in a source that is open to them."""

    opened: OpenSource
    model: SemanticModel

    @property
    def name(self) -> TableName:
        return TableName(self.opened.source.name, self.model.name)

    def text(self, language: str) -> str:
        """Return “Orders (sales)”: two sources may have tables with one name."""
        label = self.model.label.text(language) or self.model.name.replace("_", " ")
        title = self.opened.title
        return label if label.casefold() == title.casefold() else f"{label} ({title})"


def search_tables(principal: Principal, words: str, sheets: Collection[UUID], *, most: int) -> list[AskableTable]:
    """Return tables whose names, synonyms or source say all the words, of databases and of these spreadsheets."""
    found = _iterate_askable_tables(
        open_sources(
            principal, scope=DataScope(documents=Scope(document_ids=tuple(sheets) or NO_DOCUMENTS.document_ids))
        )
    )
    asked = words.casefold().split()
    fitting = (item for item in found if all(word in _build_search_text(item) for word in asked))
    return [table for table, _place in zip(fitting, range(most), strict=False)]


def find_tables_by_name(principal: Principal, names: Collection[TableName]) -> dict[TableName, AskableTable]:
    """Return those of the tables that this person may ask; missing and not theirs is one."""
    sources = open_sources(principal, scope=DataScope(tuple(names), NO_DOCUMENTS))
    return {item.name: item for item in _iterate_askable_tables(sources)}


def _iterate_askable_tables(sources: Iterable[OpenSource]) -> Iterator[AskableTable]:
    for opened in sources:
        yield from (AskableTable(opened, model) for model in opened.layer.semantic_models if model.columns)


def _build_search_text(table: AskableTable) -> str:
    return " ".join([*table.model.words(), table.opened.source.name, table.opened.title]).casefold()
