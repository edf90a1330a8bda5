"""The place of a quotation on a page, as `knowledge.parsers.pdf.page_marks` finds it."""

from dataclasses import asdict, dataclass
from typing import Any

from knowledge.parsers.blocks import Box


@dataclass(frozen=True)
class PageMarks:
    """width, height: of the page in points, for its shape. boxes: one for each line of the quotation, as shares of the page; none where
    less than half of it was found.
    """

    width: float
    height: float
    boxes: tuple[Box, ...]

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "PageMarks":
        return cls(value["width"], value["height"], tuple(tuple(box) for box in value["boxes"]))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
