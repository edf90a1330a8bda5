"""What a SELECT shows: metrics and dimensions."""

from dataclasses import dataclass
from datetime import date

import sqlglot
from sqlglot import exp

from business.evaluation.from_sql.conditions import Conditions
from business.evaluation.from_sql.constants import number
from business.evaluation.from_sql.sources import NotConverted, Sources, cast_off
from business.logical_query.query import Dimension, Grain, Metric
from business.parsing.model.definitions import bare
from business.semantic_layer.model import Aggregation, Measure

_AGGREGATES: dict[type[exp.Expr], Aggregation] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max",
}  # fmt: skip
_GRAINS: dict[str, Grain] = {"day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year"}
_EXTRACTED: dict[str, Grain] = {"year": "year", "isodow": "weekday", "hour": "hour"}
_FORMATS: dict[str, Grain] = {
    "%Y-%m-%d": "day",
    "%Y-%m": "month",
    "%Y": "year",
    'YYYY-"Q"Q': "quarter",
    "%Y-Q%q": "quarter",
}
PERCENT = 100


@dataclass(frozen=True)
class Figures:
    """Reads what is shown, over the tables of one SELECT."""

    sources: Sources
    today: date
    conditions: Conditions

    def metric(self, node: exp.Expr) -> Metric:
        """Raises NotConverted."""
        node, is_rounded = _figure(node)
        if isinstance(node, exp.Div | exp.Mul):
            return self._ratio(node, is_rounded=is_rounded)
        if is_rounded:
            raise NotConverted("a rounded figure")
        return self._leaf(node)

    def _ratio(self, node: exp.Expr, *, is_rounded: bool) -> Metric:
        """a / b, or a share in percent."""
        factors, below = _factors(node)
        hundred = [f for f in factors if isinstance(f, exp.Literal) and not f.is_string]
        above = [f for f in factors if f not in hundred]
        is_percent = bool(hundred) and all(number(f) in (1, PERCENT) for f in hundred)
        is_percent = is_percent and any(number(f) == PERCENT for f in hundred)
        if len(above) != 1 or (hundred and not is_percent and any(number(f) != 1 for f in hundred)):
            raise NotConverted(f"{node.sql('postgres')} is no ratio")
        if is_percent != is_rounded:
            raise NotConverted("a ratio rounded otherwise")
        if below is None:  # 100 * avg(CASE …)
            return self._case_share(above[0], percent=True)
        return self._leaf(above[0]).model_copy(update={"over": self._leaf(below), "percent": is_percent})

    def _leaf(self, node: exp.Expr) -> Metric:
        node, is_rounded = _figure(node)
        if is_rounded:
            raise NotConverted("a rounded part of a figure")
        if isinstance(node, exp.Filter):
            return self._filtered(self._leaf(node.this), node.expression.this)
        if type(node) not in _AGGREGATES:
            raise NotConverted(f"{node.sql('postgres')} is no metric")
        agg, inner = _AGGREGATES[type(node)], node.this.unnest() if node.this else exp.Star()
        if isinstance(inner, exp.Case):
            return self._case(agg, inner)
        if agg == "count":
            return self._count(inner)
        return self._aggregate(agg, inner)

    def _filtered(self, metric: Metric, where: exp.Expr) -> Metric:
        told = Conditions(self.sources, self.today)
        told.add(where)
        if told.related or told.ranking or len(told.times) > 1:
            raise NotConverted("conditions of a metric on other rows")
        time = told.times[0] if told.times else metric.time
        return metric.model_copy(update={"filters": (*metric.filters, *told.filters), "time": time})

    def _case(self, agg: Aggregation, case: exp.Case) -> Metric:
        """sum(CASE WHEN … THEN 1 ELSE 0 END) and the like."""
        condition, value, otherwise = _only_case(case)
        is_nothing = otherwise is None or isinstance(otherwise, exp.Null)
        is_one, is_nought = _is_number(value, 1), is_nothing or _is_number(otherwise, 0)
        if agg == "avg" and is_one and not is_nothing and is_nought:
            return self._case_share(exp.Avg(this=case), percent=False)
        if agg == "count" and is_nothing:
            inner = exp.Star() if isinstance(value, exp.Literal) else value
            return self._filtered(self._count(inner), condition)
        if agg == "sum" and is_one and is_nought:
            return self._filtered(self._count(exp.Star()), condition)
        if (agg == "sum" and is_nought) or (is_nothing and agg in ("avg", "min", "max")):
            return self._filtered(self._aggregate(agg, value), condition)
        raise NotConverted("such a CASE")

    def _case_share(self, node: exp.Expr, *, percent: bool) -> Metric:
        node, _is_rounded = _figure(node)
        if not isinstance(node, exp.Avg) or not isinstance(node.this.unnest(), exp.Case):
            raise NotConverted(f"{node.sql('postgres')} is no share")
        condition, value, otherwise = _only_case(node.this.unnest())
        if not (_is_number(value, 1) and otherwise is not None and _is_number(otherwise, 0)):
            raise NotConverted("such a CASE")
        whole = self._count(exp.Star())
        return self._filtered(whole, condition).model_copy(update={"over": whole, "percent": percent})

    def _count(self, inner: exp.Expr) -> Metric:
        if isinstance(inner, exp.Star | exp.Literal):
            return Metric(name=self.sources.base.name, agg="count")
        if isinstance(inner, exp.Distinct):
            if len(inner.expressions) != 1:
                raise NotConverted("pairs that differ")
            column = inner.expressions[0].unnest()
            if isinstance(column, exp.Column) and self.sources.is_key(column):
                self.sources.used.add(column.table)
                return Metric(name=self.sources.aliases[column.table].name, agg="count")
            return Metric(name=self.sources.dimension(column), agg="count_distinct")
        if (
            isinstance(inner, exp.Column)
            and self.sources.is_key(inner)
            and self.sources.aliases[inner.table].name == self.sources.base.name
        ):
            return Metric(name=self.sources.base.name, agg="count")
        if not isinstance(inner, exp.Column):
            raise NotConverted(f"count of {inner.sql('postgres')}")
        return self._own("count", inner)

    def _aggregate(self, agg: Aggregation, inner: exp.Expr) -> Metric:
        """A measure of the layer, or an aggregate of one of its columns."""
        is_days = isinstance(inner, exp.Sub) and all(each.is_type("date") for each in (inner.this, inner.expression))
        inner = cast_off(inner)
        base = self.sources.base
        for measure in base.measures:
            is_held = measure.agg == agg and measure.expr and self._is_held(measure)
            if is_held and bare(sqlglot.parse_one(measure.expr, dialect="postgres")) == bare(inner):
                return Metric(name=f"{base.name}.{measure.name}")
        if is_days:
            later, earlier = cast_off(inner.this), cast_off(inner.expression)
            names = self.sources.dimension(earlier), self.sources.dimension(later)
            if all(self.sources.catalog.dimension(name)[1].type == "time" for name in names):
                return Metric(name=names[0], until=names[1], agg=agg)
        return self._own(agg, inner)

    def _is_held(self, measure: Measure) -> bool:
        """Whether the statement's own conditions are those of a measure."""
        dimensions = self.sources.catalog.dimensions
        held = {
            dimensions[each.field][1].expr: {str(value) for value in each.values}
            for each in self.conditions.filters
            if each.field in dimensions and each.op in ("in", "=")
        }
        return all(held.get(column) == set(values) for column, values in measure.filter.items())

    def _own(self, agg: Aggregation, inner: exp.Expr) -> Metric:
        """Of a column of the table whose rows are counted: one of another table would be taken once for each of these rows."""
        name = self.sources.dimension(inner)
        if name.rpartition(".")[0] != self.sources.base.name and agg not in ("min", "max"):
            raise NotConverted(f"{name} is taken once for each row of {self.sources.base.name}")
        return Metric(name=name, agg=agg)

    def dimension(self, node: exp.Expr) -> Dimension:
        """Raises NotConverted."""
        node = cast_off(node.unalias())
        if isinstance(node, exp.TimestampTrunc | exp.TimeToStr | exp.Extract | exp.ToChar):
            grain, time = _grain(node)
            name = self.sources.dimension(cast_off(time))
            if self.sources.catalog.dimension(name)[1].type == "time":
                return Dimension(name=name, grain=grain)
        return Dimension(name=self.sources.dimension(node))


def is_figure(node: exp.Expr) -> bool:
    return node.find(exp.AggFunc) is not None


def _figure(node: exp.Expr) -> tuple[exp.Expr, bool]:
    """A figure without casts and defaults, and whether it is rounded."""
    node, is_rounded = node.unalias().unnest(), False
    while isinstance(node, exp.Cast | exp.Coalesce | exp.Round):
        is_rounded |= isinstance(node, exp.Round)
        node = node.this.unnest()
    return node, is_rounded


def _factors(node: exp.Expr) -> tuple[list[exp.Expr], exp.Expr | None]:
    """What is multiplied, and what that is divided by."""
    node = cast_off(node)
    if isinstance(node, exp.Mul):
        left, below = _factors(node.this)
        right, other = _factors(node.expression)
        if below is not None and other is not None:
            raise NotConverted("a ratio of ratios")
        return [*left, *right], below if below is not None else other
    if isinstance(node, exp.Div):
        above, below = _factors(node.this)
        under = cast_off(node.expression)
        under = cast_off(under.this) if isinstance(under, exp.Nullif) else under
        if below is not None:
            raise NotConverted("a ratio of ratios")
        return above, under
    return [node], None


def _only_case(case: exp.Case) -> tuple[exp.Expr, exp.Expr, exp.Expr | None]:
    if len(case.args["ifs"]) != 1 or case.this is not None:
        raise NotConverted("a CASE of several")
    only = case.args["ifs"][0]
    otherwise = case.args.get("default")
    return only.this, only.args["true"].unnest(), otherwise.unnest() if otherwise else None


def _is_number(node: exp.Expr | None, value: int) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and number(node) == value


def _grain(node: exp.Expr) -> tuple[Grain, exp.Expr]:
    if isinstance(node, exp.Extract):
        unit, known, time = node.this.name.lower(), _EXTRACTED, node.expression
    elif isinstance(node, exp.TimestampTrunc):
        unit, known, time = node.args["unit"].name.lower(), _GRAINS, node.this
    else:
        unit, known, time = node.args["format"].name, _FORMATS, node.this
    if unit not in known:
        raise NotConverted(f"times by {unit}")
    return known[unit], time
