"""The linker's index of a layer: by words, by values, and along keys. Built once for each saved layer."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from business.linking.asked import QuestionWord, find_exact_translations, split_comparable_units, split_written_units
from business.linking.entries import LayerEntry, entries_of
from business.semantic_layer.model import SemanticLayer
from knowledge.dictionary.words import compute_rarity
from knowledge.text.terms import is_han

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
MAX_VALUE = 8  # most units of a value to find in a question
COMMON = 3.0  # rarity below which a common word is no value unless spelled exactly like it: “in”, “IN”
UNSAID_RARITY = 4.5  # least rarity of a word searched by itself
SHORTEST_NUMBER = 3  # digits
OF_TABLE = 0.5  # weight of a table's score beside its part's
OF_NEIGHBOUR = 0.8  # weight of the score of a table joined by a key
MAX_WAY = 3  # most steps between two tables


class NamedValue(NamedTuple):
    """A value named in a question. dimension: `model.dimension`."""

    dimension: str
    value: str


@dataclass(frozen=True)
class LayerIndex:
    """entries: in the layer's order; places: their indexes by key. tables: each entry's table as an index of `names`.

    postings: by term, the entries with it and its weights. values: by wording, the entries with such a value.
    neighbours: the tables joined to a table by a key.
    """

    entries: tuple[LayerEntry, ...]
    places: dict[tuple[str, str, str], int]
    tables: NDArray[np.int64]
    is_table: Mask
    names: tuple[str, ...]
    column_counts: dict[str, int]
    postings: dict[str, tuple[NDArray[np.int64], Floats]]
    lengths: Floats
    values: dict[str, tuple[tuple[int, str], ...]]
    neighbours: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, layer: SemanticLayer) -> "LayerIndex":
        entries = tuple(entries_of(layer))
        names = tuple(model.name for model in layer.semantic_models)
        numbers = {name: number for number, name in enumerate(names)}
        postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        lengths = np.zeros(len(entries))
        for place, entry in enumerate(entries):
            for term, weight in entry.terms().items():
                postings[term].append((place, weight))
                lengths[place] += weight
        return cls(
            entries,
            {entry.key: place for place, entry in enumerate(entries)},
            np.array([numbers[entry.model] for entry in entries], np.int64),
            np.array([entry.kind == "model" for entry in entries], bool),
            names,
            {model.name: len(model.columns) for model in layer.semantic_models},
            {
                term: (np.array([p for p, _w in found], np.int64), np.array([w for _p, w in found]))
                for term, found in postings.items()
            },
            lengths,
            _index_values(entries),
            _find_neighbour_tables(layer),
        )

    def visible(self, models: Collection[str]) -> Mask:
        """Return a mask of the entries of these tables."""
        return np.isin(self.tables, [number for number, name in enumerate(self.names) if name in models])

    def by_words(self, asked: Iterable[QuestionWord], visible: Mask) -> Floats:
        """Return each entry's match with a question, ≥ 0: words rare in speech and visible entries weigh more."""
        count, asked_for = int(visible.sum()), 0.0
        scores = np.zeros(len(self.entries))
        for word in asked:
            weights = np.zeros(len(self.entries))
            for way in word.ways:
                np.maximum(weights, self._score_entries(way), out=weights)
            weights *= visible
            found = np.count_nonzero(weights)
            if found:
                weight = word.weight * math.log1p((count - found + 0.5) / (found + 0.5))
                scores += weight * weights
                asked_for += weight
        mean = float(self.lengths[visible].mean()) if count else 1.0
        return scores / (0.75 + 0.25 * self.lengths / max(mean, 1e-9)) / max(asked_for, 1e-9)

    def rarest_unsaid(self, asked: Iterable[QuestionWord], visible: Mask) -> str:
        """Return the rarest word of a question that no visible entry has, in English if translatable; "" for none."""
        unsaid = [
            word
            for word in asked
            if word.weight >= UNSAID_RARITY
            and not (len(word.ways) == 1 and is_han(word.ways[0][0][0]))
            and not any((self._score_entries(way) * visible).any() for way in word.ways)
        ]
        if not unsaid:
            return ""
        rarest = max(unsaid, key=lambda word: word.weight)
        return " ".join(next((way for way in rarest.ways if not is_han(way[0][0])), rarest.ways[0]))

    def _score_entries(self, way: Iterable[str]) -> Floats:
        """Return the weights of the entries that have all of some terms."""
        least: Floats | None = None
        for term in way:
            own = np.zeros(len(self.entries))
            if term not in self.postings:
                return own
            places, weights = self.postings[term]
            own[places] = weights
            least = own if least is None else np.minimum(least, own)
        return np.zeros(len(self.entries)) if least is None else least

    def named_values(self, question: str, visible: Mask) -> dict[NamedValue, int]:
        """Return the values named in a question, the longest first, with their columns' indexes; none in another."""
        stems, plain = split_comparable_units(question), split_written_units(question)
        covered = [False] * len(stems)
        found: dict[NamedValue, int] = {}
        for length in range(min(MAX_VALUE, len(stems)), 0, -1):
            for at in range(len(stems) - length + 1):
                if any(covered[at : at + length]):
                    continue
                here = [
                    (place, value)
                    for place, value in self._find_called_values(stems[at : at + length])
                    if visible[place]
                ]
                if length == 1 and not _is_distinctive_word(plain[at]):
                    here = [(place, value) for place, value in here if value in question and not value.islower()]
                if here:
                    covered[at : at + length] = [True] * length
                    found |= {NamedValue(self.entries[place].name, value): place for place, value in here}
        return found

    def _find_called_values(self, stems: list[str]) -> tuple[tuple[int, str], ...]:
        """Return values with this wording, or with a Chinese word's translation."""
        own = self.values.get(" ".join(stems), ())
        if own or len(stems) == 1 or not all(map(is_han, stems)):
            return own
        return tuple(
            found
            for meaning in find_exact_translations("".join(stems))
            for found in self.values.get(" ".join(meaning), ())
        )

    def best_of_tables(self, scores: Floats, visible: Mask) -> dict[str, float]:
        """Return each table's score, from its own words, its best part, and the best table joined to it by a key."""
        best = np.zeros(len(self.names))
        np.maximum.at(best, self.tables[visible], scores[visible])
        best += np.where(visible[self.is_table], scores[self.is_table], 0)
        near = dict(zip(self.names, best.tolist(), strict=True))
        return {
            name: score + OF_NEIGHBOUR * max((near[other] for other in self.neighbours.get(name, ())), default=0.0)
            for name, score in near.items()
        }

    def parts_of(self, models: Collection[str]) -> Mask:
        """Return a mask of the columns and measures of these tables."""
        return self.visible(models) & ~self.is_table

    def nearest(self, scores: Floats, tables: Mapping[str, float], models: Collection[str]) -> list[int]:
        """Return the columns and measures of some tables, best first; those of better tables gain a little."""
        parts = np.flatnonzero(self.parts_of(models)).tolist()
        return sorted(parts, key=lambda place: -scores[place] - OF_TABLE * tables[self.entries[place].model])

    def between(self, models: Iterable[str], visible: Collection[str]) -> list[str]:
        """Return the tables on the shortest paths between some, through visible tables only."""
        found: list[str] = []
        for one, other in combinations(models, 2):
            found += self._find_join_path(one, other, visible)
        return list(dict.fromkeys(found))

    def _find_join_path(self, start: str, goal: str, visible: Collection[str]) -> list[str]:
        before: dict[str, str] = {start: start}
        edge = [start]
        for _step in range(MAX_WAY):
            reached = []
            for name in edge:
                for other in self.neighbours.get(name, ()):
                    if other in visible and other not in before:
                        before[other] = name
                        reached.append(other)
            if goal in before:
                break
            edge = reached
        way, name = [], before.get(goal, start)
        while name != start:
            way.append(name)
            name = before[name]
        return way


def _is_distinctive_word(word: str) -> bool:
    """Return whether a word alone may mean a value: “in” and “1” may be anything."""
    return compute_rarity(word) >= COMMON and not (word.isdigit() and len(word) < SHORTEST_NUMBER)


def _index_values(entries: Iterable[LayerEntry]) -> dict[str, tuple[tuple[int, str], ...]]:
    found: defaultdict[str, dict[tuple[int, str], None]] = defaultdict(dict)
    for place, entry in enumerate(entries):
        for value in getattr(entry.named, "values", ()):
            for word in value.words():
                stems = split_comparable_units(word)
                if 0 < len(stems) <= MAX_VALUE:
                    found[" ".join(stems)][place, value.value] = None
    return {key: tuple(values) for key, values in found.items()}


def _find_neighbour_tables(layer: SemanticLayer) -> dict[str, tuple[str, ...]]:
    keyed = {model.primary.name: model.name for model in layer.semantic_models if model.primary}
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for model in layer.semantic_models:
        for entity in model.entities:
            to = keyed.get(entity.name)
            if entity.type == "foreign" and to is not None and to != model.name:
                found[model.name][to] = None
                found[to][model.name] = None
    return {name: tuple(others) for name, others in found.items()}
