"""Expressions of measures: SQL over columns of one table, read by the grammar that guards statements."""

from functools import lru_cache

from business.guard.grammar import deparse_tree, find_outermost_select, iterate_nodes, parse_query
from business.guard.refusal import SqlRefused
from business.guard.rules import list_name_parts, require_known_vocabulary


@lru_cache(maxsize=65_536)  # a layer of 300 tables has 9,000, each asked for more than once
def list_columns(expr: str) -> tuple[str, ...]:
    """Return the columns an expression names, each once. Raises ValueError for what is no plain expression."""
    if not expr:
        return ()
    try:
        tree = parse_query(f"SELECT {expr}")
        require_known_vocabulary(tree)
    except SqlRefused as refused:
        raise ValueError(f"{expr!r} is not an expression over columns: {refused}") from refused
    kinds = {node.DESCRIPTOR.name for node in iterate_nodes(tree)}
    query = find_outermost_select(tree)
    if kinds & {"RangeVar", "SubLink", "WithClause"} or len(query.target_list) != 1 or len(query.ListFields()) > 3:
        raise ValueError(f"{expr!r} must be one expression over columns of the table")
    names = [list_name_parts(node.fields) for node in iterate_nodes(tree) if node.DESCRIPTOR.name == "ColumnRef"]
    if any(len(name) != 1 for name in names):
        raise ValueError(f"{expr!r}: name columns without their table")
    return tuple(dict.fromkeys(name[0] for name in names))


@lru_cache(maxsize=4096)
def qualify_columns(expr: str, alias: str) -> str:
    """Return the expression with its columns taken from `alias`."""
    tree = parse_query(f"SELECT {expr}")
    for node in iterate_nodes(tree):
        if node.DESCRIPTOR.name == "ColumnRef":
            name = list_name_parts(node.fields)[0]
            del node.fields[:]
            for part in (alias, name):
                node.fields.add().string.sval = part
    return deparse_tree(tree).removeprefix("SELECT ")
