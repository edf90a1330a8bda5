"""What the words of a layer mean: phrases to tables, columns, measures and values, and the keys that join tables."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.business.ask.words.function_words import COMPARISONS, FUNCTION_WORDS, LONGEST, Kind
from agent.business.ask.words.made import DAYS, made_of
from agent.business.ask.words.places import names_of
from agent.business.ask.words.roles import Role, roles_of
from agent.business.ask.words.synonyms import same_as
from agent.business.ask.words.units import key_of
from agent.business.layer.model import Aggregation, Dimension, Measure, SemanticLayer, SemanticModel

if TYPE_CHECKING:  # a figure is made of what is named here
    from agent.business.ask.meaning import Figure


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
    Kind.FRAMED,
    Kind.FILLED,
}  # function words that a layer may use for things of its own
_ADDED = ("amount", "total", "freight", "budget", "quantity", "stock value", "金额", "总额", "运费", "预算", "数量")
_GIVES_WAY_TO_VALUES = {Kind.EMPTY, Kind.USE, Kind.EVENT}
SPOKEN_VALUE_CHARS = 2  # a value of one letter or digit is part of ordinary text


@dataclass(frozen=True)
class Lexicon:
    """phrases: by the units of a phrase, everything it may mean. owned: phrases that name a column with its table.

    roles: phrases for what a key of one table makes of another's rows, such as the owner of a project. made: numbers that no column
    keeps but that follow from columns.
    """

    layer: SemanticLayer
    phrases: dict[tuple[str, ...], tuple[Ref, ...]] = field(repr=False)
    owned: frozenset[tuple[str, ...]] = field(repr=False)
    roles: dict[tuple[str, ...], tuple[Role, ...]] = field(repr=False, default_factory=dict)
    made: dict[DimensionRef, Dimension] = field(repr=False, default_factory=dict)

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
        made = {DimensionRef(model.name, one.name): one for model in layer.semantic_models for one in made_of(model)}
        _say_made(made, say, found)
        _say_otherwise(layer, say, found)
        owned = frozenset(key for model in layer.semantic_models for key in _owned(model))
        return cls(layer, {key: tuple(refs) for key, refs in found.items()}, owned, roles_of(layer), made)

    def model(self, name: str) -> SemanticModel:
        return next(model for model in self.layer.semantic_models if model.name == name)

    def dimension(self, ref: DimensionRef | ValueRef) -> Dimension:
        if isinstance(ref, DimensionRef) and ref in self.made:
            return self.made[ref]
        return next(d for d in self.model(ref.model).dimensions if d.name == ref.dimension)

    def is_amount(self, ref: DimensionRef) -> bool:
        """Whether a number is of the kind that is added up: amounts, charges, quantities, and no prices or sizes."""
        words = [word.lower() for word in self.dimension(ref).words()]
        return any(word.endswith(_ADDED) or word.startswith("number of ") for word in words)

    def measure(self, ref: MeasureRef) -> Measure:
        return next(m for m in self.model(ref.model).measures if m.name == ref.measure)

    def aggregation(self, figure: "Figure") -> Aggregation:
        """How a figure is made of rows."""
        return self.measure(figure).agg if isinstance(figure, MeasureRef) else figure.agg


def _say_made(
    made: dict[DimensionRef, Dimension],
    say: Callable[[str, Ref], None],
    found: dict[tuple[str, ...], dict[Ref, None]],
) -> None:
    """What is made of columns, where the layer has no such word of its own; days between times are found by the times."""
    spoken = set(found)
    for ref, dimension in made.items():
        words = [
            word for word in dimension.words() if not ref.dimension.startswith(DAYS) and key_of(word) not in spoken
        ]
        for word in words:
            say(word, ref)


def _say_otherwise(
    layer: SemanticLayer, say: Callable[[str, Ref], None], found: dict[tuple[str, ...], dict[Ref, None]]
) -> None:
    """What things, figures and countries are called besides, where the layer says it of nothing itself."""
    spoken = set(found)
    for phrase, ref in (*_without_owner(layer), *_called(layer)):
        if key_of(phrase) not in spoken:
            say(phrase, ref)
    spoken = set(found)
    for phrase, ref in _synonyms(layer):
        if key_of(phrase) not in spoken and key_of(phrase) not in FUNCTION_WORDS:
            say(phrase, ref)
    for model in layer.semantic_models:
        for phrase, ref in (*_lines(model), *_after_discount(model)):
            say(phrase, ref)
    spoken = set(found)
    for model in layer.semantic_models:
        for phrase, value in _countries(model):
            if key_of(phrase) not in spoken:
                say(phrase, value)


def _lines(model: SemanticModel) -> list[tuple[str, Ref]]:
    """Lines of an order or an invoice are counted, or all of them meant, as 明细 alone."""
    if not any(word.endswith("明细") for word in model.words()):
        return []
    return [(f"{counter}明细", ModelRef(model.name)) for counter in ("条", "行", "笔", "全部", "所有")]


def _after_discount(model: SemanticModel) -> list[tuple[str, Ref]]:
    """A figure that takes the discount off is meant where that is said besides."""
    return [
        (f"{net}{word}", MeasureRef(model.name, measure.name))
        for measure in model.measures
        if measure.agg == "sum" and re.search(r"- *\(?discount", measure.expr or "")
        for word in (*measure.words(), *(other for one in measure.words() for other in same_as(one)))
        for net in ("折后", "折后的", "折扣后", "折扣后的", "打折后的", "扣除折扣后的", "扣掉折扣后的", "减去折扣后的")
    ]


def _say_dimension(say: Callable[[str, Ref], None], model: SemanticModel, dimension: Dimension) -> None:
    flags = {word for value in dimension.values for word in value.synonyms}
    words = [word for word in dimension.words() if word not in flags]  # “active” says which, not what is asked of
    for word in (*words, *(_verbs(dimension) if dimension.type == "time" else ())):
        say(word, DimensionRef(model.name, dimension.name))
        for phrase in _with_owner(model, word):
            say(phrase, DimensionRef(model.name, dimension.name))
    for value in dimension.values:
        for word in (value.value, *value.synonyms, *_not_yet(value.synonyms), *_unaccented(value.value)):
            if len(word) >= SPOKEN_VALUE_CHARS and not word.replace(".", "").isdigit():
                say(word, ValueRef(model.name, dimension.name, value.value))


def _called(layer: SemanticLayer) -> list[tuple[str, Ref]]:
    """“The region name” is the region."""
    return [
        (f"{word} name", DimensionRef(model.name, dimension.name))
        for model in layer.semantic_models
        for dimension in model.dimensions
        if dimension.type == "categorical"
        for word in dimension.words()
        if word.isascii() and not word.endswith(("name", "id", "code", "number"))
    ]


def _without_owner(layer: SemanticLayer) -> list[tuple[str, Ref]]:
    """“项目状态” is also said “状态”."""
    return [
        (word.removeprefix(owner), DimensionRef(model.name, dimension.name))
        for model in layer.semantic_models
        for dimension in model.dimensions
        for word in dimension.words()
        for owner in model.words()
        if not word.isascii() and word.startswith(owner) and len(word.removeprefix(owner)) >= SPOKEN_VALUE_CHARS
    ]


def _unaccented(value: str) -> tuple[str, ...]:
    """“Luís” as it is typed without accents; none where that is the same."""
    if value.isascii():
        return ()
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", value) if not unicodedata.combining(sign))
    return (plain,) if plain.isascii() else ()


def _synonyms(layer: SemanticLayer) -> list[tuple[str, Ref]]:
    """What else the words of the layer's things and figures are called."""
    said: list[tuple[str, Ref]] = []
    for model in layer.semantic_models:
        said += [(word, ModelRef(model.name)) for word in model.words()]
        said += [(word, MeasureRef(model.name, measure.name)) for measure in model.measures for word in measure.words()]
        said += [(word, DimensionRef(model.name, one.name)) for one in model.dimensions for word in one.words()]
    return [(other, ref) for word, ref in said for other in same_as(word)]


def _not_yet(words: tuple[str, ...]) -> list[str]:
    """未付款 is also said 没付款, 还没付款."""
    rests = [word[1:] for word in words if word.startswith("未") and len(word) > SPOKEN_VALUE_CHARS]
    return [f"{no}{rest}" for rest in rests for no in ("没", "没有", "还没", "还没有", "尚未", "还未")]


def _countries(model: SemanticModel) -> list[tuple[str, ValueRef]]:
    """What else the countries among the values are called, said only where no one wrote it of a column."""
    return [
        (name, ValueRef(model.name, dimension.name, value.value))
        for dimension in model.dimensions
        for value in dimension.values
        for name in names_of(value.value)
    ]


_DONE = {  # what a question says was done, for a time named by its noun
    "签约": ("签", "签了", "签下", "签下了", "新签了", "谈下", "谈下了", "拓展", "拓展了", "发展了", "拿下了"),
    "入职": ("入职了", "加入", "加入了", "进公司", "招", "招了", "招进", "招进来", "新招了", "招聘了", "招到", "新入职", "新加入"),
    "下单": ("下单了", "下的单"),
    "开票": ("开票了", "开的票"),
    "发货": ("发货了", "发了货", "发的货", "出货", "出货了", "寄出了", "发走"),
    "启动": ("启动了", "开工", "开工了", "立项", "立项了", "开始了", "上马", "开启", "开启了", "新启动"),
    "新增": ("新增了", "新增加了", "增加了", "多了", "新来", "新开发了", "新拓展了", "新拓展", "新开发"),
    "出生": ("出生了", "出生的", "生于", "诞生"),
}  # fmt: skip


def _verbs(dimension: Dimension) -> tuple[str, ...]:
    """Signed → sign, hired → hire: what a question with “did” says of a time."""
    past = [
        word
        for word in dimension.words()
        if word.isascii() and word.isalpha() and word.endswith("ed") and len(word) > 4
    ]
    done = [form for word in dimension.words() for form in _DONE.get(word, ())]
    return (*(form for word in past for form in (word[:-2], word[:-1])), *done)


def _with_owner(model: SemanticModel, word: str) -> list[str]:
    return [f"{owner}{between}{word}" for owner in model.words() for between in (" ", "的")]


def _owned(model: SemanticModel) -> set[tuple[str, ...]]:
    """The phrases of a table's columns that name the table, too, and are not the bare word of some column of it."""
    words = [word for dimension in model.dimensions for word in dimension.words()]
    return {key_of(phrase) for word in words for phrase in _with_owner(model, word)} - {key_of(word) for word in words}
