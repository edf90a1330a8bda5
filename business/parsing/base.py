"""The inputs and results of all parsers from a question to a logical query."""

from dataclasses import dataclass, field
from datetime import date

from business.logical_query.query import LogicalQuery


@dataclass(frozen=True)
class Context:
    """language: of the question. today: the company's day. earlier: the conversation's last query.

    named_in: a text that names what “these” in the question are, such as a passage of a document.
    """

    language: str
    today: date
    earlier: LogicalQuery | None = None
    named_in: str = ""


@dataclass(frozen=True)
class MeaningChoice:
    """One of several meanings. text: a complete question for it. source: the query's source; "" for none yet."""

    text: str
    query: LogicalQuery | None = None
    source: str = ""


@dataclass(frozen=True)
class Clarification:
    """An ambiguous question: the person chooses a meaning."""

    choices: tuple[MeaningChoice, ...]


@dataclass(frozen=True)
class Unparseable:
    """why: one sentence for the person. unknown: words without a meaning here. partial: the understood part."""

    why: str
    unknown: tuple[str, ...] = ()
    partial: LogicalQuery | None = field(default=None, compare=False)


Parsed = LogicalQuery | Clarification | Unparseable


@dataclass(frozen=True)
class Example:
    """sql: as written by a person or model over the source's tables, before the guard."""

    question: str
    sql: str
