"""Limit comparisons that take the product of two lengths, inside one call that no time limit interrupts.

These are searching a text in a text, matching LIKE, and comparing lists or JSON. Where a statement aggregates values
into one or lengthens them, one side must stay short.

A part counts as long as everything in it together, times what an operation lengthens it; a name counts for all that
it may refer to. This overestimates.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator

from django.utils.translation import gettext as _
from postgast import pg_query_pb2

from business.guard.grammar import Tree, iterate_children, iterate_nodes
from business.guard.growth import COLLECTING, count_collectors, count_node_doublings, find_function_name
from business.guard.refusal import RefusalKind, SqlRefused
from business.guard.rules import list_name_parts

# Position of the argument that the function searches for in its first one.
_SOUGHT = {"strpos": 1, "position": 1, "replace": 1, "split_part": 1, "string_to_array": 1, "string_to_table": 1}
_LIKE = frozenset({"~~", "!~~", "~~*", "!~~*"})
_PIECEWISE = _LIKE | {"@>", "<@", "&&", "?|", "?&"}
_OF_JSON = frozenset({"-"})  # for JSON it removes keys; for numbers and dates it subtracts
MAX_STEPS = 3_200_000_000  # some three seconds: 32 characters or values against the longest value
LIKE_STEPS = 4  # cost of a step of LIKE: it is as slow with 8 characters as others with 32


def require_short_comparisons(tree: Tree, *, longer: int) -> None:
    """Raise SqlRefused where both sides of a comparison may be long. tree: rewritten. longer: factor of text growth."""
    found = list(iterate_nodes(tree))
    signs = _PIECEWISE | _OF_JSON if any(map(_makes_json, found)) else _PIECEWISE
    pairs = [pair for node in found if (pair := _find_compared_sides(node, signs))]
    if not pairs or not (count_collectors(tree) or longer > 1):
        return
    lengths = Lengths(tree)
    if any(lengths.of(one) * lengths.of(other) * steps > MAX_STEPS for one, other, steps in pairs):
        raise SqlRefused(
            RefusalKind.COST,
            _("This compares two values that may both be long: compare with a short text or a short list."),
        )


def _find_compared_sides(node: Tree, signs: frozenset[str]) -> tuple[Tree, Tree, int] | None:
    """Return the two sides of such a comparison, and the cost of a step."""
    kind = node.DESCRIPTOR.name
    if kind == "A_Expr" and (sign := list_name_parts(node.name)[-1]) in signs:
        return node.lexpr, node.rexpr, LIKE_STEPS if sign in _LIKE else 1
    if kind == "SubLink" and node.oper_name and (sign := list_name_parts(node.oper_name)[-1]) in signs:
        return node.testexpr, node.subselect, LIKE_STEPS if sign in _LIKE else 1
    at = _SOUGHT.get(find_function_name(node)) if kind == "FuncCall" else None
    return (node.args[0], node.args[at], 1) if at is not None and len(node.args) > at else None


def _makes_json(node: Tree) -> bool:
    if node.DESCRIPTOR.name == "TypeName":
        return bool(node.names[-1].string.sval == "jsonb")
    return node.DESCRIPTOR.name == "FuncCall" and "jsonb" in find_function_name(node)


GATHERED = 100_000_000  # characters or values: more than one value can have in the server's memory
COLUMN = 30  # assumed length of a column's value
_ROUNDS = 30  # most rounds to resolve names of names
_OPERATORS = frozenset(
    {"||", "-", "->", "->>", "#>", "#>>"}
)  # operators whose result may be as long as their arguments
_MEASURING = """
count sum avg stddev variance length char_length character_length octet_length bit_length cardinality array_length
array_upper array_lower array_ndims array_position strpos position json_array_length jsonb_array_length regexp_count
regexp_instr regexp_like starts_with extract date_part age date_trunc md5 ascii row_number rank dense_rank ntile
"""
_MEASURES = frozenset(_MEASURING.split())  # always short
_CUTTING = frozenset({"left", "right"})
# PostgreSQL's names for unnamed expressions, besides functions and types in them.
_CALLED = frozenset({"?column?", "array", "case", "coalesce", "greatest", "least", "nullif", "row"})
_KEEPING = frozenset({"type_cast", "a_indirection", "collate_clause"})  # named after their argument
_OF_ROWS = ("key", "value")  # column names of json_each and similar functions
_NAMING = frozenset({"RangeSubselect", "RangeFunction", "RangeVar", "JoinExpr"})


class Lengths:
    """The lengths in one statement. Columns are assumed short, aggregated values long."""

    def __init__(self, tree: Tree) -> None:
        self._named: dict[str, int] = defaultdict(lambda: COLUMN)
        self._known: dict[int, int] = {}
        found = list(iterate_nodes(tree))
        self._alive = found  # messages are compared by identity
        grown, rounds = {""}, 0
        while grown:
            self._known = {}
            grown = {
                name
                for node in found
                for name, part in _iterate_defined_names(node)
                if self._record_longer_length(name, part)
            }
            rounds += 1
            if rounds > _ROUNDS:  # a cycle
                self._named.update(dict.fromkeys(grown, GATHERED))

    def of(self, part: Tree) -> int:
        """Return the number of characters or values in a part, at most GATHERED."""
        if id(part) not in self._known:
            self._known[id(part)] = min(GATHERED, self._measure_node(part))
        return self._known[id(part)]

    def _record_longer_length(self, name: str, part: Tree) -> bool:
        """Return whether the part is longer than the name's known length, and store it."""
        length = self.of(part)
        if length <= self._named[name]:
            return False
        self._named[name] = length
        return True

    def _measure_node(self, node: Tree) -> int:
        kind = node.DESCRIPTOR.name
        if kind == "A_Const":
            return max(1, len(node.sval.sval))
        if kind == "SubLink" and node.sub_link_type == pg_query_pb2.ARRAY_SUBLINK:
            return GATHERED
        if kind == "A_Expr" and list_name_parts(node.name)[-1] not in _OPERATORS:
            return COLUMN
        own = _OWN.get(kind)
        return own(self, node) if own else self._sum_child_lengths(node)

    def _measure_column(self, node: Tree) -> int:
        last = node.fields[-1]
        return sum(self._named.values()) if last.WhichOneof("node") == "a_star" else self._named[last.string.sval]

    def _measure_range_variable(self, node: Tree) -> int:
        return self._named[node.relname]

    def _measure_function_call(self, node: Tree) -> int:
        name = find_function_name(node)
        if name in COLLECTING:
            return GATHERED
        if name in _MEASURES:
            return COLUMN
        if name in _CUTTING and len(node.args) == 2 and node.args[1].a_const.ival.ival > 0:
            return min(int(node.args[1].a_const.ival.ival), self.of(node.args[0]))
        return self._sum_child_lengths(node)

    def _measure_array_element(self, node: Tree) -> int:
        """Return the length of an element: `(array_agg(x))[1]` is as long as x."""
        call = node.arg.func_call
        is_slice = any(part.a_indices.is_slice for part in node.indirection)
        is_gathered = (
            node.arg.WhichOneof("node") == "func_call" and find_function_name(call) in COLLECTING and not is_slice
        )
        return sum(map(self.of, call.args)) if is_gathered else self._sum_child_lengths(node)

    def _sum_child_lengths(self, node: Tree) -> int:
        return sum(self.of(child) for _field, child in iterate_children(node)) * int(2 ** count_node_doublings(node))


_OWN: dict[str, Callable[[Lengths, Tree], int]] = {
    "ColumnRef": Lengths._measure_column,
    "RangeVar": Lengths._measure_range_variable,
    "FuncCall": Lengths._measure_function_call,
    "A_Indirection": Lengths._measure_array_element,
}


def _iterate_defined_names(node: Tree) -> Iterator[tuple[str, Tree]]:
    """Yield the names that a part of a statement defines, each with its expression."""
    kind = node.DESCRIPTOR.name
    if kind == "ResTarget":
        yield from ((name, node.val) for name in _find_possible_target_names(node))
    elif kind == "SelectStmt" and node.values_lists:
        for place in range(len(node.values_lists[0].list.items)):
            yield f"column{place + 1}", node
    elif kind == "SelectStmt" and node.op != pg_query_pb2.SETOP_NONE:
        first = node
        while first.op != pg_query_pb2.SETOP_NONE:
            first = first.larg
        yield from ((name, node) for item in first.target_list for name in _find_possible_target_names(item.res_target))
    elif kind == "CommonTableExpr":
        for name in (node.ctename, *list_name_parts(node.aliascolnames)):
            yield name, node.ctequery
    elif kind in _NAMING:
        for name in (node.alias.aliasname, *list_name_parts(node.alias.colnames), *_find_extra_from_names(node)):
            yield name, node


def _find_extra_from_names(node: Tree) -> list[str]:
    """Return names besides the alias: those of a function's columns, and the common columns of a join."""
    if node.DESCRIPTOR.name == "RangeFunction":
        return [
            *_OF_ROWS,
            *(find_function_name(call) for call in iterate_nodes(node) if call.DESCRIPTOR.name == "FuncCall"),
        ]
    return [node.join_using_alias.aliasname] if node.DESCRIPTOR.name == "JoinExpr" else []


def _find_possible_target_names(target: Tree) -> Iterator[str]:
    """Yield the name of a selected expression, or all names that PostgreSQL may give it."""
    if target.name:
        yield target.name
        return
    yield from _CALLED
    value = target.val
    while (kind := value.WhichOneof("node")) in _KEEPING:
        value = getattr(value, kind).arg
    if kind == "column_ref":
        yield from list_name_parts(value.column_ref.fields)[-1:]
    elif kind == "sub_link":
        for item in value.sub_link.subselect.select_stmt.target_list[:1]:
            yield from _find_possible_target_names(item.res_target)
    for node in iterate_nodes(target.val):
        if node.DESCRIPTOR.name == "FuncCall":
            yield find_function_name(node)
        elif node.DESCRIPTOR.name == "TypeName":
            yield node.names[-1].string.sval
