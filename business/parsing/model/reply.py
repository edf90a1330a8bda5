"""What a language model is asked to write."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from business.logical_query.query import LogicalQuery, Text


class Malformed(ValueError):
    """What a language model wrote is no such object. text: what it wrote. why: for the model."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(why)
        self.text = text


def texts(value: Any) -> Any:
    """The texts of a list that a model wrote; none of what is no list."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


class Reply(BaseModel):
    """query: what is asked, by the names of the tables shown. sql: only where a query cannot express it.

    missing: what the tables do not hold. unclear: complete questions, where several things may be meant.
    """

    query: LogicalQuery | None = None
    sql: Text = ""
    missing: Text = ""
    unclear: Annotated[list[str], BeforeValidator(texts)] = Field(default_factory=list)
