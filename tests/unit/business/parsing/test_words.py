"""All phrases of one role are read alike."""

from datetime import date
from pathlib import Path

import pytest

import demo
from business.logical_query.catalog import Catalog
from business.parsing.base import Context
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import parse
from business.parsing.reader.words import load_word_lists
from business.semantic_layer.model import SemanticLayer, Value
from business.semantic_layer.yaml_io import read_layer

TODAY = date(2026, 11, 21)


def with_names(layer: SemanticLayer) -> SemanticLayer:
    """As it is once the names of products have been read from the database."""
    models = []
    for model in layer.semantic_models:
        dimensions = tuple(
            dimension.model_copy(update={"values": (Value(value="KeelDock"), Value(value="KeelTrack"))})
            if model.name == "product" and dimension.is_name
            else dimension
            for dimension in model.dimensions
        )
        models.append(model.model_copy(update={"dimensions": dimensions}))
    return layer.model_copy(update={"semantic_models": tuple(models)})


LAYER = with_names(read_layer((Path(demo.__file__).parent / "business" / "demo.yaml").read_text()))
LEXICON = Lexicon.of(Catalog.of(LAYER))


EXAMPLES = {
    "count": ("{} customers in Germany", "德国有{}客户"),
    "number": ("{} customers in Germany", "德国的客户{}"),
    "much": ("", "上个月的销售额{}"),
    "amount": ("{} revenue last month", "上个月的销售额{}"),
    "sum": ("{} order amount", "{}订单金额"),
    "avg": ("{} list price of products", "产品的{}标价"),
    "exists": ("{} customers in Norway", "{}挪威的客户"),
    "each_of": ("", "德国和挪威的客户{}"),
    "max": ("product with the {} list price", "标价{}的产品"),
    "most": ("customer with {} orders", "订单{}的客户"),
    "min": ("product with the {} list price", "标价{}的产品"),
    "fewest": ("customer with {} orders", "订单{}的客户"),
    "more": ("products with a list price {} 5000", "标价{}5000的产品"),
    "less": ("products with a list price {} 5000", "标价{}5000的产品"),
    "or_more": ("products with a list price of 5000 {}", "标价5000{}的产品"),
    "compared": ("", ""),
    "shown": ("number of customers by region {}", "各地区的客户数{}"),
    "stop": ("{} number of customers in Germany", "{}德国的客户数"),
}


def is_han(phrase: str) -> bool:
    return not phrase.isascii()


@pytest.mark.parametrize(
    ("role", "language"), [(role, place) for role, forms in EXAMPLES.items() for place in (0, 1) if forms[place]]
)
def test_phrases_of_a_role_are_read_alike(role: str, language: int) -> None:
    found: dict[str, list[str]] = {}
    for phrase in load_word_lists()["roles"][role]:
        if is_han(phrase) != bool(language) or not any(sign.isalpha() for sign in phrase):
            continue
        question = EXAMPLES[role][language].format(phrase)
        parsed = parse(question, LEXICON, Context("en", TODAY))
        found.setdefault(repr(parsed), []).append(question)
    assert len(found) == 1, "\n".join(f"{questions}: {meant[:200]}" for meant, questions in found.items())
    assert "LogicalQuery" in next(iter(found))[:14] or next(iter(found)).startswith("metrics="), found


def test_every_role_has_a_letter() -> None:
    assert set(load_word_lists()["roles"]) <= set(load_word_lists()["letters"])
