"""Why a statement is not run, in words a person (or a model) can act on."""

from enum import StrEnum

from copilot_site.lib.errors import InvalidInput


class Reason(StrEnum):
    """The kinds of refusal; the text beside it says what to change."""

    TEXT = "text"
    SYNTAX = "syntax"
    STATEMENT = "statement"
    FUNCTION = "function"
    RELATION = "relation"
    COLUMN = "column"
    LIMIT = "limit"
    COST = "cost"
    DISAGREEMENT = "disagreement"
    DATABASE = "database"


class SqlRefused(InvalidInput):
    """A statement was refused. `reason` says which rule, the text what is wrong and what would be right."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason
