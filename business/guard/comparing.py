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

from business.guard.grammar import Tree, children, nodes
from business.guard.growth import COLLECTING, collectors, doublings_of, name_of
from business.guard.refusal import Reason, SqlRefused
from business.guard.rules import strings

# The argument that is searched for in the first one.
_SOUGHT = {"strpos": 1, "position": 1, "replace": 1, "split_part": 1, "string_to_array": 1, "string_to_table": 1}
_LIKE = frozenset({"~~", "!~~", "~~*", "!~~*"})
_PIECEWISE = _LIKE | {"@>", "<@", "&&", "?|", "?&"}
_OF_JSON = frozenset({"-"})  # for JSON it removes keys; for numbers and dates it subtracts
MAX_STEPS = 3_200_000_000  # some three seconds: 32 characters or values against the longest value
LIKE_STEPS = 4  # as slow with 8 characters of a pattern


def require_short_side(tree: Tree, *, longer: int) -> None:
    """Raise SqlRefused where both sides of a comparison may be long. tree: rewritten. longer: factor of text growth."""
    found = list(nodes(tree))
    signs = _PIECEWISE | _OF_JSON if any(map(_makes_json, found)) else _PIECEWISE
    pairs = [pair for node in found if (pair := _compared(node, signs))]
    if not pairs or not (collectors(tree) or longer > 1):
        return
    lengths = Lengths(tree)
    if any(lengths.of(one) * lengths.of(other) * steps > MAX_STEPS for one, other, steps in pairs):
        raise SqlRefused(
            Reason.COST,
            _("This compares two values that may both be long: compare with a short text or a short list."),
        )


def _compared(node: Tree, signs: frozenset[str]) -> tuple[Tree, Tree, int] | None:
    """Return the two sides of such a comparison, and the cost of a step."""
    kind = node.DESCRIPTOR.name
    if kind == "A_Expr" and (sign := strings(node.name)[-1]) in signs:
        return node.lexpr, node.rexpr, LIKE_STEPS if sign in _LIKE else 1
    if kind == "SubLink" and node.oper_name and (sign := strings(node.oper_name)[-1]) in signs:
        return node.testexpr, node.subselect, LIKE_STEPS if sign in _LIKE else 1
    at = _SOUGHT.get(name_of(node)) if kind == "FuncCall" else None
    return (node.args[0], node.args[at], 1) if at is not None and len(node.args) > at else None


def _makes_json(node: Tree) -> bool:
    if node.DESCRIPTOR.name == "TypeName":
        return bool(node.names[-1].string.sval == "jsonb")
    return node.DESCRIPTOR.name == "FuncCall" and "jsonb" in name_of(node)


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
        found = list(nodes(tree))
        self._alive = found  # messages are compared by identity
        grown, rounds = {""}, 0
        while grown:
            self._known = {}
            grown = {name for node in found for name, part in _names(node) if self._is_longer(name, part)}
            rounds += 1
            if rounds > _ROUNDS:  # a cycle
                self._named.update(dict.fromkeys(grown, GATHERED))

    def of(self, part: Tree) -> int:
        """Return the number of characters or values in a part, at most GATHERED."""
        if id(part) not in self._known:
            self._known[id(part)] = min(GATHERED, self._own(part))
        return self._known[id(part)]

    def _is_longer(self, name: str, part: Tree) -> bool:
        """Return whether the part is longer than the name's known length, and store it."""
        length = self.of(part)
        if length <= self._named[name]:
            return False
        self._named[name] = length
        return True

    def _own(self, node: Tree) -> int:
        kind = node.DESCRIPTOR.name
        if kind == "A_Const":
            return max(1, len(node.sval.sval))
        if kind == "SubLink" and node.sub_link_type == pg_query_pb2.ARRAY_SUBLINK:
            return GATHERED
        if kind == "A_Expr" and strings(node.name)[-1] not in _OPERATORS:
            return COLUMN
        own = _OWN.get(kind)
        return own(self, node) if own else self._inside(node)

    def _of_column(self, node: Tree) -> int:
        last = node.fields[-1]
        return sum(self._named.values()) if last.WhichOneof("node") == "a_star" else self._named[last.string.sval]

    def _of_query(self, node: Tree) -> int:
        return self._named[node.relname]

    def _of_call(self, node: Tree) -> int:
        name = name_of(node)
        if name in COLLECTING:
            return GATHERED
        if name in _MEASURES:
            return COLUMN
        if name in _CUTTING and len(node.args) == 2 and node.args[1].a_const.ival.ival > 0:
            return min(int(node.args[1].a_const.ival.ival), self.of(node.args[0]))
        return self._inside(node)

    def _of_element(self, node: Tree) -> int:
        """Return the length of an element: `(array_agg(x))[1]` is as long as x."""
        call = node.arg.func_call
        is_slice = any(part.a_indices.is_slice for part in node.indirection)
        is_gathered = node.arg.WhichOneof("node") == "func_call" and name_of(call) in COLLECTING and not is_slice
        return sum(map(self.of, call.args)) if is_gathered else self._inside(node)

    def _inside(self, node: Tree) -> int:
        return sum(self.of(child) for _field, child in children(node)) * int(2 ** doublings_of(node))


_OWN: dict[str, Callable[[Lengths, Tree], int]] = {
    "ColumnRef": Lengths._of_column,
    "RangeVar": Lengths._of_query,
    "FuncCall": Lengths._of_call,
    "A_Indirection": Lengths._of_element,
}


def _names(node: Tree) -> Iterator[tuple[str, Tree]]:
    """Yield the names that a part of a statement defines, each with its expression."""
    kind = node.DESCRIPTOR.name
    if kind == "ResTarget":
        yield from ((name, node.val) for name in _called(node))
    elif kind == "SelectStmt" and node.values_lists:
        for place in range(len(node.values_lists[0].list.items)):
            yield f"column{place + 1}", node
    elif kind == "SelectStmt" and node.op != pg_query_pb2.SETOP_NONE:
        first = node
        while first.op != pg_query_pb2.SETOP_NONE:
            first = first.larg
        yield from ((name, node) for item in first.target_list for name in _called(item.res_target))
    elif kind == "CommonTableExpr":
        for name in (node.ctename, *strings(node.aliascolnames)):
            yield name, node.ctequery
    elif kind in _NAMING:
        for name in (node.alias.aliasname, *strings(node.alias.colnames), *_called_in_from(node)):
            yield name, node


def _called_in_from(node: Tree) -> list[str]:
    """Return names besides the alias: those of a function's columns, and the common columns of a join."""
    if node.DESCRIPTOR.name == "RangeFunction":
        return [*_OF_ROWS, *(name_of(call) for call in nodes(node) if call.DESCRIPTOR.name == "FuncCall")]
    return [node.join_using_alias.aliasname] if node.DESCRIPTOR.name == "JoinExpr" else []


def _called(target: Tree) -> Iterator[str]:
    """Yield the name of a selected expression, or all names that PostgreSQL may give it."""
    if target.name:
        yield target.name
        return
    yield from _CALLED
    value = target.val
    while (kind := value.WhichOneof("node")) in _KEEPING:
        value = getattr(value, kind).arg
    if kind == "column_ref":
        yield from strings(value.column_ref.fields)[-1:]
    elif kind == "sub_link":
        for item in value.sub_link.subselect.select_stmt.target_list[:1]:
            yield from _called(item.res_target)
    for node in nodes(target.val):
        if node.DESCRIPTOR.name == "FuncCall":
            yield name_of(node)
        elif node.DESCRIPTOR.name == "TypeName":
            yield node.names[-1].string.sval
