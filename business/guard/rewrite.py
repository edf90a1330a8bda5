"""Replace every base table with a projection of its allowed columns, filtered to the person's org units as literals.

WITH queries are renamed: if PostgreSQL ever took for a table what we take for a WITH query, it would find no such table
instead of an unfiltered one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from postgast import pg_query_pb2

from business.guard.grammar import Tree, children, copy_of, expression, is_star, nodes, parse_query, select_of
from business.guard.policy import AllowedTable, Policy
from business.guard.refusal import Reason, SqlRefused
from business.guard.rules import strings
from business.limits import MAX_ROWS


@dataclass(frozen=True)
class Target:
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

    policy: Policy
    target: Target
    tables: list[AllowedTable] = field(default_factory=list)
    _with_queries: int = 0

    def rewrite(self, tree: Tree) -> None:
        """Change the tree in place. Raises SqlRefused, in the same words, for an unknown or a forbidden table."""
        self._walk(select_of(tree), {})
        for node in nodes(tree):
            if node.DESCRIPTOR.name == "ColumnRef" and len(node.fields) == 3:
                self._shorten(node)

    def _walk(self, node: Tree, names: dict[str, str]) -> None:
        """Rewrite a node. names: the visible WITH queries, by their name in the statement → their new name."""
        if node.DESCRIPTOR.name == "SelectStmt" and node.HasField("with_clause"):
            names = dict(names)
            queries = [item.common_table_expr for item in node.with_clause.ctes]
            if node.with_clause.recursive:  # RECURSIVE: each sees all, including itself
                names |= {query.ctename: self._fresh(query.ctename) for query in queries}
            for query in queries:
                self._walk(query.ctequery, names)  # not RECURSIVE: it sees the queries before it
                if not node.with_clause.recursive:
                    names[query.ctename] = self._fresh(query.ctename)
                query.ctename = names[query.ctename]
        if node.DESCRIPTOR.name == "SelectStmt" and node.group_clause:
            group_by_dependents(node, self._own_tables(node, names))
        for name, child in children(node):
            if name == "with_clause":
                continue
            if child.DESCRIPTOR.name == "Node" and child.WhichOneof("node") == "range_var":
                self._replace(child, names)
            else:
                self._walk(child, names)

    def _fresh(self, name: str) -> str:
        self._with_queries += 1
        return f"with_{self._with_queries}_{name}"[:50]

    def _replace(self, node: Tree, names: dict[str, str]) -> None:
        reference = node.range_var
        if not reference.inh:
            raise SqlRefused(Reason.STATEMENT, _("ONLY is not allowed: name the table alone."))
        if not reference.HasField("alias"):
            reference.alias.aliasname = reference.relname
        if not reference.schemaname and reference.relname in names:
            reference.relname = names[reference.relname]
            return
        table = self._find(reference.schemaname, reference.relname)
        self.tables.append(table)
        wrapped = parse_query(f"SELECT * FROM ({self._projection(table)}) AS t")  # noqa: S608  # names are quoted
        replacement = select_of(wrapped).from_clause[0]
        replacement.range_subselect.alias.CopyFrom(reference.alias)
        node.CopyFrom(replacement)

    def _own_tables(self, query: Tree, names: dict[str, str]) -> dict[str, AllowedTable]:
        """Return the base tables in a query's own FROM, by alias, without those whose columns it renames."""
        waiting = [item for name, item in children(query) if name == "from_clause"]
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

    def _shorten(self, column: Tree) -> None:
        """Shorten `schema.table.column` to `table.column` for a table that is now a projection."""
        schema, name = strings(column.fields[:2])
        if any((table.schema, table.name) == (schema, name) for table in self.tables):
            del column.fields[0]

    def _find(self, schema: str, name: str) -> AllowedTable:
        found = self.policy.find(schema, name)
        if len(found) > 1:
            raise SqlRefused(
                Reason.RELATION,
                _("The name %(name)s means several tables: write %(which)s.")
                % {"name": name, "which": " / ".join(f"{table.schema}.{table.name}" for table in found)},
            )
        if not found:
            full = f"{schema}.{name}" if schema else name
            raise SqlRefused(Reason.RELATION, _("There is no table %(name)s you can query.") % {"name": full})
        return found[0]

    def _projection(self, table: AllowedTable) -> str:
        columns = ", ".join(quoted(column) for column in table.columns)
        if self.target.schema is None:
            source, fence = f"{quoted(table.schema)}.{quoted(table.name)}", " OFFSET 0"
        else:
            source, fence = f"{quoted(self.target.schema)}.{quoted(table.view)}", ""
        return f"SELECT {columns} FROM {source} WHERE {row_filter(table)}{fence}"  # noqa: S608  # names are quoted


def row_filter(table: AllowedTable) -> str:
    """Return the condition on a table's rows, with the org units as literals; no unit, no row."""
    if table.org_column is None:
        return "true"
    if not table.units:
        return "false"
    return f"{quoted(table.org_column)}::text IN ({', '.join(literal(unit) for unit in table.units)})"


def cap_rows(query: Tree, most: int) -> bool:
    """Lower the outermost LIMIT to `most`, or set it; return whether rows may be cut. Raises SqlRefused otherwise."""
    asked = _plain_number(query.limit_count) if query.HasField("limit_count") else None
    if query.HasField("limit_offset"):
        _plain_number(query.limit_offset)
    if query.limit_option == pg_query_pb2.LIMIT_OPTION_WITH_TIES:  # returns all ties of the last row
        inner = copy_of(query)
        query.CopyFrom(select_of(parse_query("SELECT * FROM (SELECT 1) AS ranked")))
        query.from_clause[0].range_subselect.subquery.select_stmt.CopyFrom(inner)
        asked = None
    query.limit_count.Clear()
    query.limit_count.a_const.ival.ival = most if asked is None else min(asked, most)
    query.limit_option = pg_query_pb2.LIMIT_OPTION_COUNT
    return asked is None or asked > most


def _plain_number(node: Tree) -> int | None:
    """Return the number of a LIMIT or OFFSET; None for ALL and NULL. Numbers above 2^31 arrive as text."""
    constant = node.a_const if node.WhichOneof("node") == "a_const" else None
    kind = constant.WhichOneof("val") if constant is not None else None
    if constant is not None and constant.isnull:
        return None
    if constant is not None and kind == "ival":
        return int(constant.ival.ival)
    if constant is not None and kind == "fval" and constant.fval.fval.isdigit():
        return int(constant.fval.fval)
    raise SqlRefused(Reason.LIMIT, _("LIMIT and OFFSET must be plain numbers."))


def quoted(name: str) -> str:
    """Return a name quoted as a PostgreSQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """Return a text literal; backslashes are literal (every session sets standard_conforming_strings)."""
    return "'" + value.replace("'", "''") + "'"


Column = tuple[str, str]  # a table's alias, and a column


def group_by_dependents(query: Tree, tables: Mapping[str, AllowedTable]) -> None:
    """Add to GROUP BY the used columns of tables whose whole key a query groups by. Changes the query in place.

    tables: those in its own FROM, by alias. Grouping sets are left unchanged, as PostgreSQL does.
    """
    if any(item.WhichOneof("node") == "grouping_set" for item in query.group_clause):
        return
    grouped = {column for item in query.group_clause if (column := column_of(meant(item, query), tables))}
    for name, table in tables.items():
        if table.key and grouped.issuperset((name, part) for part in table.key):
            for used in _used(query, name, table):
                if (name, used) not in grouped:
                    query.group_clause.append(_reference(name, used))


def meant(item: Tree, query: Tree) -> Tree:
    """Return the expression grouped or ordered by: `GROUP BY 1` is the first one selected."""
    if item.WhichOneof("node") == "a_const" and 0 < item.a_const.ival.ival <= len(query.target_list):
        return query.target_list[item.a_const.ival.ival - 1].res_target.val
    return item


def column_of(item: Tree, tables: Mapping[str, AllowedTable]) -> Column | None:
    """Return the table's column that an expression is; None where it is not one or is ambiguous."""
    if item.WhichOneof("node") != "column_ref" or is_star(item):
        return None
    *owner, column = strings(item.column_ref.fields)
    having = [name for name, table in tables.items() if column in table.columns and owner[-1:] in ([], [name])]
    return (having[0], column) if len(having) == 1 else None


def _used(query: Tree, name: str, table: AllowedTable) -> list[str]:
    """Return the table's columns that a query names anywhere, or all for a star, in the table's order."""
    named = set()
    for node in nodes(query):
        if node.DESCRIPTOR.name == "ColumnRef":
            *owner, last = node.fields
            if strings(owner)[-1:] in ([], [name]):
                is_star = last.WhichOneof("node") == "a_star"
                named |= set(table.columns) if is_star else {last.string.sval}
    return [column for column in table.columns if column in named]


def _reference(name: str, column: str) -> Tree:
    """Return a qualified column, as the grammar writes it."""
    item = expression("a.b")
    for entry, text in zip(item.column_ref.fields, (name, column), strict=True):
        entry.string.sval = text
    return item
