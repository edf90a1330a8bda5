"""What a language model is to the graph: a function that apps above this one add, because this one knows no models."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from copilot_site.lib.registry import Registry
from knowledge.graph.model_types import GraphTypes
from knowledge.graph.pattern_extraction import Said


class NoModel(Exception):
    """There is none that may be asked, or it failed; the text is one sentence for whoever looks after the base."""


@dataclass
class Used:
    """What the reading of one document took, whether it went well or not."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = field(default_factory=Decimal)


class ModelReader(Protocol):
    """Reads passages of one document with a language model."""

    def __call__(
        self, passages: Sequence[str], *, types: GraphTypes, language: str, most: Decimal | None, used: Used
    ) -> list[Said]:
        """What each passage says, in their order; only names that stand in it, only of these types.

        most: what may still be spent; None for as much as is needed. used: is added to as it is spent. Raises NoModel.
        """


model_readers: Registry[ModelReader] = Registry("reader of passages")
