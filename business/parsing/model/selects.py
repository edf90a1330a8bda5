"""Resolve a free SELECT against the layer: the names in FROM and WITH, and the owners of its columns."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import sqlglot
from sqlglot import exp

from business.logical_query.catalog import Catalog
from business.logical_query.joins import Place
from business.semantic_layer.model import SemanticModel


def parse_statement(sql: str) -> exp.Expr | None:
    """Return the tree of a statement; None where it cannot be parsed, or is too deep: the guard says why."""
    try:
        return sqlglot.parse_one(sql, dialect="postgres")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None


@dataclass(frozen=True)
class Select:
    """sources: by alias, a table of the layer, a query in FROM or WITH, or None for anything else."""

    select: exp.Select
    catalog: Catalog
    sources: Mapping[str, SemanticModel | exp.Select | None]

    @classmethod
    def of(cls, select: exp.Select, catalog: Catalog) -> Self:
        named = {m.place: m for m in catalog.layer.semantic_models}
        by_table = {m.table: m for m in catalog.layer.semantic_models}
        inside = {cte.alias: cte.this for cte in _iterate_visible_with_queries(select)}
        found: dict[str, SemanticModel | exp.Select | None] = {}
        for source in [select.args.get("from_"), *(select.args.get("joins") or [])]:
            if source is None:
                continue
            table = source.this
            if not isinstance(table, exp.Table):
                found[table.alias_or_name] = find_defining_select(table.this)
            elif not table.db and table.name in inside:
                found[table.alias_or_name] = find_defining_select(inside[table.name])
            else:
                found[table.alias_or_name] = named.get((table.db, table.name)) if table.db else by_table.get(table.name)
        return cls(select, catalog, found)

    def equalities(self) -> Iterator[tuple[exp.Expr, exp.Expr]]:
        """Yield the pairs that conditions equate."""
        joins = self.select.args.get("joins") or []
        conditions = [join.args["on"] for join in joins if join.args.get("on")]
        where = self.select.args.get("where")
        conditions += [where.this] if where else []
        for join in joins:
            own = join.this.alias_or_name
            for name in join.args.get("using") or []:
                for alias in self.sources:
                    if alias != own:
                        yield exp.column(name.name, alias), exp.column(name.name, own)
        for part in iterate_conjuncts(conditions):
            if isinstance(part, exp.EQ):
                yield part.this.unnest(), part.expression.unnest()

    def aliases(self, side: exp.Expr) -> set[str]:
        """Return the sources of an expression's columns."""
        return {self.owner(column) for column in side.find_all(exp.Column)} - {""}

    def source_of(self, part: exp.Expr) -> str:
        """Return the one source of an expression; "" if ambiguous."""
        found = self.aliases(part) if len(self.sources) > 1 else set(self.sources)
        return found.pop() if len(found) == 1 else ""

    def owner(self, column: exp.Column) -> str:
        """Return the source of a column; "" where none or several may have it."""
        if column.table:
            return column.table if column.table in self.sources else ""
        owning = [
            alias
            for alias, model in self.sources.items()
            if isinstance(model, SemanticModel) and column.name in model.columns
        ]
        return owning[0] if len(owning) == 1 else ""

    def place(self, column: exp.Column) -> Place | None:
        """Return the table and column behind this one, through subqueries; None for computed ones, "" for no table of
        the layer.
        """
        owner = self.owner(column)
        source = self.sources.get(owner)
        if isinstance(source, SemanticModel):
            return source.name, column.name
        if not isinstance(source, exp.Select):
            return None if owner else ("", column.name)
        shown = next((expression for expression in source.expressions if expression.alias_or_name == column.name), None)
        inner = shown.unalias() if shown is not None else None
        return Select.of(source, self.catalog).place(inner) if isinstance(inner, exp.Column) else None


def iterate_conjuncts(conditions: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    """Yield the parts of a conjunction."""
    for condition in conditions:
        for part in condition.flatten() if isinstance(condition, exp.And) else [condition]:
            yield part.unnest()


def find_defining_select(query: exp.Expr | None) -> exp.Select | None:
    """Return the SELECT that defines a query's columns: the first of a set operation."""
    found = query.unnest() if query is not None else None
    while isinstance(found, exp.SetOperation | exp.Subquery):
        found = found.this.unnest()
    return found if isinstance(found, exp.Select) else None


def _iterate_visible_with_queries(select: exp.Select) -> Iterator[exp.CTE]:
    """Yield the WITH queries of this query and of those around it."""
    node: exp.Expr | None = select
    while node is not None:
        if with_ := node.args.get("with_"):
            yield from with_.expressions
        node = node.parent
