"""PostgreSQL's own grammar (libpg_query, PostgreSQL 18): one query in, a tree out, and the tree back to text."""

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

import postgast
from django.utils.translation import gettext as _
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError
from postgast import PgQueryError, pg_query_pb2

from business.guard.refusal import RefusalKind, SqlRefused

MAX_CHARS = 8_000  # the longest statement in our own evaluation sets is 1,900
MAX_NESTING = 60  # nested brackets; parsers recurse
INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})


def strip_statement(text: str) -> str:
    """Return the statement without surrounding white space and without one closing semicolon. Raises SqlRefused."""
    if len(text) > MAX_CHARS:
        raise SqlRefused(
            RefusalKind.TEXT,
            _("The statement has %(n)d characters; at most %(max)d are read.") % {"n": len(text), "max": MAX_CHARS},
        )
    for character in text:
        if character not in "\t\n\r" and unicodedata.category(character) in INVISIBLE:
            raise SqlRefused(
                RefusalKind.TEXT,
                _("The statement contains the invisible character U+%(code)04X: remove it.") % {"code": ord(character)},
            )
    if _measure_bracket_depth(text) > MAX_NESTING:
        raise SqlRefused(
            RefusalKind.TEXT,
            _("Brackets are nested more than %(max)d deep: simplify the statement.") % {"max": MAX_NESTING},
        )
    statement = text.strip().removesuffix(";").rstrip()
    if not statement:
        raise SqlRefused(RefusalKind.TEXT, _("The statement is empty: write one SELECT."))
    return statement


def _measure_bracket_depth(text: str) -> int:
    """Return the maximum depth of brackets; those in strings count too, to be strict."""
    deepest = depth = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth = max(depth - 1, 0)
    return deepest


Tree = Any  # a protobuf message; its classes are made at import time and carry no types
MAX_NODES = 4_000


def parse_query(text: str) -> Tree:
    """Return the tree of exactly one SELECT, VALUES or set operation; raises SqlRefused for anything else."""
    tree = _parse(text)
    if len(tree.stmts) != 1:
        raise SqlRefused(
            RefusalKind.STATEMENT, _("These are %(n)d statements: write exactly one SELECT.") % {"n": len(tree.stmts)}
        )
    kind = tree.stmts[0].stmt.WhichOneof("node")
    if kind != "select_stmt":
        raise SqlRefused(
            RefusalKind.STATEMENT,
            _("Only SELECT is allowed, not %(kind)s.") % {"kind": _format_node_kind(kind)},
        )
    if sum(1 for _node in iterate_nodes(tree)) > MAX_NODES:
        raise SqlRefused(RefusalKind.TEXT, _("The statement has too many parts: simplify it."))
    return tree


def deparse_tree(tree: Tree) -> str:
    """Return the SQL text of a tree, on one line and without comments."""
    try:
        return str(postgast.deparse(tree))
    except PgQueryError as error:
        raise SqlRefused(RefusalKind.SYNTAX, _("The statement cannot be rewritten: simplify it.")) from error


def find_outermost_select(tree: Tree) -> Tree:
    """Return the outermost query of a tree."""
    return tree.stmts[0].stmt.select_stmt


def parse_trusted_expression(text: str) -> Tree:
    """Return the tree of a trusted expression."""
    return find_outermost_select(parse_query(f"SELECT {text}")).target_list[0].res_target.val


def copy_of(node: Tree) -> Tree:
    copy = type(node)()
    copy.CopyFrom(node)
    return copy


def is_star(node: Tree) -> bool:
    """Return whether an expression is `*`, or `t.*`."""
    return bool(node.WhichOneof("node") == "column_ref" and node.column_ref.fields[-1].WhichOneof("node") == "a_star")


def iterate_nodes(tree: Tree) -> Iterator[Tree]:
    """Yield every message of a tree, parents first, iteratively."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += _list_children_reversed(node)


def _list_children_reversed(node: Tree) -> list[Tree]:
    """Return the child messages, last first: a fast `iterate_children`, since the guard visits each node many times."""
    if type(node) is pg_query_pb2.Node:
        kind = node.WhichOneof("node")
        return [getattr(node, kind)] if kind else []
    below: list[Tree] = []
    for name, is_repeated in _list_message_fields(node.DESCRIPTOR):
        if is_repeated:
            below.extend(reversed(getattr(node, name)))
        elif node.HasField(name):
            below.append(getattr(node, name))
    return below


@cache
def _list_message_fields(kind: Descriptor) -> tuple[tuple[str, bool], ...]:
    """Return the fields of a kind of node that hold messages, last first, each with whether it holds several."""
    fields = sorted(kind.fields, key=lambda field: field.number, reverse=True)
    return tuple((field.name, field.is_repeated) for field in fields if field.message_type is not None)


def iterate_children(node: Tree) -> Iterator[tuple[str, Tree]]:
    """Yield the child messages in order, each with the name of its field."""
    if type(node) is pg_query_pb2.Node:  # a wrapper of one message
        if kind := node.WhichOneof("node"):
            yield kind, getattr(node, kind)
        return
    for name, is_repeated in reversed(_list_message_fields(node.DESCRIPTOR)):
        if is_repeated:
            yield from ((name, child) for child in getattr(node, name))
        elif node.HasField(name):
            yield name, getattr(node, name)


def are_equal_statements(one: Tree, other: Tree) -> bool:
    """Return whether two trees are the same statement, ignoring positions in the text."""
    return bool(_copy_without_positions(one) == _copy_without_positions(other))


def serialise_content(tree: Tree) -> bytes:
    """Return a value that is equal for equal trees, ignoring positions in the text."""
    return bytes(_copy_without_positions(tree).SerializeToString(deterministic=True))


def iterate_nodes_by_query(tree: Tree) -> Iterator[tuple[int, Tree]]:
    """Yield every message of a tree with the number of its innermost query."""
    queries = 0
    waiting = [(0, tree)]
    while waiting:
        query, node = waiting.pop()
        if node.DESCRIPTOR.name == "SelectStmt":
            queries += 1
            query = queries
        yield query, node
        waiting += [(query, child) for child in _list_children_reversed(node)]


_PLACES = frozenset(
    {"location", "stmt_location", "stmt_len", "list_start", "list_end", "rexpr_list_start", "rexpr_list_end"}
)


def _copy_without_positions(tree: Tree) -> Tree:
    copy = copy_of(tree)
    for node in iterate_nodes(copy):
        for name in _list_position_fields(node.DESCRIPTOR):
            node.ClearField(name)
    return copy


@cache
def _list_position_fields(kind: Descriptor) -> tuple[str, ...]:
    """Return the fields of a kind of node that hold positions in the text."""
    return tuple(sorted(_PLACES.intersection(kind.fields_by_name)))


def _parse(text: str) -> Tree:
    try:
        return postgast.parse(text)
    except PgQueryError as error:
        raise SqlRefused(
            RefusalKind.SYNTAX, _("This is not PostgreSQL: %(why)s.") % {"why": str(error).rstrip(".")}
        ) from error
    except DecodeError as error:  # the only one it raises: more than 100 levels
        raise SqlRefused(RefusalKind.TEXT, _("The statement is nested too deeply: simplify it.")) from error


def _format_node_kind(kind: str | None) -> str:
    return (kind or "nothing").removesuffix("_stmt").replace("_", " ").upper()
