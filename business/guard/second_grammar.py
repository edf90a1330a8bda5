"""A second, independent grammar reads what is about to run; where it sees other tables or functions, nothing runs."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import ClassVar

import sqlglot
from django.utils.translation import gettext as _
from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError
from sqlglot.parsers.postgres import PostgresParser

from business.guard.grammar import Tree, nodes
from business.guard.refusal import Reason, SqlRefused
from business.guard.rules import strings

# Words of the grammar that are written like functions; sqlglot, told of none, reads them as such.
_KEYWORDS = frozenset(
    ["all", "any", "array", "coalesce", "exists", "greatest", "grouping", "least", "nullif", "row", "some"]
)


class _Plain(Postgres):
    """sqlglot's PostgreSQL without its knowledge of functions, so that each keeps its written name."""

    class Parser(PostgresParser):
        FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {}


def require_agreement(text: str, tree: Tree) -> None:
    """Raises SqlRefused unless sqlglot reads `text` as one query over the same tables, with no function we did not see."""
    try:
        statements = sqlglot.parse(text, dialect=_Plain)
    except (SqlglotError, RecursionError) as error:
        raise _disagree() from error
    if len(statements) != 1 or not isinstance(statements[0], exp.Query | exp.Values):
        raise _disagree()
    theirs, ours = list(statements[0].walk()), list(nodes(tree))
    tables = _tables(part for part in theirs if isinstance(part, exp.Table))
    if tables != Counter((n.schemaname, n.relname) for n in ours if n.DESCRIPTOR.name == "RangeVar"):
        raise _disagree()
    known = _KEYWORDS.union(strings(node.funcname)[-1] for node in ours if node.DESCRIPTOR.name == "FuncCall")
    if any(part.name.lower() not in known for part in theirs if isinstance(part, exp.Anonymous)):
        raise _disagree()


def _tables(tables: Iterable[exp.Table]) -> Counter[tuple[str, str]]:
    """A function in FROM is no table: it is among the functions."""
    return Counter(
        (table.db if table.args["db"].quoted else table.db.lower(), _name(table.this))
        if table.args.get("db")
        else ("", _name(table.this))
        for table in tables
        if not isinstance(table.this, exp.Anonymous)
    )


def _name(identifier: exp.Expr) -> str:
    return identifier.name if identifier.args.get("quoted") else identifier.name.lower()


def _disagree() -> SqlRefused:
    return SqlRefused(Reason.DISAGREEMENT, _("Two grammars read this statement differently: write it more simply."))
