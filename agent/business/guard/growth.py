"""How much longer than its arguments a statement can make a value: time limits come too late for a text that doubles.

`x || x` doubles; ten such steps in a row make a thousand times the text, thirty the server's memory. Each operation counts the
doublings it can do at most, wherever it stands; pieces written out in the statement add only their own length.
"""

from math import ceil, log2

from django.utils.translation import gettext as _

from agent.business.guard.grammar import Tree, nodes
from agent.business.guard.refusal import Reason, SqlRefused

MAX_DOUBLINGS = 10
COLLECTING = frozenset(
    {"array_agg", "string_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg"}
)  # the whole input in one value: the planner's estimate of the input is held to a limit
_INSERTING = {
    "replace": 2,
    "regexp_replace": 2,
    "array_to_string": 1,
    "string_agg": 1,
    "to_char": 1,
}  # what each match gets
_JOINING = frozenset(
    {
        "concat",
        "concat_ws",
        "overlay",
        "json_build_object",
        "jsonb_build_object",
        "json_build_array",
        "jsonb_build_array",
    }
)
_QUOTING = frozenset({"to_json", "to_jsonb", "row_to_json"})  # each turns a quote into two characters


def doublings(tree: Tree) -> int:
    """The doublings of a statement, all together. Raises SqlRefused above MAX_DOUBLINGS."""
    found = sum(_of(node) for node in nodes(tree))
    if found > MAX_DOUBLINGS:
        raise SqlRefused(Reason.COST, _("This could make a text far longer than the data: join fewer values into one."))
    return found


def collects(tree: Tree) -> bool:
    """Whether an aggregate gathers its input into one value."""
    return any(node.DESCRIPTOR.name == "FuncCall" and _name(node) in COLLECTING for node in nodes(tree))


def _of(node: Tree) -> int:
    kind = node.DESCRIPTOR.name
    if kind == "A_Expr" and [part.string.sval for part in node.name] == ["||"]:
        return _more([node.lexpr, node.rexpr])
    if kind == "A_ArrayExpr":
        return _more(node.elements)
    if kind != "FuncCall":
        return 0
    name, args = _name(node), list(node.args)
    if name in _JOINING:
        return _more(args)
    if name in _QUOTING:
        return 1
    at = _INSERTING.get(name)
    return _inserted(args[at]) if at is not None and len(args) > at else 0


def _more(parts: list[Tree]) -> int:
    """Joining n values that are not written out makes at most n times the longest."""
    values = sum(not _is_constant(part) for part in parts)
    return ceil(log2(values)) if values > 1 else 0


def _inserted(part: Tree) -> int:
    """A piece put in again and again: its length when it is written out; else it may be as long as anything."""
    if not _is_constant(part):
        return MAX_DOUBLINGS + 1
    while part.WhichOneof("node") == "type_cast":
        part = part.type_cast.arg
    length = len(part.a_const.sval.sval)
    return ceil(log2(length)) if length > 1 else 0


def _is_constant(part: Tree) -> bool:
    if part.WhichOneof("node") == "type_cast":
        return _is_constant(part.type_cast.arg)
    return bool(part.WhichOneof("node") == "a_const")


def _name(node: Tree) -> str:
    return str(node.funcname[-1].string.sval)
