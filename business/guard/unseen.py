"""Hide a statement's values: PostgreSQL's planner uses value frequencies of whole tables, other units' rows included.

Whether a plan is too expensive must not depend on them: a refusal would reveal whether somebody else's row has a value.
So the plan uses parameters in place of values; it still depends on the tables' sizes and numbers of distinct values.
"""

from functools import cache

from postgast import pg_query_pb2

from business.guard.grammar import (
    Tree,
    copy_of,
    deparse_tree,
    iterate_children,
    iterate_nodes,
    parse_trusted_expression,
    serialise_content,
)
from business.guard.growth import find_function_name
from business.guard.rules import list_name_parts
from business.guard.vocabulary import SET_FUNCTIONS

# Fields where a number is a position in the select list, or where a value is not compared with rows.
_PLACES = frozenset({"node", "group_clause", "distinct_clause", "content", "quals"})
_KEPT = frozenset({"limit_count", "limit_offset", "typmods"})
_TYPES = {"ival": "int4", "boolval": "bool"}
_WITHOUT_ARGUMENTS = {
    "pi": "float8",
    "now": "timestamptz",
    "transaction_timestamp": "timestamptz",
    "statement_timestamp": "timestamptz",
    "clock_timestamp": "timestamptz",
    "make_interval": "interval",
    "json_build_array": "json",
    "json_build_object": "json",
    "jsonb_build_array": "jsonb",
    "jsonb_build_object": "jsonb",
}  # like values: numbers and texts can be made of them
_KEYWORDS = ("date", "timetz", "timetz", "timestamptz", "timestamptz", "time", "time", "timestamp", "timestamp")
_OTHER_SIDE = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def replace_values_by_parameters(tree: Tree) -> tuple[str, str]:
    """Return two texts: equal values share a parameter, as GROUP BY needs, or each has its own, as mixed types need."""
    return _parametrise_values(tree, is_shared=True), _parametrise_values(tree, is_shared=False)


def _parametrise_values(tree: Tree, *, is_shared: bool) -> str:
    copy = copy_of(tree)
    numbers: dict[bytes | int, int] = {}

    def hide(node: Tree) -> None:
        is_extract = node.DESCRIPTOR.name == "FuncCall" and find_function_name(node) == "extract"
        word = node.args[0] if is_extract else None  # `extract(year FROM x)`
        for field, child in list(iterate_children(node)):
            if field in _KEPT or child == word or _is_table_projection(child) or _makes_rows(child):
                continue
            kind = _find_value_type(child)
            if kind is None:
                hide(child)
                _add_opposite_bound(child)
            elif field not in _PLACES or child.WhichOneof("node") != "a_const":
                key = serialise_content(child) if is_shared else len(numbers)
                _set_parameter(child, numbers.setdefault(key, len(numbers) + 1), kind)

    hide(copy)
    return deparse_tree(copy)


_expression = cache(parse_trusted_expression)  # results are copied, never changed


def _set_parameter(node: Tree, number: int, kind: str) -> None:
    node.CopyFrom(_expression(f"$1::{kind}" if kind else "$1"))
    (node.type_cast.arg if kind else node).param_ref.number = number


def _find_value_type(node: Tree) -> str | None:
    """Return the type of a part that is constant for all rows, empty where only its use tells; None for other parts."""
    kind = node.WhichOneof("node") if node.DESCRIPTOR.name == "Node" else None
    if kind == "a_const":
        written = node.a_const.WhichOneof("val") or ""
        if written == "fval":
            return "int8" if node.a_const.fval.fval.isdigit() and len(node.a_const.fval.fval) < 19 else "numeric"
        return _TYPES.get(written, "")
    if kind == "sqlvalue_function":
        return _KEYWORDS[node.sqlvalue_function.op - 1]
    if kind == "func_call" and not node.func_call.args:
        return _WITHOUT_ARGUMENTS.get(find_function_name(node.func_call))
    return "" if kind == "a_array_expr" and not node.a_array_expr.elements else None


def _is_table_projection(node: Tree) -> bool:
    """Return whether a part is our projection of a table, whose values are the person's own org units."""
    if node.DESCRIPTOR.name != "Node" or node.WhichOneof("node") != "range_subselect":
        return False
    tables = node.range_subselect.subquery.select_stmt.from_clause
    return bool(tables and tables[0].range_var.schemaname)


def _makes_rows(node: Tree) -> bool:
    """Return whether a part is `generate_series(1, 12)` or the like: the planner counts rows of no table."""
    is_call = node.DESCRIPTOR.name == "Node" and node.WhichOneof("node") == "func_call"
    if not is_call or find_function_name(node.func_call) not in SET_FUNCTIONS:
        return False
    return not any(part.DESCRIPTOR.name in ("SubLink", "ColumnRef") for part in iterate_nodes(node))


def _add_opposite_bound(node: Tree) -> None:
    """Turn `x > 5` into `x > 5 AND x < 5`: for one hidden bound the planner guesses 1/3 of the table."""
    if node.DESCRIPTOR.name != "Node" or node.WhichOneof("node") != "a_expr":
        return
    sign = list_name_parts(node.a_expr.name)[-1]
    kinds = [{part.DESCRIPTOR.name for part in iterate_nodes(side)} for side in (node.a_expr.lexpr, node.a_expr.rexpr)]
    is_of_value = any(not kind & {"ColumnRef", "SubLink"} for kind in kinds)
    is_of_condition = any("BoolExpr" in kind for kind in kinds)  # narrow only once
    if sign not in _OTHER_SIDE or node.a_expr.kind != pg_query_pb2.AEXPR_OP or not is_of_value or is_of_condition:
        return
    both = copy_of(_expression("a AND b"))
    for place, arg in enumerate(both.bool_expr.args):
        arg.CopyFrom(node)
        arg.a_expr.name[0].string.sval = sign if place == 0 else _OTHER_SIDE[sign]
    node.CopyFrom(both)
