"""A layer's vocabulary: phrases to models, measures, dimensions and values. Built once for a layer version."""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from business.logical_query.catalog import Catalog
from business.parsing.reader.units import build_lookup_key
from business.parsing.reader.words import load_words
from business.semantic_layer.model import Dimension, SemanticModel

LONGEST = 10  # most units of a phrase
SPOKEN_VALUE = 2  # least characters: a value of one letter or digit is ordinary text


@dataclass(frozen=True)
class Ref:
    """A part of the layer. name: as in the catalog; value: as stored, for a value."""

    kind: Literal["model", "measure", "dimension", "value"]
    name: str
    value: str = ""

    @property
    def model(self) -> str:
        return self.name.partition(".")[0] if self.kind != "model" else self.name


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Equal to itself only. phrases: the possible meanings by the units of a phrase."""

    catalog: Catalog
    phrases: dict[tuple[str, ...], tuple[Ref, ...]] = field(repr=False)

    @classmethod
    def of(cls, catalog: Catalog) -> "Lexicon":
        found: defaultdict[tuple[str, ...], dict[Ref, None]] = defaultdict(dict)

        def say(phrase: str, ref: Ref) -> None:
            key = build_lookup_key(phrase)
            if key and len(key) <= LONGEST and not _is_function_word(key, ref):
                found[key][ref] = None

        for model in catalog.models.values():
            _add_model_words(say, model)
        return cls(catalog, {key: tuple(refs) for key, refs in found.items()})


def _is_function_word(key: tuple[str, ...], ref: Ref) -> bool:
    """Return whether a value is a function word of questions, which names no value."""
    if ref.kind != "value":
        return False
    return load_words().roles.get(key, ("state",)) != ("state",)


def _add_model_words(say: Callable[[str, Ref], None], model: SemanticModel) -> None:
    owners = model.words()
    for word in owners:
        say(word, Ref("model", model.name))
    for measure in model.measures:
        for word in measure.words():
            say(word, Ref("measure", f"{model.name}.{measure.name}"))
    for dimension in model.dimensions:
        ref = Ref("dimension", f"{model.name}.{dimension.name}")
        names = dimension.words()
        for word in (*names, *(_build_aspect_forms(names) if dimension.type == "time" else ())):
            say(word, ref)
            for owner in owners:
                for between in (" ", "的"):
                    say(f"{owner}{between}{word}", ref)
        _add_value_words(say, dimension, ref.name)


def _add_value_words(say: Callable[[str, Ref], None], dimension: Dimension, name: str) -> None:
    for value in dimension.values:
        for word in (value.value, *value.synonyms, *_remove_accents(value.value)):
            if len(word) >= SPOKEN_VALUE and not word.replace(".", "").isdigit():
                say(word, Ref("value", name, value.value))


def _build_aspect_forms(names: Iterable[str]) -> list[str]:
    """Return verbs' forms with aspect particles: 下单, 下过单, 下了单."""
    pairs = [word for word in names if len(word) == 2 and not word.isascii()]
    return [f"{word[0]}{between}{word[1]}" for word in pairs for between in ("过", "了", "过了")]


def _remove_accents(value: str) -> tuple[str, ...]:
    """Return the spelling of “Luís” without accents, if different."""
    if value.isascii():
        return ()
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", value) if not unicodedata.combining(sign))
    return (plain,) if plain.isascii() else ()
