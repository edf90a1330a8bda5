"""Schema linking: find the part of a layer that a question is about, by words and embeddings."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from business.linking.asked import QuestionWord, split_question
from business.linking.entries import LayerEntry
from business.linking.index import Floats, LayerIndex, Mask, NamedValue
from business.semantic_layer.model import Dimension, SemanticLayer, SemanticModel

Near = Callable[
    [str, Collection[str], int], Mapping[int, float]
]  # text, tables, number → cosines of the nearest entries, by index
WHOLE_COLUMNS = 40  # a layer up to this size is shown whole: some 1,500 tokens
NEAREST = 200  # nearest entries by embedding, of all tables
CORE_TABLES = 4  # always shown, with the tables on the paths between them
MAX_TABLES = 12  # candidates for columns
MAX_COLUMNS = 31  # including keys and names
WORDS = 1.0  # weight of a fully matched question, relative to a cosine
UNSAID = 0.1  # bonus of a column near a word missing in the layer
UNSAID_NEAREST = 8
UNSAID_TABLES = 50
UNSAID_TOGETHER = 4  # of these, in one table
VALUE_COLUMNS = 2  # a value in more columns tells little
HOLDING_COLUMNS = 4
NAMED = 0.3  # bonus of a column for a value named in the question


@dataclass(frozen=True)
class Linked:
    """The part of a layer that a question is about.

    models: the most relevant first. columns, measures: `model.part`, to show beside the keys; all for a whole layer.
    values: those named in the question, except names of org units' rows.
    """

    models: tuple[SemanticModel, ...]
    columns: frozenset[str]
    measures: frozenset[str]
    values: tuple[NamedValue, ...] = ()


@dataclass(frozen=True)
class Linker:
    """Links questions to one person's visible tables of a layer.

    layer: those tables. index: of the same layer or a larger one. near: embedding search; None for words only.
    """

    layer: SemanticLayer
    index: LayerIndex
    near: Near | None = None
    whole_columns: int = WHOLE_COLUMNS

    @classmethod
    def of(cls, layer: SemanticLayer, near: Near | None = None, *, whole_columns: int = WHOLE_COLUMNS) -> "Linker":
        return cls(layer, LayerIndex.of(layer), near, whole_columns)

    def link(self, question: str, *, named_in: str = "") -> Linked:
        """Return the part that a question is about; the nearest one even for unrelated questions.

        named_in: a text that names what “these” in the question are.
        """
        text = f"{question} {named_in}".strip()
        models = {model.name: model for model in self.layer.semantic_models}
        visible = self.index.visible(models)
        asked = split_question(text)
        by_words = self.index.by_words(asked, visible)
        values = self.index.named_values(text, visible)
        found = tuple(value for value, place in values.items() if self._may_show_values(place))
        is_whole = sum(self.index.column_counts[name] for name in models) <= self.whole_columns
        near = self.near if not is_whole else None
        by_meaning = near(text, models, NEAREST) if near else {}
        unsaid = self._find_nearest_to_unknown_word(asked, models, visible) if near else {}
        tables = self.index.best_of_tables(_fuse_scores(by_words, by_meaning, values.values(), unsaid), visible)
        order = sorted(models, key=lambda name: -tables[name])
        if is_whole:
            shown = tuple(models[name] for name in order)
            return Linked(shown, *_list_all_parts(shown), found)
        holding = self._find_value_columns({value: place for value, place in values.items() if value in found})
        nearest = [*order[:CORE_TABLES], *(self.index.entries[place].model for place in (*holding, *unsaid))]
        joined = self.index.between(nearest, models)
        core = list(dict.fromkeys([*nearest, *joined]))
        names = dict.fromkeys([*core, *order[:MAX_TABLES]])
        parts = self.index.parts_of(names)
        by_meaning = near(text, names, int(parts.sum())) if near else {}
        scores = _fuse_scores(np.where(parts, by_words, 0), by_meaning, values.values(), unsaid)
        choice = _Choice([models[name] for name in core])
        for place in holding:
            choice.add(self.index.entries[place])
        for place in self.index.nearest(scores, tables, names):
            if choice.is_full():
                break
            choice.add(self.index.entries[place])
        shown = tuple(models[name] for name in names if name in choice.models)
        return Linked(shown, frozenset(choice.dimensions), frozenset(choice.measures), found)

    def _find_nearest_to_unknown_word(
        self, asked: Sequence[QuestionWord], models: Collection[str], visible: Mask
    ) -> dict[int, float]:
        """Return the entries nearest to the rarest word missing in the layer, by itself: “Boston” is a city.

        Within the question its meaning is diluted. Only if it leads to one table: among hundreds of tables something is
        near any word.
        """
        word = self.index.rarest_unsaid(asked, visible) if len(models) <= UNSAID_TABLES else ""
        if not word or self.near is None:
            return {}
        found = self.near(word, models, UNSAID_NEAREST)
        counts = Counter(self.index.entries[place].model for place in found)
        table, count = max(counts.items(), key=lambda one: one[1], default=("", 0))
        if count < UNSAID_TOGETHER:
            return {}
        return {place: cosine for place, cosine in found.items() if self.index.entries[place].model == table}

    def _find_value_columns(self, values: Mapping[NamedValue, int]) -> list[int]:
        """Return the columns, always shown, of values that the question names and that are in one or two columns."""
        found = Counter(value.value for value in values)
        places = (place for value, place in values.items() if found[value.value] <= VALUE_COLUMNS)
        return list(dict.fromkeys(places))[:HOLDING_COLUMNS]

    def _may_show_values(self, place: int) -> bool:
        entry = self.index.entries[place]
        return isinstance(entry.named, Dimension) and may_show_column_values(entry.named, entry.table)


class _Choice:
    """The shown part of a wide layer: names and times of the core tables, then others up to the limit."""

    def __init__(self, core: Iterable[SemanticModel]) -> None:
        self.models = {model.name: model for model in core}
        self.dimensions, self.measures = set[str](), set[str]()
        self._columns = set[tuple[str, str]]()
        for model in self.models.values():
            for one in model.dimensions:
                if one.is_name or one.name == model.defaults.agg_time_dimension:
                    self.dimensions.add(f"{model.name}.{one.name}")
                    self._columns |= {(model.name, column) for column in one.columns}

    def add(self, entry: LayerEntry) -> None:
        """Another part, and its table with it."""
        self.models[entry.model] = entry.table
        (self.measures if entry.kind == "measure" else self.dimensions).add(entry.name)
        self._columns |= {(entry.model, column) for column in entry.named.columns}

    def is_full(self) -> bool:
        models = self.models.values()
        keys = {(model.name, column) for model in models for column in list_required_columns(model, models)}
        return len(self._columns | keys) >= MAX_COLUMNS


def may_show_column_values(dimension: Dimension, model: SemanticModel) -> bool:
    """Return whether a column's values may be shown to somebody who may ask about its table.

    Names of rows may not where org units have rows of their own: the person may not see that row.
    """
    is_shared = model.org_unit is not None and model.org_unit.shared_with is not None
    name = model.name_dimension
    return is_shared or name is None or not set(dimension.columns) & set(name.columns)


def list_required_columns(model: SemanticModel, shown: Iterable[SemanticModel]) -> tuple[str, ...]:
    """Return the columns of a table that are always shown: its key, keys to other shown tables, filtered columns."""
    primary = {other.primary.name for other in shown if other.primary}
    keys = [entity.expr for entity in model.entities if entity.type == "primary" or entity.name in primary]
    return tuple(dict.fromkeys([*keys, *model.default_filter]))


def _list_all_parts(shown: Iterable[SemanticModel]) -> tuple[frozenset[str], frozenset[str]]:
    dimensions = frozenset(f"{model.name}.{one.name}" for model in shown for one in model.dimensions)
    return dimensions, frozenset(f"{model.name}.{one.name}" for model in shown for one in model.measures)


def _fuse_scores(
    by_words: Floats, by_meaning: Mapping[int, float], named: Collection[int], unsaid: Collection[int]
) -> Floats:
    """Return the cosine plus word matches; a value named in the question counts for its column."""
    scores = WORDS * by_words
    if by_meaning:
        dense = np.full(len(by_words), min(by_meaning.values()))
        dense[list(by_meaning)] = list(by_meaning.values())
        scores += dense
    scores[list(set(named))] += NAMED
    scores[list(unsaid)] += UNSAID
    return scores
