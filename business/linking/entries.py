"""Linkable entries of a layer: tables, columns and measures, each with its words and a short text to embed."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from business.semantic_layer.model import Dimension, Measure, SemanticLayer, SemanticModel
from knowledge.text.terms import extract_terms

Kind = Literal["model", "dimension", "measure"]
Key = tuple[str, str, str]  # table, kind, part
VALUES_READ = 30  # of a column; more values do not describe it better
VALUES_TOLD = 8  # in the embedded text
WORDS_TOLD = 4
COLUMNS_TOLD = 12
OWN, VALUE, DESCRIBED, OF_TABLE = 1.0, 0.6, 0.4, 0.3  # weights of a word by its source


@dataclass(frozen=True)
class LayerEntry:
    """A linkable part of a layer. part: "" for the table itself."""

    model: str
    kind: Kind
    part: str
    named: SemanticModel | Dimension | Measure
    table: SemanticModel

    @property
    def name(self) -> str:
        """Return its name in a logical query."""
        return f"{self.model}.{self.part}" if self.part else self.model

    @property
    def key(self) -> Key:
        return self.model, self.kind, self.part

    def terms(self) -> dict[str, float]:
        """Return the terms of its words with their weights."""
        found: dict[str, float] = {}
        for weight, texts in self._iterate_weighted_texts():
            for term in (term for text in texts for term in extract_terms(text)):
                found[term] = max(found.get(term, 0.0), weight)
        return found

    def text(self) -> str:
        """Return the text to embed: its names and table, its description, some of its values."""
        *others, name = self.named.words()
        words = " / ".join([*others[: WORDS_TOLD - 1], name])
        about = " ".join(self.named.description.all())
        if self.kind == "model":
            columns = ", ".join(dimension.name.replace("_", " ") for dimension in self.table.dimensions[:COLUMNS_TOLD])
            return f"{words}. {about} {columns}".strip()
        return f"{self.table.words()[0]}: {words}. {about} {', '.join(self._list_value_words()[:VALUES_TOLD])}".strip()

    def sha256(self) -> bytes:
        return hashlib.sha256(self.text().encode()).digest()

    def _iterate_weighted_texts(self) -> Iterator[tuple[float, tuple[str, ...]]]:
        yield OWN, self.named.words()
        yield VALUE, self._list_value_words()
        yield DESCRIBED, self.named.description.all()
        if self.part:
            yield OF_TABLE, self.table.words()

    def _list_value_words(self) -> tuple[str, ...]:
        values = self.named.values[:VALUES_READ] if isinstance(self.named, Dimension) else ()
        return tuple(word for value in values for word in value.words())


def entries_of(layer: SemanticLayer) -> list[LayerEntry]:
    """Return all entries of a layer, in its order."""
    return [entry for model in layer.semantic_models for entry in _entries_of(model)]


def _entries_of(model: SemanticModel) -> Iterator[LayerEntry]:
    yield LayerEntry(model.name, "model", "", model, model)
    parts: tuple[tuple[Kind, tuple[Dimension | Measure, ...]], ...] = (
        ("dimension", model.dimensions),
        ("measure", model.measures),
    )
    for kind, named in parts:
        for one in named:
            yield LayerEntry(model.name, kind, one.name, one, model)
