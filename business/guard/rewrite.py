"""Replace every base table with a projection of its allowed columns, filtered to the person's org units as literals.

WITH queries are renamed: if PostgreSQL ever took for a table what we take for a WITH query, it would find no such table
instead of an unfiltered one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from postgast import pg_query_pb2

from business.guard.grammar import (
    Tree,
    copy_of,
    find_outermost_select,
    is_star,
    iterate_children,
    iterate_nodes,
    parse_query,
    parse_trusted_expression,
)
from business.guard.policy import AllowedTable, TablePolicy
from business.guard.refusal import RefusalKind, SqlRefused
from business.guard.rules import list_name_parts
from business.limits import MAX_ROWS


@dataclass(frozen=True)
class ProjectionTarget:
    """The target that projections read from.

    schema: of the views behind the sandbox, named like the tables; None: the base tables themselves. Then the
    projection is fenced, so that no condition of the statement is evaluated on a row before the filter has let it pass.
    rows: of an answer, at most.
    """

    schema: str | None = None
    rows: int = MAX_ROWS


@dataclass
class Rewriter:
    """One statement's rewriting; `tables` collects what it reads."""

    policy: TablePolicy
    target: ProjectionTarget
    tables: list[AllowedTable] = field(default_factory=list)
    _with_queries: int = 0

    def rewrite(self, tree: Tree) -> None:
        """Change the tree in place. Raises SqlRefused, in the same words, for an unknown or a forbidden table."""
        self._rewrite_node(find_outermost_select(tree), {})
        for node in iterate_nodes(tree):
            if node.DESCRIPTOR.name == "ColumnRef" and len(node.fields) == 3:
                self._shorten_column_reference(node)

    def _rewrite_node(self, node: Tree, names: dict[str, str]) -> None:
        """Rewrite a node. names: the visible WITH queries, by their name in the statement → their new name."""
        if node.DESCRIPTOR.name == "SelectStmt" and node.HasField("with_clause"):
            names = dict(names)
            queries = [item.common_table_expr for item in node.with_clause.ctes]
            if node.with_clause.recursive:  # RECURSIVE: each sees all, including itself
                names |= {query.ctename: self._build_with_query_name(query.ctename) for query in queries}
            for query in queries:
                self._rewrite_node(query.ctequery, names)  # not RECURSIVE: it sees the queries before it
                if not node.with_clause.recursive:
                    names[query.ctename] = self._build_with_query_name(query.ctename)
                query.ctename = names[query.ctename]
        if node.DESCRIPTOR.name == "SelectStmt" and node.group_clause:
            add_dependent_group_columns(node, self._find_from_tables(node, names))
        for name, child in iterate_children(node):
            if name == "with_clause":
                continue
            if child.DESCRIPTOR.name == "Node" and child.WhichOneof("node") == "range_var":
                self._replace(child, names)
            else:
                self._rewrite_node(child, names)

    def _build_with_query_name(self, name: str) -> str:
        self._with_queries += 1
        return f"with_{self._with_queries}_{name}"[:50]

    def _replace(self, node: Tree, names: dict[str, str]) -> None:
        reference = node.range_var
        if not reference.inh:
            raise SqlRefused(RefusalKind.STATEMENT, _("ONLY is not allowed: name the table alone."))
        if not reference.HasField("alias"):
            reference.alias.aliasname = reference.relname
        if not reference.schemaname and reference.relname in names:
            reference.relname = names[reference.relname]
            return
        table = self._find_allowed_table(reference.schemaname, reference.relname)
        self.tables.append(table)
        wrapped = parse_query(f"SELECT * FROM ({self._build_projection(table)}) AS t")  # noqa: S608  # names are quoted
        replacement = find_outermost_select(wrapped).from_clause[0]
        replacement.range_subselect.alias.CopyFrom(reference.alias)
        node.CopyFrom(replacement)

    def _find_from_tables(self, query: Tree, names: dict[str, str]) -> dict[str, AllowedTable]:
        """Return the base tables in a query's own FROM, by alias, without those whose columns it renames."""
        waiting = [item for name, item in iterate_children(query) if name == "from_clause"]
        tables = {}
        while waiting:
            item = waiting.pop()
            if item.WhichOneof("node") == "join_expr":
                waiting += [item.join_expr.larg, item.join_expr.rarg]
            elif item.WhichOneof("node") == "range_var" and not item.range_var.alias.colnames:
                reference = item.range_var
                found = self.policy.find(reference.schemaname, reference.relname)
                if len(found) == 1 and (reference.schemaname or reference.relname not in names):
                    tables[reference.alias.aliasname or reference.relname] = found[0]
        return tables

    def _shorten_column_reference(self, column: Tree) -> None:
        """Shorten `schema.table.column` to `table.column` for a table that is now a projection."""
        schema, name = list_name_parts(column.fields[:2])
        if any((table.schema, table.name) == (schema, name) for table in self.tables):
            del column.fields[0]

    def _find_allowed_table(self, schema: str, name: str) -> AllowedTable:
        found = self.policy.find(schema, name)
        if len(found) > 1:
            raise SqlRefused(
                RefusalKind.RELATION,
                _("The name %(name)s means several tables: write %(which)s.")
                % {"name": name, "which": " / ".join(f"{table.schema}.{table.name}" for table in found)},
            )
        if not found:
            full = f"{schema}.{name}" if schema else name
            raise SqlRefused(RefusalKind.RELATION, _("There is no table %(name)s you can query.") % {"name": full})
        return found[0]

    def _build_projection(self, table: AllowedTable) -> str:
        columns = ", ".join(quote_identifier(column) for column in table.columns)
        if self.target.schema is None:
            source, fence = f"{quote_identifier(table.schema)}.{quote_identifier(table.name)}", " OFFSET 0"
        else:
            source, fence = f"{quote_identifier(self.target.schema)}.{quote_identifier(table.view)}", ""
        return f"SELECT {columns} FROM {source} WHERE {row_filter(table)}{fence}"  # noqa: S608  # names are quoted


def row_filter(table: AllowedTable) -> str:
    """Return the condition on a table's rows, with the org units as literals; no unit, no row."""
    if table.org_column is None:
        return "true"
    if not table.units:
        return "false"
    return f"{quote_identifier(table.org_column)}::text IN ({', '.join(quote_literal(unit) for unit in table.units)})"


def cap_rows(query: Tree, most: int) -> bool:
    """Lower the outermost LIMIT to `most`, or set it; return whether rows may be cut. Raises SqlRefused otherwise."""
    asked = _read_limit_number(query.limit_count) if query.HasField("limit_count") else None
    if query.HasField("limit_offset"):
        _read_limit_number(query.limit_offset)
    if query.limit_option == pg_query_pb2.LIMIT_OPTION_WITH_TIES:  # returns all ties of the last row
        inner = copy_of(query)
        query.CopyFrom(find_outermost_select(parse_query("SELECT * FROM (SELECT 1) AS ranked")))
        query.from_clause[0].range_subselect.subquery.select_stmt.CopyFrom(inner)
        asked = None
    query.limit_count.Clear()
    query.limit_count.a_const.ival.ival = most if asked is None else min(asked, most)
    query.limit_option = pg_query_pb2.LIMIT_OPTION_COUNT
    return asked is None or asked > most


def _read_limit_number(node: Tree) -> int | None:
    """Return the number of a LIMIT or OFFSET; None for ALL and NULL. Numbers above 2^31 arrive as text."""
    constant = node.a_const if node.WhichOneof("node") == "a_const" else None
    kind = constant.WhichOneof("val") if constant is not None else None
    if constant is not None and constant.isnull:
        return None
    if constant is not None and kind == "ival":
        return int(constant.ival.ival)
    if constant is not None and kind == "fval" and constant.fval.fval.isdigit():
        return int(constant.fval.fval)
    raise SqlRefused(RefusalKind.LIMIT, _("LIMIT and OFFSET must be plain numbers."))


def quote_identifier(name: str) -> str:
    """Return a name quoted as a PostgreSQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_literal(value: str) -> str:
    """Return a text literal; backslashes are literal (every session sets standard_conforming_strings)."""
    return "'" + value.replace("'", "''") + "'"


Column = tuple[str, str]  # a table's alias, and a column


def add_dependent_group_columns(query: Tree, tables: Mapping[str, AllowedTable]) -> None:
    """Add to GROUP BY the used columns of tables whose whole key a query groups by. Changes the query in place.

    tables: those in its own FROM, by alias. Grouping sets are left unchanged, as PostgreSQL does.
    """
    if any(item.WhichOneof("node") == "grouping_set" for item in query.group_clause):
        return
    grouped = {column for item in query.group_clause if (column := column_of(resolve_group_item(item, query), tables))}
    for name, table in tables.items():
        if table.key and grouped.issuperset((name, part) for part in table.key):
            for used in _list_used_columns(query, name, table):
                if (name, used) not in grouped:
                    query.group_clause.append(_build_column_reference(name, used))


def resolve_group_item(item: Tree, query: Tree) -> Tree:
    """Return the expression grouped or ordered by: `GROUP BY 1` is the first one selected."""
    if item.WhichOneof("node") == "a_const" and 0 < item.a_const.ival.ival <= len(query.target_list):
        return query.target_list[item.a_const.ival.ival - 1].res_target.val
    return item


def column_of(item: Tree, tables: Mapping[str, AllowedTable]) -> Column | None:
    """Return the table's column that an expression is; None where it is not one or is ambiguous."""
    if item.WhichOneof("node") != "column_ref" or is_star(item):
        return None
    *owner, column = list_name_parts(item.column_ref.fields)
    having = [name for name, table in tables.items() if column in table.columns and owner[-1:] in ([], [name])]
    return (having[0], column) if len(having) == 1 else None


def _list_used_columns(query: Tree, name: str, table: AllowedTable) -> list[str]:
    """Return the table's columns that a query names anywhere, or all for a star, in the table's order."""
    named = set()
    for node in iterate_nodes(query):
        if node.DESCRIPTOR.name == "ColumnRef":
            *owner, last = node.fields
            if list_name_parts(owner)[-1:] in ([], [name]):
                is_star = last.WhichOneof("node") == "a_star"
                named |= set(table.columns) if is_star else {last.string.sval}
    return [column for column in table.columns if column in named]


def _build_column_reference(name: str, column: str) -> Tree:
    """Return a qualified column, as the grammar writes it."""
    item = parse_trusted_expression("a.b")
    for entry, text in zip(item.column_ref.fields, (name, column), strict=True):
        entry.string.sval = text
    return item
