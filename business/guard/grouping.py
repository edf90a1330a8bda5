"""`GROUP BY c.id` has every column of c where id is its primary key; a projection of c has no key, so they are written out.

PostgreSQL knows the columns that depend on a key for base tables only. Grouping by them as well changes no group.
"""

from collections.abc import Mapping

from business.guard.grammar import Tree, nodes, parse_query
from business.guard.policy import AllowedTable
from business.guard.rules import strings

Column = tuple[str, str]  # what the query calls a table, and a column of it


def group_by_dependents(query: Tree, tables: Mapping[str, AllowedTable]) -> None:
    """Add to GROUP BY the columns that a query uses of tables whose whole key it groups by. Changes the query in place.

    tables: those right in its FROM, by what the query calls them. Grouping sets are left as they are, as PostgreSQL does.
    """
    if any(item.WhichOneof("node") == "grouping_set" for item in query.group_clause):
        return
    grouped = {column for item in query.group_clause if (column := _column(_meant(item, query), tables))}
    for name, table in tables.items():
        if table.key and grouped.issuperset((name, part) for part in table.key):
            for used in _used(query, name, table):
                if (name, used) not in grouped:
                    query.group_clause.append(_reference(name, used))


def _meant(item: Tree, query: Tree) -> Tree:
    """What is grouped by: `GROUP BY 1` is the first thing selected."""
    if item.WhichOneof("node") == "a_const" and 0 < item.a_const.ival.ival <= len(query.target_list):
        return query.target_list[item.a_const.ival.ival - 1].res_target.val
    return item


def _column(item: Tree, tables: Mapping[str, AllowedTable]) -> Column | None:
    """The column of one of the tables that an expression is; None where it is none, or PostgreSQL could not tell which."""
    if item.WhichOneof("node") != "column_ref" or item.column_ref.fields[-1].WhichOneof("node") == "a_star":
        return None
    *owner, column = strings(item.column_ref.fields)
    having = [name for name, table in tables.items() if column in table.columns and owner[-1:] in ([], [name])]
    return (having[0], column) if len(having) == 1 else None


def _used(query: Tree, name: str, table: AllowedTable) -> list[str]:
    """The table's columns that a query names anywhere, or all for a star, in the table's order."""
    named = set()
    for node in nodes(query):
        if node.DESCRIPTOR.name == "ColumnRef":
            *owner, last = node.fields
            if strings(owner)[-1:] in ([], [name]):
                is_star = last.WhichOneof("node") == "a_star"
                named |= set(table.columns) if is_star else {last.string.sval}
    return [column for column in table.columns if column in named]


def _reference(name: str, column: str) -> Tree:
    """A qualified column, as the grammar writes it."""
    item = parse_query("SELECT 1 GROUP BY a.b").stmts[0].stmt.select_stmt.group_clause[0]
    for field, text in zip(item.column_ref.fields, (name, column), strict=True):
        field.string.sval = text
    return item
