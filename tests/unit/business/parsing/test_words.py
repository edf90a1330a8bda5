"""Every phrase of the data files is read in its example, and all phrases of one entry alike."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

import demo
from business.logical_query.catalog import Catalog
from business.logical_query.query import LogicalQuery
from business.parsing.base import Clarification, Context
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import parse
from business.parsing.reader.words import LANGUAGES, entries
from business.semantic_layer.model import SemanticLayer, Value
from business.semantic_layer.yaml_io import read_layer

TODAY = date(2026, 11, 21)


def with_names(layer: SemanticLayer) -> SemanticLayer:
    """As it is once the names of products have been read from the database."""
    models = []
    for model in layer.semantic_models:
        dimensions = tuple(
            each.model_copy(update={"values": (Value(value="KeelDock"), Value(value="KeelTrack"))})
            if model.name == "product" and each.is_name
            else each
            for each in model.dimensions
        )
        models.append(model.model_copy(update={"dimensions": dimensions}))
    return layer.model_copy(update={"semantic_models": tuple(models)})


LAYER = with_names(read_layer((Path(demo.__file__).parent / "business" / "demo.yaml").read_text()))
LEXICON = Lexicon.of(Catalog.of(LAYER))


def lexicon_for(role: str) -> Lexicon:
    """The words of the demo's layer; for those of a currency or unit its amounts are kept in that."""
    unit = role.partition(":")[2]
    if not unit:
        return LEXICON
    return Lexicon.of(
        Catalog.of(
            SemanticLayer.model_validate_json(LAYER.model_dump_json(by_alias=True).replace('"CNY"', f'"{unit}"'))
        )
    )


@pytest.mark.parametrize(
    ("language", "entry"),
    [
        pytest.param(language, entry, id=f"{language}-{entry['role']}-{entry['say'][0]}")
        for language in LANGUAGES
        for entry in entries(language)
        if entry["say"]
    ],
)
def test_every_phrase_is_read_as_the_others_of_its_entry(language: str, entry: dict[str, Any]) -> None:
    found: dict[str, list[str]] = {}
    for phrase in entry["say"]:
        assert isinstance(phrase, str), f"{phrase!r} is no text: quote it"
        question = entry["example"].format(phrase)
        parsed = parse(question, lexicon_for(entry["role"]), Context(language, TODAY))
        assert isinstance(parsed, LogicalQuery | Clarification), f"{question}: {parsed}"
        found.setdefault(repr(parsed), []).append(phrase)
    assert len(found) == 1, "\n".join(f"{phrases}: {said[:300]}" for said, phrases in found.items())
