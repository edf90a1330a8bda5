"""From a question to a logical query: what every way of getting there takes and gives."""

from dataclasses import dataclass, field
from datetime import date

from business.logical_query.query import LogicalQuery


@dataclass(frozen=True)
class Context:
    """language: of the question. today: the company's day. earlier: what the conversation stands on.

    named_in: a text that names what “these” in the question are, such as a passage of a document.
    """

    language: str
    today: date
    earlier: LogicalQuery | None = None
    named_in: str = ""


@dataclass(frozen=True)
class Choice:
    """One of several meanings. text: a complete question that says it. source: whose query it is; "" where there is none yet."""

    text: str
    query: LogicalQuery | None = None
    source: str = ""


@dataclass(frozen=True)
class Clarification:
    """A question that may mean several things: the person chooses."""

    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class FreeForm:
    """A statement for what a logical query cannot express. It follows no definition of the company unless it is shown to."""

    sql: str


@dataclass(frozen=True)
class Unparseable:
    """why: one sentence for the person. unknown: words that stand for nothing here. partial: what was understood."""

    why: str
    unknown: tuple[str, ...] = ()
    partial: LogicalQuery | None = field(default=None, compare=False)


Parsed = LogicalQuery | Clarification | FreeForm | Unparseable


@dataclass(frozen=True)
class Example:
    """sql: as a person or model writes it, over the tables of the source, before the guard."""

    question: str
    sql: str
