"""Rows taken as one value: `t::text` and `concat(t.*)` are as long as all columns of t together, each quoted once more."""

from math import ceil, log2

from postgast import pg_query_pb2

from business.guard.grammar import Tree, children, is_star, nodes
from business.guard.rules import strings

_NO_PARENTS = frozenset({"Node", "ColumnRef", "String", "A_Const"})  # of a column: wraps one message, or has none below


def doublings_of_rows(tree: Tree) -> int:
    """How often the rows that a rewritten statement takes as one value may double a text, all together."""
    found = list(nodes(tree))
    parents = [node for node in found if node.DESCRIPTOR.name not in _NO_PARENTS]
    columns = _columns(found)
    references = [_is_row(node, child, columns) for node in parents for _name, child in children(node)]
    if not any(references):
        return 0
    kinds = [node.DESCRIPTOR.name for node in found]
    stars = kinds.count("RangeVar") if "A_Star" in kinds else 0  # joined with itself, a row has twice the columns
    return sum(references) * (1 + ceil(log2(max(1, kinds.count("ResTarget")))) + stars)


def _is_row(parent: Tree, child: Tree, columns: dict[str, list[set[str]]]) -> bool:
    """Whether a part is a whole row; where every table of that name has a column of the same name, the column is meant."""
    if child.DESCRIPTOR.name != "Node" or child.WhichOneof("node") != "column_ref":
        return False
    fields = child.column_ref.fields
    if is_star(child):
        return bool(parent.DESCRIPTOR.name != "ResTarget")  # there it is every column by itself
    name = strings(fields)[0]
    return len(fields) == 1 and name in columns and not all(name in known for known in columns[name])


def _columns(found: list[Tree]) -> dict[str, list[set[str]]]:
    """By name, for each thing in FROM that is called so, the columns it is known to have."""
    queries = {node.ctename: _with_columns(node) for node in found if node.DESCRIPTOR.name == "CommonTableExpr"}
    named: dict[str, list[set[str]]] = {}
    for node in found:
        kind = node.DESCRIPTOR.name
        if kind == "RangeSubselect":
            known = set(strings(node.alias.colnames)) or _targets(node.subquery.select_stmt)
            named.setdefault(node.alias.aliasname, []).append(known)
        elif kind == "RangeVar" and not node.schemaname:  # a WITH query; tables stand in projections of ours
            known = set(strings(node.alias.colnames)) or queries.get(node.relname, set())
            named.setdefault(node.alias.aliasname, []).append(known)
        elif kind == "JoinExpr":
            named.setdefault(node.alias.aliasname, []).append(set())
            named.setdefault(node.join_using_alias.aliasname, []).append(set())
    return named


def _with_columns(query: Tree) -> set[str]:
    return set(strings(query.aliascolnames)) or _targets(query.ctequery.select_stmt)


def _targets(query: Tree) -> set[str]:
    while query.op != pg_query_pb2.SETOP_NONE:
        query = query.larg
    names = set()
    for item in query.target_list:
        target = item.res_target
        is_column = target.val.WhichOneof("node") == "column_ref"
        names.add(target.name or (strings(target.val.column_ref.fields)[-1] if is_column else ""))
    return names
