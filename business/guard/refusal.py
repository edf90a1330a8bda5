"""Refusals of statements, in words that a person or a model can act on."""

import re
from enum import StrEnum

from django.utils.translation import gettext as _

from copilot_site.lib.errors import InvalidInput

_VALUES = re.compile(r"""["'`(].*["'`)]|\d+""", re.DOTALL)  # what a database quotes, and numbers


class RefusalKind(StrEnum):
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

    def __init__(self, reason: RefusalKind, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def build_timeout_refusal(seconds: float) -> SqlRefused:
    return SqlRefused(
        RefusalKind.COST,
        _("The query took longer than %(s)g s, or too much space, and was stopped: add a time window or a filter.")
        % {"s": seconds},
    )


def build_long_row_refusal() -> SqlRefused:
    return SqlRefused(RefusalKind.COST, _("One row of this is too long to show: ask for single values."))


def build_database_refusal(why: object, *, is_about_names: bool) -> SqlRefused:
    """Return the refusal for an error of the database itself.

    is_about_names: it quotes the statement. Other errors quote values of rows, which leave only as a recorded result.
    """
    shown = str(why) if is_about_names else _VALUES.sub("…", str(why))
    return SqlRefused(RefusalKind.DATABASE, _("The database refuses the query: %(why)s.") % {"why": shown})
