"""Limit how much a statement can lengthen a value: time limits come too late for a text that doubles.

`x || x` doubles; ten such steps in a row make a thousand times the text, thirty fill the server's memory. Each
operation counts its most possible doublings, wherever it is, and once where one query repeats it (an expression
selected, grouped and ordered by is one value); literals add only their own length. A recursive query may not double.
A row taken as one value (`t::text`, `concat(t.*)`) is as long as all its columns together, each quoted once more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log2

from django.utils.translation import gettext as _
from postgast import pg_query_pb2

from business.guard.grammar import (
    Tree,
    is_star,
    iterate_children,
    iterate_nodes,
    iterate_nodes_by_query,
    serialise_content,
)
from business.guard.refusal import RefusalKind, SqlRefused
from business.guard.rules import list_name_parts
from business.guard.vocabulary import CHARACTER_SETS, SET_FUNCTIONS

MAX_DOUBLINGS = 10
COLLECTING = frozenset(
    {"array_agg", "string_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg"}
)  # aggregate the whole input: its size by the planner is limited
_INSERTING = {
    "replace": 2,
    "regexp_replace": 2,
    "array_replace": 2,
    "array_to_string": 1,
    "string_agg": 1,
}  # the replacement of each match
_JOINING = frozenset(
    {
        "concat",
        "concat_ws",
        "overlay",
        "array_cat",
        "array_append",
        "array_prepend",
    }
)
_BUILDING = frozenset({"json_build_object", "jsonb_build_object", "json_build_array", "jsonb_build_array"})
_QUOTING = frozenset(
    {
        "to_json",
        "to_jsonb",
        "row_to_json",
        "quote_literal",
        "quote_nullable",
        "quote_ident",
        "json_agg",
        "jsonb_agg",
        "json_object_agg",
        "jsonb_object_agg",
    }
)  # a quote becomes two characters
_WRITTEN_AS = "to_char"  # as long as its template
_PADDED = frozenset({"bpchar", "char"})  # to a given length
MAX_PADDED = 100  # characters
_POWERS = frozenset({"power", "pow"})
_EXP_DOUBLINGS = 7  # numeric exp has at most 2,610 digits; the planner assumes 32 bytes
SERIES = "generate_series"
_VARIABLE = frozenset({"ColumnRef", "SubLink", "FuncCall", "SQLValueFunction"})


def count_doublings(tree: Tree) -> int:
    """Return the total doublings of a statement. Raises SqlRefused above MAX_DOUBLINGS."""
    found = sum(_iterate_distinct_doublings(tree)) + _count_row_doublings(tree)
    if count_collectors(tree):
        found += sum(map(_count_number_doublings, iterate_nodes(tree)))
    if found > MAX_DOUBLINGS:
        raise SqlRefused(
            RefusalKind.COST, _("This could make a text far longer than the data: join fewer values into one.")
        )
    return found


def _iterate_distinct_doublings(tree: Tree) -> Iterator[int]:
    known = set()
    for query, node in iterate_nodes_by_query(tree):
        if doubled := count_node_doublings(node):
            key = (query, node.DESCRIPTOR.name, serialise_content(node))
            if key not in known:
                known.add(key)
                yield doubled


def count_collectors(tree: Tree) -> int:
    """Return the number of aggregates and ARRAY(SELECT …) that collect their input into one value."""
    return sum(map(_collects_input, iterate_nodes(tree)))


def _collects_input(node: Tree) -> bool:
    if node.DESCRIPTOR.name == "FuncCall":
        return find_function_name(node) in COLLECTING
    return _is_array_query(node)


def require_predictable_rows(tree: Tree) -> None:
    """Raise SqlRefused for unpredictable row counts that could fill memory.

    These are a recursive query that removes duplicates (UNION) or lengthens a text in each round, and the aggregation
    into one value of a recursive query's or a set-returning function's rows: for these the planner only guesses.
    """
    is_recursive = False
    for node in iterate_nodes(tree):
        if node.DESCRIPTOR.name == "CommonTableExpr" and _is_recursive_query(node):
            is_recursive = True
            query = node.ctequery.select_stmt
            if query.op == pg_query_pb2.SETOP_UNION and not query.all:
                raise SqlRefused(RefusalKind.COST, _("A recursive query must use UNION ALL."))
            if sum(map(count_node_doublings, iterate_nodes(query))):
                raise SqlRefused(RefusalKind.COST, _("A recursive query may not join values into a longer one."))
    guessed = {
        find_function_name(node)
        for node in list_function_calls(tree)
        if find_function_name(node) in SET_FUNCTIONS and not _is_written_out(node.args)
    }
    gathers_guessed = guessed and any(find_function_name(node) in COLLECTING for node in list_function_calls(tree))
    # a value has at most as many parts as its length
    lists_guessed = SERIES in guessed and any(map(_is_array_query, iterate_nodes(tree)))
    if (is_recursive and count_collectors(tree)) or gathers_guessed or lists_guessed:
        raise SqlRefused(
            RefusalKind.COST,
            _("Rows of a recursive query or of a function cannot be gathered into one value: list them."),
        )


def _is_array_query(node: Tree) -> bool:
    return bool(node.DESCRIPTOR.name == "SubLink" and node.sub_link_type == pg_query_pb2.ARRAY_SUBLINK)


def _is_recursive_query(query: Tree) -> bool:
    """Return whether a WITH query reads itself, or a table with its name."""
    return any(n.DESCRIPTOR.name == "RangeVar" and n.relname == query.ctename for n in iterate_nodes(query.ctequery))


def _is_written_out(args: Tree) -> bool:
    return all(node.DESCRIPTOR.name not in _VARIABLE for arg in args for node in iterate_nodes(arg))


def count_node_doublings(node: Tree) -> int:
    """Return how often an operation may double its longest argument."""
    kind = node.DESCRIPTOR.name
    if kind == "A_Expr":
        return _count_operator_doublings(node)
    if kind in ("A_ArrayExpr", "RowExpr"):
        return _count_text_cast_doublings(node.elements if kind == "A_ArrayExpr" else node.args)
    if kind == "TypeName":
        return _count_padding_doublings(node)
    return _count_call_doublings(find_function_name(node), list(node.args)) if kind == "FuncCall" else 0


def _count_operator_doublings(node: Tree) -> int:
    sign = [part.string.sval for part in node.name]
    if sign == ["||"]:
        return _count_joining_doublings([node.lexpr, node.rexpr])
    return _count_power_doublings(node.rexpr) if sign == ["^"] else 0


def _count_call_doublings(name: str, args: list[Tree]) -> int:
    if name in _JOINING:
        return _count_joining_doublings(args)
    if name in _BUILDING:
        return _count_text_cast_doublings(args)
    if name in _QUOTING:
        return 1
    if name == _WRITTEN_AS and len(args) == 2:
        return 0 if _is_constant(args[1]) else MAX_DOUBLINGS + 1
    if name in _POWERS and len(args) == 2:
        return _count_power_doublings(args[1])
    at = _INSERTING.get(name)
    return _count_replacement_doublings(args[at]) if at is not None and len(args) > at else 0


def _count_number_doublings(node: Tree) -> int:
    """Return the doublings of numbers: a product has the digits of both factors. It matters in aggregates."""
    if node.DESCRIPTOR.name == "A_Expr" and [part.string.sval for part in node.name] == ["*"]:
        return _count_joining_doublings([node.lexpr, node.rexpr])
    if node.DESCRIPTOR.name != "FuncCall":
        return 0
    among = CHARACTER_SETS.get(find_function_name(node))
    if among is not None and len(node.args) > among:  # as slow as a text that many times longer
        return _count_replacement_doublings(node.args[among])
    return _EXP_DOUBLINGS if find_function_name(node) == "exp" else 0


def _count_power_doublings(exponent: Tree) -> int:
    """Return the doublings of a power: the exponent multiplies the digits, at most 131,072."""
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


def _count_text_cast_doublings(parts: list[Tree]) -> int:
    """Return the doublings of a cast to text: it joins parts of a row, array or JSON and doubles each quote in them."""
    return _count_joining_doublings(parts) + any(not _is_constant(part) for part in parts)


def _count_padding_doublings(type_name: Tree) -> int:
    """Return the doublings of `char(n)`, which pads to n characters, up to ten million."""
    if type_name.names[-1].string.sval not in _PADDED:
        return 0
    is_short = all(0 <= part.a_const.ival.ival <= MAX_PADDED for part in type_name.typmods)
    return 0 if is_short else MAX_DOUBLINGS + 1


def _count_joining_doublings(parts: list[Tree]) -> int:
    """Return the doublings of joining n values that are not literals: at most n times the longest."""
    values = sum(not _is_constant(part) for part in parts)
    return ceil(log2(values)) if values > 1 else 0


def _count_replacement_doublings(part: Tree) -> int:
    """Return the doublings of a repeated replacement: by its length if it is a literal, else unlimited."""
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


def list_function_calls(tree: Tree) -> list[Tree]:
    """Return the calls of functions in a tree."""
    return [node for node in iterate_nodes(tree) if node.DESCRIPTOR.name == "FuncCall"]


def find_function_name(node: Tree) -> str:
    """Return the function that is called, without its schema."""
    return str(node.funcname[-1].string.sval)


_NO_PARENTS = frozenset({"Node", "ColumnRef", "String", "A_Const"})  # wrap one message or none


def _count_row_doublings(tree: Tree) -> int:
    """Return the total doublings of rows that a rewritten statement takes as one value."""
    found = list(iterate_nodes(tree))
    parents = [node for node in found if node.DESCRIPTOR.name not in _NO_PARENTS]
    columns = _collect_columns_by_alias(found)
    references = [
        _is_whole_row_reference(node, child, columns) for node in parents for _name, child in iterate_children(node)
    ]
    if not any(references):
        return 0
    kinds = [node.DESCRIPTOR.name for node in found]
    stars = kinds.count("RangeVar") if "A_Star" in kinds else 0  # joined with itself, a row has twice the columns
    return sum(references) * (1 + ceil(log2(max(1, kinds.count("ResTarget")))) + stars)


def _is_whole_row_reference(parent: Tree, child: Tree, columns: dict[str, list[set[str]]]) -> bool:
    """Return whether a part is a whole row: a column with that name in every such table takes precedence."""
    if child.DESCRIPTOR.name != "Node" or child.WhichOneof("node") != "column_ref":
        return False
    fields = child.column_ref.fields
    if is_star(child):
        return bool(parent.DESCRIPTOR.name != "ResTarget")  # in a select list, a star is every column by itself
    name = list_name_parts(fields)[0]
    return len(fields) == 1 and name in columns and not all(name in known for known in columns[name])


def _collect_columns_by_alias(found: list[Tree]) -> dict[str, list[set[str]]]:
    """Return, by alias in FROM, the known columns of each item with that alias."""
    queries = {
        node.ctename: _list_with_query_columns(node) for node in found if node.DESCRIPTOR.name == "CommonTableExpr"
    }
    named: dict[str, list[set[str]]] = {}
    for node in found:
        kind = node.DESCRIPTOR.name
        if kind == "RangeSubselect":
            known = set(list_name_parts(node.alias.colnames)) or _list_target_names(node.subquery.select_stmt)
            named.setdefault(node.alias.aliasname, []).append(known)
        elif kind == "RangeVar" and not node.schemaname:  # a WITH query; tables are inside our projections
            known = set(list_name_parts(node.alias.colnames)) or queries.get(node.relname, set())
            named.setdefault(node.alias.aliasname, []).append(known)
        elif kind == "JoinExpr":
            named.setdefault(node.alias.aliasname, []).append(set())
            named.setdefault(node.join_using_alias.aliasname, []).append(set())
    return named


def _list_with_query_columns(query: Tree) -> set[str]:
    return set(list_name_parts(query.aliascolnames)) or _list_target_names(query.ctequery.select_stmt)


def _list_target_names(query: Tree) -> set[str]:
    while query.op != pg_query_pb2.SETOP_NONE:
        query = query.larg
    names = set()
    for item in query.target_list:
        target = item.res_target
        is_column = target.val.WhichOneof("node") == "column_ref"
        names.add(target.name or (list_name_parts(target.val.column_ref.fields)[-1] if is_column else ""))
    return names


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


def estimate_gathering(tree: Tree, *, longer: int) -> Gathering | None:
    """Return what a rewritten statement aggregates into one value, or None. longer: factor by which a text may grow."""
    collected = count_collectors(tree)
    if not collected:
        return None
    found = list(iterate_nodes(tree))
    parsed = PARSED if any(map(_parses_text_into_values, found)) else 1
    return Gathering(VALUE_BYTES + sum(map(_count_written_bytes, found)), collected * parsed * longer)


def _parses_text_into_values(node: Tree) -> bool:
    """Return whether a text is parsed into many values."""
    kind = node.DESCRIPTOR.name
    if kind == "TypeCast":
        name = node.type_name
        is_parsed = bool(name.array_bounds) or name.names[-1].string.sval in _PARSED_TYPES
        return is_parsed and node.arg.WhichOneof("node") != "a_const"
    return kind == "FuncCall" and find_function_name(node) in _PARSING


def _count_written_bytes(node: Tree) -> int:
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
    if kind == "FuncCall" and find_function_name(node) in _TO_DIGITS and len(node.args) == 2:
        digits = node.args[1]
        is_plain = digits.WhichOneof("node") == "a_const" and digits.a_const.WhichOneof("val") == "ival"
        return min(MAX_DIGITS, digits.a_const.ival.ival) if is_plain else MAX_DIGITS
    return 0
