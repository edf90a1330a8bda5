"""What a language model is to look for in a base: its types of entities and relations, and what may be spent on it."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from copilot_site.lib.errors import InvalidInput
from knowledge.models import KnowledgeBase
from knowledge.models.graph import KIND_LENGTH

MOST_TYPES = 30
TypeName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=KIND_LENGTH, pattern=r"^[^\n|<>{}]+$")
]

DEFAULTS: dict[str, tuple[list[str], list[str]]] = {
    "en": (
        ["organisation", "person", "product", "system", "place", "event", "rule", "role"],
        [
            "is part of",
            "is responsible for",
            "uses",
            "applies to",
            "takes place in",
            "replaces",
            "requires",
            "supplies",
        ],
    ),
    "zh": (
        ["组织", "人员", "产品", "系统", "地点", "事件", "制度", "岗位"],
        ["属于", "负责", "使用", "适用于", "位于", "取代", "要求", "供应"],
    ),
}


class GraphTypes(BaseModel):
    """As a base keeps them. most_a_month: of the operator's currency, in a calendar month; 0 for as much as is needed."""

    model_config = ConfigDict(extra="forbid")

    entities: list[TypeName] = Field(min_length=1, max_length=MOST_TYPES)
    relations: list[TypeName] = Field(min_length=1, max_length=MOST_TYPES)
    most_a_month: Decimal = Field(default=Decimal(10), ge=0, le=1_000_000, max_digits=12, decimal_places=2)


def default_types(language: str) -> GraphTypes:
    """language: one that begins with `zh`, or any other for English."""
    entities, relations = DEFAULTS["zh" if language.startswith("zh") else "en"]
    return GraphTypes(entities=entities, relations=relations)


def types_of(base: KnowledgeBase, language: str) -> GraphTypes:
    """The base's own, or the defaults in the language of a document."""
    return GraphTypes.model_validate(base.graph_types) if base.graph_types else default_types(language)


def read_types(given: dict[str, Any]) -> GraphTypes:
    """Raises InvalidInput, in one sentence."""
    try:
        return GraphTypes.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise InvalidInput(f"{' '.join(map(str, first['loc']))}: {first['msg']}.") from None
