"""How much longer than its arguments a statement can make a value: time limits come too late for a text that doubles.

`x || x` doubles; ten such steps in a row make a thousand times the text, thirty the server's memory. Each operation counts the
doublings it can do at most, wherever it stands; pieces written out in the statement add only their own length. What a recursive
query repeats may not double at all.
"""

from math import ceil, log2

from django.utils.translation import gettext as _
from postgast import pg_query_pb2

from agent.business.guard.grammar import Tree, nodes
from agent.business.guard.refusal import Reason, SqlRefused
from agent.business.guard.vocabulary import SET_FUNCTIONS

MAX_DOUBLINGS = 10
COLLECTING = frozenset(
    {"array_agg", "string_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg"}
)  # the whole input in one value: the planner's estimate of the input is held to a limit
_INSERTING = {
    "replace": 2,
    "regexp_replace": 2,
    "array_replace": 2,
    "array_to_string": 1,
    "string_agg": 1,
    "to_char": 1,
}  # what each match gets
_JOINING = frozenset(
    {
        "concat",
        "concat_ws",
        "overlay",
        "array_cat",
        "array_append",
        "array_prepend",
        "json_build_object",
        "jsonb_build_object",
        "json_build_array",
        "jsonb_build_array",
    }
)
_QUOTING = frozenset({"to_json", "to_jsonb", "row_to_json", "quote_literal"})  # a quote becomes two characters
_POWERS = frozenset({"power", "pow"})
_EXP_DOUBLINGS = 7  # numeric exp has at most 2,610 digits; the planner thinks of 32 bytes
_VARIABLE = frozenset({"ColumnRef", "SubLink", "FuncCall", "SQLValueFunction"})


def doublings(tree: Tree) -> int:
    """The doublings of a statement, all together. Raises SqlRefused above MAX_DOUBLINGS."""
    found = sum(map(_of, nodes(tree)))
    if collects(tree):
        found += sum(map(_of_numbers, nodes(tree)))
    if found > MAX_DOUBLINGS:
        raise SqlRefused(Reason.COST, _("This could make a text far longer than the data: join fewer values into one."))
    return found


def collects(tree: Tree) -> bool:
    """Whether an aggregate gathers its input into one value."""
    return any(_name(node) in COLLECTING for node in _calls(tree))


def require_foreseeable(tree: Tree) -> None:
    """Raises SqlRefused for rows that nobody can count beforehand where they would fill memory.

    That is a recursive query that keeps its rows apart (UNION) or lengthens a text in each round, and gathering into one value
    what a recursive query or a function of columns returns: for these the planner only guesses.
    """
    is_recursive = False
    for node in nodes(tree):
        if node.DESCRIPTOR.name == "CommonTableExpr" and _repeats(node):
            is_recursive = True
            query = node.ctequery.select_stmt
            if query.op == pg_query_pb2.SETOP_UNION and not query.all:
                raise SqlRefused(Reason.COST, _("A recursive query must use UNION ALL."))
            if sum(map(_of, nodes(query))):
                raise SqlRefused(Reason.COST, _("A recursive query may not join values into a longer one."))
    guessed = (node for node in _calls(tree) if _name(node) in SET_FUNCTIONS and not _is_written_out(node.args))
    if collects(tree) and (is_recursive or any(guessed)):
        raise SqlRefused(
            Reason.COST, _("Rows of a recursive query or of a function cannot be gathered into one value: list them.")
        )


def _repeats(query: Tree) -> bool:
    """Whether a WITH query reads itself, or a table of its name."""
    return any(n.DESCRIPTOR.name == "RangeVar" and n.relname == query.ctename for n in nodes(query.ctequery))


def _is_written_out(args: Tree) -> bool:
    return all(node.DESCRIPTOR.name not in _VARIABLE for arg in args for node in nodes(arg))


def _of(node: Tree) -> int:
    kind = node.DESCRIPTOR.name
    if kind == "A_Expr":
        return _of_operator(node)
    if kind == "A_ArrayExpr":
        return _more(node.elements)
    return _of_call(_name(node), list(node.args)) if kind == "FuncCall" else 0


def _of_operator(node: Tree) -> int:
    sign = [part.string.sval for part in node.name]
    if sign == ["||"]:
        return _more([node.lexpr, node.rexpr])
    return _raised(node.rexpr) if sign == ["^"] else 0


def _of_call(name: str, args: list[Tree]) -> int:
    if name in _JOINING:
        return _more(args)
    if name in _QUOTING:
        return 1
    if name in _POWERS and len(args) == 2:
        return _raised(args[1])
    at = _INSERTING.get(name)
    return _inserted(args[at]) if at is not None and len(args) > at else 0


def _of_numbers(node: Tree) -> int:
    """A product has the digits of both factors; only where values are gathered are there enough of them to matter."""
    if node.DESCRIPTOR.name == "A_Expr" and [part.string.sval for part in node.name] == ["*"]:
        return _more([node.lexpr, node.rexpr])
    return _EXP_DOUBLINGS if node.DESCRIPTOR.name == "FuncCall" and _name(node) == "exp" else 0


def _raised(exponent: Tree) -> int:
    """A number has as many times the digits as the exponent says; at most 131,072, which an unknown exponent may reach."""
    if not _is_constant(exponent):
        return MAX_DOUBLINGS
    while exponent.WhichOneof("node") == "type_cast":
        exponent = exponent.type_cast.arg
    kind = exponent.a_const.WhichOneof("val")
    if kind == "ival":
        return ceil(log2(max(1, abs(exponent.a_const.ival.ival))))
    if kind == "fval" and abs(float(exponent.a_const.fval.fval)) <= 1:
        return 1
    return MAX_DOUBLINGS


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


def _calls(tree: Tree) -> list[Tree]:
    return [node for node in nodes(tree) if node.DESCRIPTOR.name == "FuncCall"]


def _name(node: Tree) -> str:
    return str(node.funcname[-1].string.sval)
