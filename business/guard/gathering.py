"""Estimate what a statement aggregates into one value: the planner knows the rows, not their lengths."""

from dataclasses import dataclass

from business.guard.grammar import Tree, nodes
from business.guard.growth import collectors, name_of

VALUE_BYTES = 32  # server memory per value, besides its text
PARSED = 16  # each byte of a text parsed as an array or JSON may become a value
_PARSING = frozenset({"string_to_array", "regexp_split_to_array", "to_jsonb"})
_PARSED_TYPES = frozenset({"json", "jsonb"})
_TO_DIGITS = frozenset({"round", "trunc"})
MAX_DIGITS = 2_000  # decimals that PostgreSQL writes


@dataclass(frozen=True)
class Gathering:
    """row_bytes: per row, besides the planner's width of its columns. times: the growth once aggregated."""

    row_bytes: int
    times: int


def gathering(tree: Tree, *, longer: int) -> Gathering | None:
    """Return what a rewritten statement aggregates into one value, or None. longer: factor by which a text may grow."""
    collected = collectors(tree)
    if not collected:
        return None
    found = list(nodes(tree))
    parsed = PARSED if any(map(_parses, found)) else 1
    return Gathering(VALUE_BYTES + sum(map(_written, found)), collected * parsed * longer)


def _parses(node: Tree) -> bool:
    """Return whether a text is parsed into many values."""
    kind = node.DESCRIPTOR.name
    if kind == "TypeCast":
        name = node.type_name
        is_parsed = bool(name.array_bounds) or name.names[-1].string.sval in _PARSED_TYPES
        return is_parsed and node.arg.WhichOneof("node") != "a_const"
    return kind == "FuncCall" and name_of(node) in _PARSING


def _written(node: Tree) -> int:
    """Return the bytes that a statement may add to each row: its texts, names and requested digits."""
    kind = node.DESCRIPTOR.name
    if kind == "A_Const":
        return len(node.sval.sval.encode())
    if kind == "String":
        return len(node.sval.encode())
    if kind == "ResTarget":
        return len(node.name.encode())
    if kind == "TypeName":
        return sum(part.a_const.ival.ival for part in node.typmods)
    if kind == "FuncCall" and name_of(node) in _TO_DIGITS and len(node.args) == 2:
        digits = node.args[1]
        is_plain = digits.WhichOneof("node") == "a_const" and digits.a_const.WhichOneof("val") == "ival"
        return min(MAX_DIGITS, digits.a_const.ival.ival) if is_plain else MAX_DIGITS
    return 0
