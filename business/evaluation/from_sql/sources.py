"""The tables of one SELECT as the layer has them, and its columns as dimensions."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify

from business.logical_query.catalog import Catalog
from business.parsing.model.definitions import bare
from business.semantic_layer.model import SemanticLayer, SemanticModel


class NotConverted(Exception):
    """A statement that no logical query says, as far as this conversion knows; the text names the part."""


@dataclass
class Sources:
    """aliases: tables by their aliases. base: the one whose rows are counted or listed. conditions: of inner joins, beside keys.

    absent: tables that were joined to be missed (LEFT JOIN … IS NULL). used: those of whose columns something is said.
    """

    catalog: Catalog
    aliases: dict[str, SemanticModel]
    base: SemanticModel
    conditions: list[exp.Expr]
    absent: tuple[str, ...] = ()
    used: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, select: exp.Select, catalog: Catalog) -> "Sources":
        """Raises NotConverted."""
        joins = select.args.get("joins") or []
        aliases: dict[str, SemanticModel] = {}
        for source in [select.args.get("from_"), *joins]:
            if source is None or not isinstance(source.this, exp.Table):
                raise NotConverted("a query inside FROM")
            aliases[source.this.alias_or_name] = _model(source.this, catalog)
        if len({model.name for model in aliases.values()}) < len(aliases):
            raise NotConverted("a table joined with itself")
        conditions, optional = _joined(joins, aliases, catalog)
        absent = tuple(alias for alias in optional if _is_missed(select, alias))
        base = _base([m for alias, m in aliases.items() if alias not in absent], catalog)
        for alias in set(optional) - set(absent):
            if catalog.joins.up(base.name, aliases[alias].name) is None:
                raise NotConverted("things without rows stay in a LEFT JOIN")
        return cls(catalog, aliases, base, conditions, absent)

    def dimension(self, node: exp.Expr) -> str:
        """The dimension that an expression over columns is. Raises NotConverted."""
        columns = list(node.find_all(exp.Column))
        owners = {column.table for column in columns}
        if len(owners) != 1 or (alias := owners.pop()) not in self.aliases:
            raise NotConverted(f"{node.sql('postgres')} is of no one table")
        model = self.aliases[alias]
        self.used.add(alias)
        text = bare(uncast(node))
        for dimension in model.dimensions:
            if bare(uncast(sqlglot.parse_one(dimension.expr, dialect="postgres"))) == text:
                return f"{model.name}.{dimension.name}"
        name = model.name_dimension
        if name is not None and len(columns) > 1 and {c.name for c in columns} == set(name.columns):
            return f"{model.name}.{name.name}"
        raise NotConverted(f"{node.sql('postgres')} is no dimension")

    def is_key(self, node: exp.Expr) -> bool:
        """Whether a column is its table's primary key."""
        if not isinstance(node, exp.Column) or node.table not in self.aliases:
            return False
        primary = self.aliases[node.table].primary
        return primary is not None and primary.expr == node.name

    def unused(self, counted: Collection[str]) -> Iterator[SemanticModel]:
        """Tables that are joined only so that a row of them is there. counted: those whose rows are counted or listed."""
        for alias, model in self.aliases.items():
            if model.name not in counted and alias not in self.used and alias not in self.absent:
                yield model


def qualified(sql: str, layer: SemanticLayer, *, said: Callable[[exp.Expr], exp.Expr] = lambda tree: tree) -> exp.Expr:
    """The tree of a statement, each column with its table. said: what is put otherwise before that. Raises SqlglotError."""
    tree = sqlglot.parse_one(sql, dialect="postgres")
    for table in tree.find_all(exp.Table):
        table.set("db", None)
    found: exp.Expr = qualify(
        said(tree), schema=columns_by_table(layer), dialect="postgres", validate_qualify_columns=False
    )
    return found


def columns_by_table(layer: SemanticLayer) -> dict[str, Any]:
    """The columns of a layer's tables, forbidden ones too, as the database folds their names, each with a type."""
    return {
        model.table.lower(): {name.lower(): "text" for name in (*model.columns, *model.forbidden_columns)}
        for model in layer.semantic_models
    }


def cast_off(node: exp.Expr) -> exp.Expr:
    """An expression without the parentheses and casts around it."""
    node = node.unnest()
    while isinstance(node, exp.Cast):
        node = node.this.unnest()
    return node


def uncast(node: exp.Expr) -> exp.Expr:
    """An expression whose casts are left out."""
    root = exp.Paren(this=node.copy())
    while cast := root.find(exp.Cast):
        cast.replace(cast.this)
    found: exp.Expr = root.this
    return found


def parts_of(node: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that AND joins."""
    if node is None:
        return []
    node = node.unnest()
    return [part.unnest() for part in node.flatten()] if isinstance(node, exp.And) else [node]


def _model(table: exp.Table, catalog: Catalog) -> SemanticModel:
    found = next((m for m in catalog.layer.semantic_models if m.table.lower() == table.name.lower()), None)
    if found is None:
        raise NotConverted(f"{table.name} is no table of the layer")
    return found


def _base(models: Iterable[SemanticModel], catalog: Catalog) -> SemanticModel:
    names = [model.name for model in models]
    found = [
        name for name in names if all(other == name or catalog.joins.up(name, other) is not None for other in names)
    ]
    if len(found) != 1:
        raise NotConverted(f"{', '.join(names)} have no one table whose rows are meant")
    return catalog.models[found[0]]


def _joined(
    joins: list[exp.Join], aliases: dict[str, SemanticModel], catalog: Catalog
) -> tuple[list[exp.Expr], list[str]]:
    """Conditions of inner joins that are no keys, and the aliases of outer ones."""
    conditions, optional = [], []
    for join in joins:
        if join.side in ("RIGHT", "FULL"):
            raise NotConverted(f"a {join.side} JOIN")
        rest = [part for part in parts_of(join.args.get("on")) if not _is_key(part, aliases, catalog)]
        if join.side == "LEFT":
            optional.append(join.this.alias_or_name)
            if rest:
                raise NotConverted("a condition of a LEFT JOIN")
        conditions += rest
    return conditions, optional


def _is_key(part: exp.Expr, aliases: dict[str, SemanticModel], catalog: Catalog) -> bool:
    """Whether a condition is a key of the layer. Raises NotConverted for another equality of two tables."""
    if not (isinstance(part, exp.EQ) and all(isinstance(side, exp.Column) for side in (part.this, part.expression))):
        return False
    places = [(aliases[side.table].name, side.name) for side in (part.this, part.expression) if side.table in aliases]
    if len(places) == 2 and catalog.joins.is_step(*places):
        return True
    if len({table for table, _column in places}) > 1:
        raise NotConverted(f"{part.sql('postgres')} is no key")
    return False


def _is_missed(select: exp.Select, alias: str) -> bool:
    where = select.args.get("where")
    return any(
        isinstance(part, exp.Is)
        and isinstance(part.expression, exp.Null)
        and isinstance(part.this, exp.Column)
        and part.this.table == alias
        for part in parts_of(where.this if where else None)
    )
