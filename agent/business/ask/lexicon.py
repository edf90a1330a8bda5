"""What the words of a layer mean: phrases to tables, columns, measures and values, and the keys that join tables."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.business.ask.function_words import COMPARISONS, FUNCTION_WORDS, LONGEST, Kind
from agent.business.ask.places import names_of
from agent.business.ask.roles import Role, roles_of
from agent.business.ask.units import key_of
from agent.business.layer.model import Dimension, Measure, SemanticLayer, SemanticModel


@dataclass(frozen=True)
class ModelRef:
    model: str


@dataclass(frozen=True)
class DimensionRef:
    model: str
    dimension: str


@dataclass(frozen=True)
class MeasureRef:
    model: str
    measure: str


@dataclass(frozen=True)
class ValueRef:
    model: str
    dimension: str
    value: str


Ref = ModelRef | DimensionRef | MeasureRef | ValueRef
_GIVES_WAY = {
    Kind.STOP,
    Kind.NEW,
    Kind.SELL,
    Kind.BUY,
    Kind.EVENT,
}  # function words that a layer may use for things of its own
_GIVES_WAY_TO_VALUES = {Kind.EMPTY, Kind.USE}
SPOKEN_VALUE_CHARS = 2  # a value of one letter or digit is part of ordinary text


@dataclass(frozen=True)
class Lexicon:
    """phrases: by the units of a phrase, everything it may mean. owned: phrases that name a column with its table.

    roles: phrases for what a key of one table makes of another's rows, such as the owner of a project.
    """

    layer: SemanticLayer
    phrases: dict[tuple[str, ...], tuple[Ref, ...]] = field(repr=False)
    owned: frozenset[tuple[str, ...]] = field(repr=False)
    roles: dict[tuple[str, ...], tuple[Role, ...]] = field(repr=False, default_factory=dict)

    @classmethod
    def of(cls, layer: SemanticLayer) -> "Lexicon":
        found: defaultdict[tuple[str, ...], dict[Ref, None]] = defaultdict(dict)

        def say(phrase: str, ref: Ref) -> None:
            key = key_of(phrase)
            taken = FUNCTION_WORDS.get(key)
            if (
                key
                and len(key) <= LONGEST
                and (
                    taken is None
                    or taken in _GIVES_WAY_TO_VALUES
                    or (taken in _GIVES_WAY and not isinstance(ref, ValueRef))
                )
                and key not in COMPARISONS
            ):
                found[key][ref] = None

        for model in layer.semantic_models:
            for word in model.words():
                say(word, ModelRef(model.name))
            for measure in model.measures:
                for word in measure.words():
                    say(word, MeasureRef(model.name, measure.name))
            for dimension in model.dimensions:
                _say_dimension(say, model, dimension)
        spoken = set(found)
        for model in layer.semantic_models:
            for phrase, value in _countries(model):
                if key_of(phrase) not in spoken:
                    say(phrase, value)
        owned = frozenset(key for model in layer.semantic_models for key in _owned(model))
        return cls(layer, {key: tuple(refs) for key, refs in found.items()}, owned, roles_of(layer))

    def model(self, name: str) -> SemanticModel:
        return next(model for model in self.layer.semantic_models if model.name == name)

    def dimension(self, ref: DimensionRef | ValueRef) -> Dimension:
        return next(d for d in self.model(ref.model).dimensions if d.name == ref.dimension)

    def measure(self, ref: MeasureRef) -> Measure:
        return next(m for m in self.model(ref.model).measures if m.name == ref.measure)


def _say_dimension(say: Callable[[str, Ref], None], model: SemanticModel, dimension: Dimension) -> None:
    for word in (*dimension.words(), *(_verbs(dimension) if dimension.type == "time" else ())):
        say(word, DimensionRef(model.name, dimension.name))
        for phrase in _with_owner(model, word):
            say(phrase, DimensionRef(model.name, dimension.name))
    for value in dimension.values:
        for word in (value.value, *value.synonyms):
            if len(word) >= SPOKEN_VALUE_CHARS and not word.replace(".", "").isdigit():
                say(word, ValueRef(model.name, dimension.name, value.value))


def _countries(model: SemanticModel) -> list[tuple[str, ValueRef]]:
    """What else the countries among the values are called, said only where no one wrote it of a column."""
    return [
        (name, ValueRef(model.name, dimension.name, value.value))
        for dimension in model.dimensions
        for value in dimension.values
        for name in names_of(value.value)
    ]


def _verbs(dimension: Dimension) -> tuple[str, ...]:
    """Signed → sign, hired → hire: what a question with “did” says of a time."""
    past = [
        word
        for word in dimension.words()
        if word.isascii() and word.isalpha() and word.endswith("ed") and len(word) > 4
    ]
    return tuple(form for word in past for form in (word[:-2], word[:-1]))


def _with_owner(model: SemanticModel, word: str) -> list[str]:
    return [f"{owner}{between}{word}" for owner in model.words() for between in (" ", "的")]


def _owned(model: SemanticModel) -> set[tuple[str, ...]]:
    """The phrases of a table's columns that name the table, too, and are not the bare word of some column of it."""
    words = [word for dimension in model.dimensions for word in dimension.words()]
    return {key_of(phrase) for word in words for phrase in _with_owner(model, word)} - {key_of(word) for word in words}
