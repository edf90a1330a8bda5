"""One SELECT as a logical query."""

from collections.abc import Collection, Sequence
from datetime import date

import sqlglot
from pydantic import ValidationError
from sqlglot import exp

from business.evaluation.from_sql.conditions import SIGNS, Conditions
from business.evaluation.from_sql.constants import constant
from business.evaluation.from_sql.figures import Figures, is_figure
from business.evaluation.from_sql.sources import NotConverted, Sources, cast_off, parts_of, qualified
from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.errors import Inexpressible
from business.logical_query.query import Dimension, Having, LogicalQuery, Metric, Ranking, Related, Rows
from business.logical_query.resolve import resolved
from business.parsing.model.definitions import bare


def query_of(sql: str, catalog: Catalog, today: date) -> LogicalQuery:
    """The logical query of a statement, resolved; it compiles. Raises NotConverted, saying what it cannot say."""
    try:
        tree = _qualified(sql, catalog)
        query = resolved(_converted(tree, catalog, today), catalog)
        compile_query(query, catalog, today)
    except (Inexpressible, ValidationError, ValueError, TypeError, sqlglot.errors.SqlglotError) as error:
        raise NotConverted(str(error).splitlines()[0]) from error
    return query


def _qualified(sql: str, catalog: Catalog) -> exp.Expr:
    def said(tree: exp.Expr) -> exp.Expr:
        tree = tree.transform(lambda node: _said_not(node) if node.args.get("negate") else node)
        found: exp.Expr = tree.transform(lambda node: node.this if _is_zoned(node, catalog.layer.time_zone) else node)
        return found

    return qualified(sql, catalog.layer, said=said)


def _is_zoned(node: exp.Expr, zone: str) -> bool:
    """A time in the layer's own time zone, in which every statement runs."""
    return isinstance(node, exp.AtTimeZone) and node.args["zone"].name == zone


def _said_not(node: exp.Expr) -> exp.Expr:
    """IS NOT NULL as NOT … IS NULL."""
    plain = node.copy()
    plain.set("negate", None)
    return exp.Not(this=plain)


def _converted(tree: exp.Expr, catalog: Catalog, today: date) -> LogicalQuery:
    if not isinstance(tree, exp.Select):
        raise NotConverted(f"{type(tree).__name__} is no plain SELECT")
    inner = _grouped_inside(tree)
    if inner is not None:
        return _of_groups(tree, inner, catalog, today)
    if tree.args.get("with_") or tree.find(exp.Window):
        raise NotConverted("a CTE or a window")
    return _Converter(tree, catalog, today).query()


def _grouped_inside(tree: exp.Select) -> exp.Select | None:
    """The query that FROM holds, alone."""
    source = tree.args.get("from_")
    if source is None or tree.args.get("joins") or tree.args.get("where") or tree.args.get("group"):
        return None
    if isinstance(source.this, exp.Subquery) and isinstance(source.this.this, exp.Select):
        return source.this.this
    with_ = tree.args.get("with_")
    if with_ and len(with_.expressions) == 1 and source.this.name == with_.expressions[0].alias:
        found = with_.expressions[0].this
        return found if isinstance(found, exp.Select) else None
    return None


def _of_groups(tree: exp.Select, inner: exp.Select, catalog: Catalog, today: date) -> LogicalQuery:
    """How many groups there are, or the average over them."""
    query = _converted(inner, catalog, today)
    if len(tree.expressions) != 1 or not query.dimensions:
        raise NotConverted("a query over another one")
    node = cast_off(tree.expressions[0].unalias())
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
        return query.model_copy(update={"outcome": "group_count"})
    if isinstance(node, exp.Avg) and isinstance(node.this.unnest(), exp.Column) and len(query.metrics) == 1:
        return query.model_copy(update={"outcome": "group_average"})
    raise NotConverted("a query over another one")


class _Converter:
    """Of one SELECT over tables."""

    def __init__(self, tree: exp.Select, catalog: Catalog, today: date) -> None:
        self.tree, self.catalog, self.today = tree, catalog, today
        self.sources = Sources.of(tree, catalog)
        self.conditions = Conditions(self.sources, today)
        self.figures = Figures(self.sources, today, self.conditions)
        self.shown = [each.unalias().unnest() for each in tree.expressions]
        self.metrics: list[Metric] = []
        self.places: dict[str, int] = {}  # of metrics, by their SQL

    def query(self) -> LogicalQuery:
        for part in self.sources.conditions:
            self.conditions.add(part)
        where = self.tree.args.get("where")
        self.conditions.add(where.this if where else None)
        group = self.tree.args.get("group")
        grouped = list(group.expressions) if group else []
        having = self.tree.args.get("having")
        order = self.tree.args.get("order")
        if any(map(is_figure, self.shown)) or having or (order and any(map(is_figure, order.expressions))):
            return self._metrics(grouped, having.this if having else None)
        return self._rows(grouped)

    def _metrics(self, grouped: Sequence[exp.Expr], having: exp.Expr | None) -> LogicalQuery:
        for node in self.shown:
            if is_figure(node):
                self._place(node)
        plain = [node for node in self.shown if not is_figure(node)]
        dimensions = self._dimensions([*plain, *(node for node in grouped if node not in plain)], plain)
        conditions = [self._having(part) for part in parts_of(having)]
        ranking = self._ranking()
        self._require_once()
        if self.conditions.ranking:
            raise NotConverted("figures of the highest row")
        if self.conditions.times and any(metric.time for metric in self.metrics):
            raise NotConverted("a time within a time")
        return LogicalQuery(
            metrics=tuple(self.metrics), dimensions=tuple(dimensions), having=tuple(conditions), ranking=ranking,
            filters=tuple(self.conditions.filters), times=tuple(self.conditions.times), related=self._related(self._bases()),
        )  # fmt: skip

    def _dimensions(self, nodes: Sequence[exp.Expr], shown: Sequence[exp.Expr]) -> list[Dimension]:
        """What groups are of. A key that is not shown, and is no dimension, is its thing, which is shown by name."""
        found = []
        for node in nodes:
            try:
                found.append(self.figures.dimension(node))
            except NotConverted:
                if not isinstance(node, exp.Column) or node in shown or not self.sources.is_key(node):
                    raise
                found.append(Dimension(name=self.sources.aliases[node.table].name))
                self.sources.used.add(node.table)
        things = [self.catalog.models[each.name] for each in found if each.name in self.catalog.models]
        names = {f"{model.name}.{model.name_dimension.name}" for model in things if model.name_dimension}
        return list(dict.fromkeys(each for each in found if each.name not in names))

    def _bases(self) -> set[str]:
        """The tables whose rows are counted."""
        return {metric.name.partition(".")[0] for metric in self.metrics}

    def _require_once(self) -> None:
        """Where keys are counted once each, other figures of the same SELECT are of more rows."""
        bases = {m.name for m in self.metrics if m.name in self.catalog.models}
        if len(bases) > 1 and len(self.metrics) > len(bases):
            raise NotConverted("figures of several tables")

    def _place(self, node: exp.Expr) -> int:
        text = bare(node.unalias())
        if text not in self.places:
            self.metrics.append(self.figures.metric(node))
            self.places[text] = len(self.metrics) - 1
        return self.places[text]

    def _having(self, part: exp.Expr) -> Having:
        if type(part) not in SIGNS or not is_figure(part.this):
            raise NotConverted(f"HAVING {part.sql('postgres')}")
        value = constant(part.expression, self.today)
        if isinstance(value, str):
            raise NotConverted("HAVING beside a number")
        return Having(metric=self._place(part.this), op=SIGNS[type(part)], value=value)

    def _rows(self, grouped: Sequence[exp.Expr]) -> LogicalQuery:
        names = [self.sources.dimension(cast_off(node)) for node in self.shown]
        distinct = bool(self.tree.args.get("distinct") or grouped)
        ranking = self.conditions.ranking or self._ranking(is_list=True)
        base = self.sources.base
        if not distinct and base.primary:
            own = next((d for d in base.dimensions if base.primary and d.expr == base.primary.expr), None)
            names += [f"{base.name}.{own.name}"] if own else []
        return LogicalQuery(
            rows=Rows(model=base.name, columns=tuple(dict.fromkeys(names)), distinct=distinct), ranking=ranking,
            filters=tuple(self.conditions.filters), times=tuple(self.conditions.times), related=self._related({base.name}),
        )  # fmt: skip

    def _related(self, counted: Collection[str]) -> tuple[Related, ...]:
        joined = tuple(Related(model=model.name) for model in self.sources.unused(counted))
        return (*self.conditions.related, *joined)

    def _ranking(self, *, is_list: bool = False) -> Ranking | None:
        order, limit = self.tree.args.get("order"), self.tree.args.get("limit") or self.tree.args.get("fetch")
        if limit is None:
            return None
        if order is None:
            raise NotConverted("a limit without an order")
        first, *rest = order.expressions
        if any(each.args.get("desc") for each in rest) or (rest and is_list):
            raise NotConverted("a second order")
        offset = self.tree.args.get("offset")
        is_fetch = isinstance(limit, exp.Fetch)
        count = limit.args["count"] if is_fetch else limit.expression
        ties = is_fetch and bool(limit.args.get("limit_options") and limit.args["limit_options"].args.get("with_ties"))
        return Ranking(
            by=self._ranked_by(first.this), descending=bool(first.args.get("desc")), ties=ties,
            limit=int(constant(count, self.today)),
            offset=int(constant(offset.expression, self.today)) if offset else 0,
        )  # fmt: skip

    def _ranked_by(self, node: exp.Expr) -> str:
        node = node.unnest()
        if isinstance(node, exp.Column) and not node.table:
            node = next(each.unalias().unnest() for each in self.tree.expressions if each.alias_or_name == node.name)
        if is_figure(node):
            return str(self._place(node))
        dimension = self.figures.dimension(node)
        if dimension.grain:
            raise NotConverted("an order by time")
        return dimension.name
