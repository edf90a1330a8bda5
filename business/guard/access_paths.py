"""Equivalent texts of a guarded statement that can use indexes of the tables below the views.

PostgreSQL plans a view with `security_barrier` separately: neither ORDER BY nor joined rows reach into it. Rewrites
do: a view that has the order already, minimum and maximum as the first row of one, and a table whose rows are looked up
for each row of another. Each text is equivalent to the first, under the same filters; the planner's costs decide.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from postgast import pg_query_pb2

from business.guard.grammar import (
    Tree,
    copy_of,
    find_outermost_select,
    is_star,
    iterate_nodes,
    parse_query,
    parse_trusted_expression,
)
from business.guard.policy import AllowedTable
from business.guard.rewrite import Column, column_of, resolve_group_item
from business.guard.rules import list_name_parts

MAX_TABLES = 5  # of a join: one text for each table that may lead
# Least ratio of the guarded text's plan cost to a rewritten text's. The planner does not know how many rows are joined, or
# whether there are as many as our LIMIT (else it reads an order to its end); it counts the pages of each look-up anew.
PLAIN, GUESSED, SINGLE = 1, 10, 0.5
LOOKED_UP = "looked_up"  # alias of a table in a projection that looks up rows


@dataclass(frozen=True)
class Order:
    """An ordered view of a table. columns: each with whether it descends."""

    table: AllowedTable
    columns: tuple[tuple[str, bool], ...]

    @property
    def view(self) -> str:
        return f"o_{hashlib.sha256(f'{self.table.view}/{self.columns}'.encode()).hexdigest()[:20]}"


class Path(NamedTuple):
    """An equivalent statement. orders: the ordered views it needs. cheaper: by how many times it must be to run."""

    tree: Tree
    orders: tuple[Order, ...]
    cheaper: float


class Equality(NamedTuple):
    """node: the condition. column: of the table whose rows are looked up."""

    node: Tree
    column: str
    other: str
    other_column: str


def build_access_paths(tree: Tree, tables: Iterable[AllowedTable], *, is_capped: bool) -> Iterator[Path]:
    """Yield the paths of a statement that was rewritten to read the views, changing only its outermost query.

    is_capped: whether its LIMIT is ours.
    """
    query = find_outermost_select(tree)
    if (fenced := _rewrite_exists_as_lookups(query)) is not None:
        yield Path(_replace_outermost_query(tree, fenced), (), SINGLE)
    block = ProjectionQuery.of(query, {table.view: table for table in tables})
    if block is None:
        return
    ordered = block.asked_order()
    if extremes := block.extremes():
        yield Path(_replace_outermost_query(tree, extremes[0]), extremes[1], PLAIN)
    if len(block.items) == 1 and ordered is not None and (first := block.first_of(ordered[1])) is not None:
        yield Path(_replace_outermost_query(tree, first), (ordered[1],), GUESSED if is_capped else PLAIN)
    if 1 < len(block.items) <= MAX_TABLES:
        chosen = block.chosen_from()
        if ordered is not None and chosen <= {ordered[0]} and (led := block.led_by(*ordered)) is not None:
            yield Path(
                _replace_outermost_query(tree, led), (ordered[1],), GUESSED
            )  # other conditions might read the order to its end
        for name in filter(chosen.__contains__, block.items):
            if (led := block.led_by(name)) is not None:
                yield Path(_replace_outermost_query(tree, led), (), GUESSED)


@dataclass(frozen=True)
class ProjectionQuery:
    """A query that joins our projections. items: by alias. conditions: all of WHERE and ON."""

    query: Tree
    tables: dict[str, AllowedTable]
    items: dict[str, Tree]
    conditions: list[Tree]

    @classmethod
    def of(cls, query: Tree, tables: dict[str, AllowedTable]) -> "ProjectionQuery | None":
        items: dict[str, Tree] = {}
        conditions: list[Tree] = []
        waiting = list(reversed(query.from_clause))
        while waiting:
            item = waiting.pop()
            if item.WhichOneof("node") == "join_expr" and _is_inner(item.join_expr):
                waiting += [item.join_expr.rarg, item.join_expr.larg]
                conditions += _split_conjunction(item.join_expr.quals)
            elif (name := _find_projection_alias(item, tables)) and name not in items:
                items[name] = item
            else:
                return None
        conditions += _split_conjunction(query.where_clause)
        return cls(query, tables, items, conditions) if items and LOOKED_UP not in items else None

    def led_by(self, leading: str, order: Order | None = None) -> Tree | None:
        """Return the query with one table first and the others looked up for its rows; None if impossible."""
        if len(self.items) > 1 and any(is_star(target.res_target.val) for target in self.query.target_list):
            return None  # a star's columns follow the order of FROM
        led = copy_of(self.query)
        del led.from_clause[:]
        led.from_clause.append(self.items[leading])
        if order is not None:
            _find_projected_view(led.from_clause[0]).relname = order.view
        placed, left, chosen = [leading], [name for name in self.items if name != leading], []
        while left:
            name = next((one for one in left if self._find_lookup_equalities(one, placed)), None)
            if name is None:
                return None
            equalities = self._find_lookup_equalities(name, placed)
            led.from_clause.append(_build_lookup_projection(self.items[name], equalities))
            chosen += [equality.node for equality in equalities]
            placed.append(name)
            left.remove(name)
        _set_where_conditions(led, [node for node in self.conditions if not any(node is one for one in chosen)])
        return led

    def chosen_from(self) -> set[str]:
        """Return the tables that conditions other than joins filter; "" for a reference to none of them."""
        joins = [one.node for name in self.items for one in self._find_lookup_equalities(name, list(self.items))]
        columns = [
            self._find_column(part)
            for node in self.conditions
            if not any(node is join for join in joins)
            for part in iterate_nodes(node)
            if part.DESCRIPTOR.name == "Node" and part.WhichOneof("node") in ("column_ref", "sub_link")
        ]
        return {column[0] if column else "" for column in columns}

    def first_of(self, order: Order) -> Tree | None:
        """Return the query over the first rows of an ordered view, as many as it shows: a LIMIT reaches into a view, an
        ORDER BY does not.
        """
        places = (self.query.limit_count, self.query.limit_offset)
        if any(place.WhichOneof("node") not in (None, "a_const") for place in places):
            return None
        query, (name, item) = copy_of(self.query), *self.items.items()
        rows = sum(place.a_const.ival.ival for place in places)
        few = parse_query(f"SELECT 1 FROM (SELECT * FROM a LIMIT {rows}) AS a")  # noqa: S608  # a number
        del query.from_clause[:]
        query.from_clause.append(find_outermost_select(few).from_clause[0])
        query.from_clause[0].range_subselect.alias.aliasname = name
        inner = query.from_clause[0].range_subselect.subquery.select_stmt
        inner.from_clause[0].CopyFrom(item)
        _find_projected_view(inner.from_clause[0]).relname = order.view
        _set_where_conditions(inner, self.conditions)
        query.ClearField("where_clause")
        return query

    def asked_order(self) -> tuple[str, Order] | None:
        """Return the table of the ORDER BY columns, and their order; None for any other ORDER BY."""
        query = self.query
        if not query.sort_clause or any(field.name not in _PLAIN_QUERY for field, _value in query.ListFields()):
            return None
        by = [item.sort_by for item in query.sort_clause]
        if any(one.sortby_nulls != pg_query_pb2.SORTBY_NULLS_DEFAULT for one in by) or _selects_computed_values(query):
            return None
        found = [self._find_column(self._resolve_order_expression(one.node)) for one in by]
        names = {column[0] for column in found if column}
        if None in found or len(names) != 1:
            return None
        (name,) = names
        table = self._table(name)
        if len(found) > 2 or any(column[1] not in table.key for column in found[1:] if column):
            return None  # a key breaks ties; each further order would need another view
        descends = [one.sortby_dir == pg_query_pb2.SORTBY_DESC for one in by]
        return name, Order(table, tuple((column[1], d) for column, d in zip(found, descends, strict=True) if column))

    def extremes(self) -> tuple[Tree, tuple[Order, ...]] | None:
        """Return `min(x), max(x)` of one table as the first rows of two orders."""
        query, orders = copy_of(self.query), []
        kept = {"target_list", "from_clause", "where_clause", "limit_count", "limit_option", "op"}
        if len(self.items) != 1 or any(field.name not in kept for field, _value in query.ListFields()):
            return None
        for target in query.target_list:
            call = target.res_target.val.func_call
            name = list_name_parts(call.funcname)[-1:] if {f.name for f, _v in call.ListFields()} <= _PLAIN_CALL else []
            column = self._find_column(call.args[0]) if name in (["min"], ["max"]) and len(call.args) == 1 else None
            if column is None:
                return None
            order = Order(self._table(column[0]), ((column[1], name == ["max"]),))
            orders.append(order)
            target.res_target.name = target.res_target.name or name[0]
            target.res_target.val.CopyFrom(self._find_first_value(order, call.args[0]))
        del query.from_clause[:]
        query.ClearField("where_clause")
        return query, tuple(orders)

    def _find_first_value(self, order: Order, column: Tree) -> Tree:
        """Return the first value of an order that is not NULL, as an expression."""
        found = parse_trusted_expression("(SELECT a FROM a WHERE a IS NOT NULL LIMIT 1)")  # built from our text only
        first = found.sub_link.subselect.select_stmt
        first.target_list[0].res_target.val.CopyFrom(column)
        first.where_clause.null_test.arg.CopyFrom(column)
        (item,) = self.items.values()
        first.from_clause[0].CopyFrom(item)
        _find_projected_view(first.from_clause[0]).relname = order.view
        _set_where_conditions(first, [*self.conditions, copy_of(first.where_clause)])
        return found

    def _resolve_order_expression(self, node: Tree) -> Tree:
        """Return the expression in ORDER BY: `ORDER BY day` may be the alias of one, `ORDER BY 1` its position."""
        if node.WhichOneof("node") == "column_ref" and len(node.column_ref.fields) == 1:
            word = node.column_ref.fields[0].string.sval
            targets = (target.res_target for target in self.query.target_list)
            return next((target.val for target in targets if target.name == word), node)
        return resolve_group_item(node, self.query)

    def _find_column(self, node: Tree) -> Column | None:
        return column_of(node, {name: self._table(name) for name in self.items})

    def _table(self, name: str) -> AllowedTable:
        return self.tables[_find_projected_view(self.items[name]).relname]

    def _find_lookup_equalities(self, name: str, placed: list[str]) -> list[Equality]:
        """Return the equalities by which a table's rows are looked up for rows of tables before it."""
        found = []
        for node in self.conditions:
            expression = node.a_expr
            if node.WhichOneof("node") != "a_expr" or expression.kind != pg_query_pb2.AEXPR_OP:
                continue
            one, other = self._find_column(expression.lexpr), self._find_column(expression.rexpr)
            if list_name_parts(expression.name) != ["="] or one is None or other is None:
                continue
            found += [
                Equality(node, a[1], *b) for a, b in ((one, other), (other, one)) if a[0] == name and b[0] in placed
            ]
        return found


_PLAIN_QUERY = {
    "target_list",
    "from_clause",
    "where_clause",
    "sort_clause",
    "limit_offset",
    "limit_count",
    "limit_option",
    "op",
}
_PLAIN_CALL = {"funcname", "args", "funcformat", "location"}


def _selects_computed_values(query: Tree) -> bool:
    """Return whether anything but columns is selected: an aggregate or a window sees more rows than are shown."""
    return any(target.res_target.val.WhichOneof("node") != "column_ref" for target in query.target_list)


def _is_inner(join: Tree) -> bool:
    has_more = join.is_natural or join.using_clause or join.HasField("alias") or join.HasField("join_using_alias")
    return bool(join.jointype == pg_query_pb2.JOIN_INNER and not has_more)


def _find_projection_alias(item: Tree, tables: dict[str, AllowedTable]) -> str:
    """Return the alias of a projection of a view; "" for any other item of FROM."""
    if item.WhichOneof("node") != "range_subselect" or item.range_subselect.alias.colnames:
        return ""
    read = item.range_subselect.subquery.select_stmt.from_clause
    is_table = len(read) == 1 and read[0].WhichOneof("node") == "range_var" and read[0].range_var.schemaname
    return str(item.range_subselect.alias.aliasname) if is_table and read[0].range_var.relname in tables else ""


def _find_projected_view(item: Tree) -> Tree:
    """Return the view that our projection reads: only views have a schema in a rewritten statement."""
    return item.range_subselect.subquery.select_stmt.from_clause[0].range_var


def _build_lookup_projection(item: Tree, equalities: list[Equality]) -> Tree:
    """Return the projection of its rows for one row of others; fenced, or PostgreSQL would pull the conditions out."""
    looked_up = copy_of(item)
    looked_up.range_subselect.lateral = True
    query = looked_up.range_subselect.subquery.select_stmt
    query.from_clause[0].range_var.alias.aliasname = LOOKED_UP
    conditions = _split_conjunction(query.where_clause)
    for equality in equalities:
        node = parse_trusted_expression("a.b = c.d")
        for side, words in (
            (node.a_expr.lexpr, (LOOKED_UP, equality.column)),
            (node.a_expr.rexpr, (equality.other, equality.other_column)),
        ):
            for part, word in zip(side.column_ref.fields, words, strict=True):
                part.string.sval = word
        conditions.append(node)
    _set_where_conditions(query, conditions)
    _fence_subquery(query)
    return looked_up


def _fence_subquery(query: Tree) -> None:
    """Keep PostgreSQL from merging a subquery into its outer query."""
    fence = find_outermost_select(parse_query("SELECT 1 OFFSET 0"))
    query.limit_offset.CopyFrom(fence.limit_offset)
    query.limit_option = fence.limit_option


def _rewrite_exists_as_lookups(query: Tree) -> Tree | None:
    """Return the query with EXISTS checked row by row, by an index, instead of by a join; None without EXISTS."""
    conditions = _split_conjunction(query.where_clause)
    fenced = [asked for node in conditions if (asked := _find_exists_subquery(node)) is not None]
    for asked in fenced:
        _fence_subquery(asked)
    if not fenced:
        return None
    copy = copy_of(query)
    _set_where_conditions(copy, conditions)
    return copy


def _find_exists_subquery(node: Tree) -> Tree | None:
    """Return the subquery of an EXISTS or NOT EXISTS without LIMIT."""
    if node.WhichOneof("node") == "bool_expr" and node.bool_expr.boolop == pg_query_pb2.NOT_EXPR:
        (node,) = node.bool_expr.args
    if node.WhichOneof("node") != "sub_link" or node.sub_link.sub_link_type != pg_query_pb2.EXISTS_SUBLINK:
        return None
    asked = node.sub_link.subselect.select_stmt
    return None if asked.HasField("limit_count") or asked.HasField("limit_offset") else asked


def _split_conjunction(node: Tree) -> list[Tree]:
    """Return the parts of a conjunction; none for an empty one."""
    if node.WhichOneof("node") is None:
        return []
    if node.WhichOneof("node") == "bool_expr" and node.bool_expr.boolop == pg_query_pb2.AND_EXPR:
        return [part for arg in node.bool_expr.args for part in _split_conjunction(arg)]
    return [copy_of(node)]


def _set_where_conditions(query: Tree, conditions: list[Tree]) -> None:
    query.ClearField("where_clause")
    if len(conditions) == 1:
        query.where_clause.CopyFrom(conditions[0])
    elif conditions:
        query.where_clause.bool_expr.boolop = pg_query_pb2.AND_EXPR
        query.where_clause.bool_expr.args.extend(conditions)


def _replace_outermost_query(tree: Tree, query: Tree) -> Tree:
    """Return the statement with this outermost query."""
    whole = copy_of(tree)
    find_outermost_select(whole).CopyFrom(query)
    return whole
