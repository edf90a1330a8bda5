"""PostgreSQL's own grammar (libpg_query, PostgreSQL 18): one query in, a tree out, and the tree back to text."""

from collections.abc import Iterator
from typing import Any

import postgast
from django.utils.translation import gettext as _
from google.protobuf.message import DecodeError, Message
from postgast import PgQueryError

from business.guard.refusal import Reason, SqlRefused

Tree = Any  # a protobuf message; its classes are made at import time and carry no types
MAX_NODES = 4_000


def parse_query(text: str) -> Tree:
    """The tree of exactly one SELECT, VALUES or set operation; raises SqlRefused for anything else."""
    tree = _parse(text)
    if len(tree.stmts) != 1:
        raise SqlRefused(
            Reason.STATEMENT, _("These are %(n)d statements: write exactly one SELECT.") % {"n": len(tree.stmts)}
        )
    kind = tree.stmts[0].stmt.WhichOneof("node")
    if kind != "select_stmt":
        raise SqlRefused(
            Reason.STATEMENT,
            _("Only questions are run: write one SELECT; %(kind)s is not allowed.") % {"kind": _spoken(kind)},
        )
    if sum(1 for _node in nodes(tree)) > MAX_NODES:
        raise SqlRefused(Reason.TEXT, _("The statement has too many parts: simplify it."))
    return tree


def text_of(tree: Tree) -> str:
    """The statement of a tree, in the grammar's own words, on one line and without comments."""
    try:
        return str(postgast.deparse(tree))
    except PgQueryError as error:
        raise SqlRefused(Reason.SYNTAX, _("The statement cannot be written out again: simplify it.")) from error


def nodes(tree: Tree) -> Iterator[Tree]:
    """Every message of a tree, parents first, without recursion."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        below: list[Tree] = []
        for field, value in node.ListFields():  # as `children`, written out: the guard looks at each node many times
            if field.message_type is not None:
                below.extend((value,) if isinstance(value, Message) else value)
        below.reverse()
        waiting += below


def children(node: Tree) -> Iterator[tuple[str, Tree]]:
    """The messages right below one, each with the name of its field, in order."""
    for field, value in node.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for child in [value] if isinstance(value, Message) else value:
                yield field.name, child


def same(one: Tree, other: Tree) -> bool:
    """Whether two trees are the same statement; places in the text do not count."""
    return bool(_without_places(one) == _without_places(other))


def content(tree: Tree) -> bytes:
    """Equal for trees that say the same, wherever they stand in the text."""
    return bytes(_without_places(tree).SerializeToString(deterministic=True))


def by_query(tree: Tree) -> Iterator[tuple[int, Tree]]:
    """Every message of a tree with the number of the query that it stands right in."""
    queries = 0
    waiting = [(0, tree)]
    while waiting:
        query, node = waiting.pop()
        if node.DESCRIPTOR.name == "SelectStmt":
            queries += 1
            query = queries
        yield query, node
        waiting.extend((query, child) for _name, child in children(node))


def _without_places(tree: Tree) -> Tree:
    copy = type(tree)()
    copy.CopyFrom(tree)
    for node in nodes(copy):
        for name in (
            "location",
            "stmt_location",
            "stmt_len",
            "list_start",
            "list_end",
            "rexpr_list_start",
            "rexpr_list_end",
        ):
            if name in node.DESCRIPTOR.fields_by_name:
                node.ClearField(name)
    return copy


def _parse(text: str) -> Tree:
    try:
        return postgast.parse(text)
    except PgQueryError as error:
        raise SqlRefused(
            Reason.SYNTAX, _("This is not PostgreSQL: %(why)s.") % {"why": str(error).rstrip(".")}
        ) from error
    except DecodeError as error:  # the only one it raises: more than 100 levels
        raise SqlRefused(Reason.TEXT, _("The statement is nested too deeply: simplify it.")) from error


def _spoken(kind: str | None) -> str:
    return (kind or "nothing").removesuffix("_stmt").replace("_", " ").upper()
