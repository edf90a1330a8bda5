"""Which tables of a layer a question is about: those that its words name, and those on the way between them."""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.function_words import FUNCTION_WORDS, LONGEST
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef, Ref, ValueRef
from agent.business.ask.words.units import key_of, units_of
from agent.business.layer.model import SemanticModel

MOST_TABLES = 8  # in a prompt; further ones only on the way between them
_WEIGHTS: dict[type[Ref], float] = {ModelRef: 3.0, MeasureRef: 3.0, ValueRef: 2.0, DimensionRef: 1.0}
_OF_A_DESCRIPTION = 0.25  # a word that a description has, too


@dataclass(frozen=True)
class Linked:
    """models: the most named first. columns, values: what the question names, by table and dimension. score: of the source."""

    models: tuple[SemanticModel, ...]
    columns: frozenset[DimensionRef] = frozenset()
    values: frozenset[ValueRef] = frozenset()
    score: float = 0.0


@dataclass
class _Counts:
    scores: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    columns: set[DimensionRef] = field(default_factory=set)
    values: set[ValueRef] = field(default_factory=set)

    def add(self, ref: Ref, *, shares: int) -> None:
        """shares: how many things the phrase may mean; each gets its part."""
        self.scores[ref.model] += _WEIGHTS[type(ref)] / shares
        if isinstance(ref, DimensionRef):
            self.columns.add(ref)
        elif isinstance(ref, ValueRef):
            self.values.add(ref)
            self.columns.add(DimensionRef(ref.model, ref.dimension))


def link(question: str, lexicon: Lexicon) -> Linked:
    """The part of a layer that a question is about. Raises NotUnderstood where a large layer has none of its words."""
    counts = _counted(question, lexicon)
    named = sorted((name for name, score in counts.scores.items() if score > 0), key=lambda n: (-counts.scores[n], n))
    models = lexicon.layer.semantic_models
    if not named:
        if len(models) > MOST_TABLES:
            raise NotUnderstood("no table has anything to do with it")
        return Linked(models)
    chosen = named[:MOST_TABLES]
    names = [*chosen, *_between(chosen, Joins(lexicon.layer))]
    return Linked(
        tuple(lexicon.model(name) for name in dict.fromkeys(names)),
        frozenset(counts.columns),
        frozenset(counts.values),
        sum(counts.scores[name] for name in chosen),
    )


def _counted(question: str, lexicon: Lexicon) -> _Counts:
    """Every phrase of the question that the layer knows, longest first; a shorter one inside it counts nothing more."""
    units = units_of(question)
    counts, covered = _Counts(), [False] * len(units)
    for length in range(min(LONGEST, len(units)), 0, -1):
        for at in range(len(units) - length + 1):
            key = tuple(unit.text for unit in units[at : at + length])
            if key in lexicon.phrases and not all(covered[at : at + length]):
                covered[at : at + length] = [True] * length
                for ref in lexicon.phrases[key]:
                    counts.add(ref, shares=len(lexicon.phrases[key]))
    left = {unit.text for unit, done in zip(units, covered, strict=True) if not done and unit.kind == "word"}
    left -= {key[0] for key in FUNCTION_WORDS if len(key) == 1}
    for model in lexicon.layer.semantic_models:
        parts = (model, *model.dimensions, *model.measures)
        told = " ".join(word for part in parts for word in part.description.all())
        counts.scores[model.name] += _OF_A_DESCRIPTION * len(left & set(key_of(told)))
    return counts


def _between(names: list[str], joins: Joins) -> list[str]:
    """Tables that the named ones need to be joined."""
    found: list[str] = []
    for one, other in combinations(names, 2):
        way = _way(joins, one, other) or _way(joins, other, one)
        if way:
            found += way
        elif bridge := joins.bridge(one, other):
            found.append(bridge)
    return found


def _way(joins: Joins, start: str, goal: str) -> list[str]:
    try:
        return [step.one for step in joins.up(start, goal) or ()]
    except NotUnderstood:  # two ways: the model chooses, with the keys before it
        return []
