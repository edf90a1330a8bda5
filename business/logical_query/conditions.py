"""Build WHERE from a query's filters, times and related rows, on the rows themselves or on rows that belong to them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.translation import gettext as _

from business.logical_query.catalog import Catalog
from business.logical_query.comparisons import (
    build_comparison_sql,
    build_fixed_filter_sql,
    find_coarsest_unit,
    format_number_sql,
    require_supported_grain,
)
from business.logical_query.metrics import build_metric_sql, is_plain_measure
from business.logical_query.query import Filter, Inexpressible, Metric, Related, TimeRange
from business.logical_query.source import JoinedTables, find_common_referrer
from business.logical_query.times import days_of
from business.semantic_layer.model import Dimension

_INVERSE = {"<": ">=", "<=": ">"}


@dataclass(frozen=True)
class Conditions:
    """The conditions of one SELECT. today: the company's day. metrics: the computed ones; none for a list. about:
    columns that other parts of the question concern, which exempts them from default filters.
    """

    catalog: Catalog
    today: date
    filters: tuple[Filter, ...] = ()
    times: tuple[TimeRange, ...] = ()
    related: tuple[Related, ...] = ()
    metrics: tuple[Metric, ...] = ()
    about: tuple[str, ...] = ()

    def where(self, source: JoinedTables) -> list[str]:
        """Return the conditions as SQL, to be joined by AND; join the tables they need to the source."""
        parts: list[str] = []
        far: dict[str, list[Filter | TimeRange]] = {}
        own: list[Filter | TimeRange] = [*self.filters, *self.times]
        for condition in own:
            model = self._find_condition_table(condition, source)
            if source.reaches(model):
                parts.append(self._build_condition(condition, source))
            else:
                far.setdefault(model, []).append(condition)
        if far and any(is_plain_measure(metric, self.catalog) for metric in self.metrics):
            raise Inexpressible(_("A sum would be taken over parts of what is added."))
        parts += self._build_related_conditions(source, far)
        parts += [self._build_related_condition(item, source) for item in self.related]
        default = self._select_default_filters(source.base, self.filters)
        return [*parts, *([build_fixed_filter_sql(default, source.alias(source.base))] if default else [])]

    def _select_default_filters(self, name: str, filters: Sequence[Filter]) -> dict[str, tuple[str, ...]]:
        """Return a table's default filters, except on columns that the question itself is about, such as who left."""
        asked = {dimension.expr for item in filters for dimension in self._columns_of(item, name)}
        asked |= {dimension.expr for model, dimension in map(self.catalog.dimension, self.about) if model.name == name}
        return {
            column: values for column, values in self.catalog.model(name).default_filter.items() if column not in asked
        }

    def _columns_of(self, condition: Filter, name: str) -> Iterator[Dimension]:
        model, dimension = self.catalog.dimension(condition.field)
        if model.name == name:
            yield dimension

    def time_of(self, source: JoinedTables) -> str:
        """Return the time dimension of this SELECT. Raises Inexpressible where its rows have none."""
        for metric in self.metrics:
            model, measure = self.catalog.measures.get(metric.name, (None, None))
            if model is not None and measure is not None and measure.time and metric.agg is None:
                return f"{model.name}.{measure.time}"
        found = self._find_own_time(source.base)
        if found is None:
            raise Inexpressible(_("%(name)s has no time.") % {"name": source.base})
        return found

    def _find_own_time(self, name: str) -> str | None:
        """Return a table's own time, or, for line items, that of the table they belong to."""
        model = self.catalog.model(name)
        if model.defaults.agg_time_dimension:
            return f"{name}.{model.defaults.agg_time_dimension}"
        if model.name_dimension is not None:  # an entity of its own, not a line item
            return None
        ways = sorted(
            (len(way), other.name, other.defaults.agg_time_dimension)
            for other in self.catalog.models.values()
            if other.defaults.agg_time_dimension and (way := self.catalog.joins.up(name, other.name))
        )
        if not ways or (len(ways) > 1 and ways[0][0] == ways[1][0]):
            return None
        return f"{ways[0][1]}.{ways[0][2]}"

    def _find_condition_table(self, condition: Filter | TimeRange, source: JoinedTables) -> str:
        if isinstance(condition, TimeRange):
            return self.catalog.dimension(condition.field or self.time_of(source))[0].name
        return self.catalog.dimension(condition.field)[0].name

    def _build_condition(self, condition: Filter | TimeRange, source: JoinedTables) -> str:
        if isinstance(condition, TimeRange):
            return self._build_time_condition(condition, source)
        dimension = self.catalog.dimension(condition.field)[1]
        column = source.column(condition.field)
        return build_comparison_sql(
            column, condition, is_number=dimension.type == "number", is_time=dimension.type == "time"
        )

    def _build_time_condition(self, condition: TimeRange, source: JoinedTables) -> str:
        name = condition.field or self.time_of(source)
        model, dimension = self.catalog.dimension(name)
        if dimension.type != "time":
            raise Inexpressible(_("%(name)s is not a time.") % {"name": name})
        start, end = days_of(condition, self.today, self.catalog.layer.fiscal_year_start)
        require_supported_grain(dimension, find_coarsest_unit(start, end))
        if not condition.field:
            self._require_dated_value(model.name)
        column = source.column(name)
        parts = [f"{column} >= '{start}'"] if start else []
        parts += [f"{column} < '{end}'"] if end else []
        return " AND ".join(parts)

    def _require_dated_value(self, model: str) -> None:
        """Raise Inexpressible for an undated value: “how many left last month” with only a joining date."""
        for condition in self.filters:
            owner, dimension = self.catalog.dimensions.get(condition.field, (None, None))
            if owner is None or dimension is None or owner.name != model:
                continue
            if any(value.is_undated and value.value in condition.values for value in dimension.values):
                raise Inexpressible(_("When that happened is not in the data."))

    def _build_related_conditions(self, source: JoinedTables, far: dict[str, list[Filter | TimeRange]]) -> list[str]:
        """Return conditions on rows that belong to this one, all on the same row if one table has them all."""
        if not far:
            return []
        try:
            together = bool(find_common_referrer(source.base, list(far), self.catalog))
        except Inexpressible:
            together = False
        groups = [(list(far), [entry for found in far.values() for entry in found])] if together else [
            ([model], found) for model, found in far.items()
        ]  # fmt: skip
        return [self._build_exists(source, models, found) for models, found in groups]

    def _build_exists(self, source: JoinedTables, models: list[str], conditions: Sequence[Filter | TimeRange]) -> str:
        """Return EXISTS for rows of other tables that belong to this one. A single “not” covers all such rows."""
        negated = [c for c in conditions if isinstance(c, Filter) and c.op in ("not_in", "!=", "not_contains")]
        if negated and len(conditions) > 1:
            raise Inexpressible(_("It is not clear which condition is negated."))
        turned = [remove_negation(c) if isinstance(c, Filter) else c for c in conditions]
        carrier = find_common_referrer(source.base, models, self.catalog)
        inner = JoinedTables(carrier, self.catalog, prefix="e")
        for model in models:
            inner.alias(model)
        parts = [f"{inner.key(source.base)} = {source.key(source.base)}"]
        parts += [self._build_condition(item, inner) for item in turned]
        return f"{'NOT ' if negated else ''}EXISTS (SELECT 1 FROM {inner.text()} WHERE {' AND '.join(parts)})"

    def _build_related_condition(self, related: Related, source: JoinedTables) -> str:
        model = self.catalog.model(related.model)
        if related.op is not None:
            return self._compare_related_metric(related, source)
        inside: list[Filter | TimeRange] = [*related.filters, *_resolve_related_times(related, self.catalog)]
        key = source.own_key(related.model)
        if key and not inside:  # orders without a customer: their own key is NULL
            return f"{key} IS {'NULL' if related.is_not else 'NOT NULL'}"
        if source.reaches(related.model) and not related.is_not:
            parts = [f"{source.key(related.model)} IS NOT NULL"] if model.primary else []
            return " AND ".join([*parts, *(self._build_condition(item, source) for item in inside)])
        inner = JoinedTables(find_linking_table(source.base, related.model, self.catalog), self.catalog, prefix="e")
        alias = inner.alias(related.model)
        parts = [f"{inner.key(source.base)} = {source.key(source.base)}"]
        parts += [self._build_condition(item, inner) for item in inside]
        default = self._select_default_filters(model.name, related.filters)
        parts += [build_fixed_filter_sql(default, alias)] if default else []
        word = "NOT EXISTS" if related.is_not else "EXISTS"
        return f"{word} (SELECT 1 FROM {inner.text()} WHERE {' AND '.join(parts)})"

    def _compare_related_metric(self, related: Related, source: JoinedTables) -> str:
        """Return the comparison of the number of a thing's related rows; no rows count as zero."""
        inner, sql, where = self.per_owner(related, source)
        key, sign = inner.key(source.base), str(related.op)
        if (sign, related.value) == ("=", 0):
            raise Inexpressible(_("Ask for things without such rows instead of exactly none."))
        word = "NOT IN" if sign in _INVERSE else "IN"
        inside = f"SELECT {key} FROM {inner.text()} WHERE {' AND '.join([*where, f'{key} IS NOT NULL'])}"
        having = f"{sql} {_INVERSE.get(sign, sign)} {format_number_sql(related.value)}"
        return f"{source.key(source.base)} {word} ({inside} GROUP BY {key} HAVING {having})"

    def per_owner(self, related: Related, source: JoinedTables) -> tuple[JoinedTables, str, list[str]]:
        """Return a thing's related rows, their number, and their conditions."""
        if related.model == source.base:
            raise Inexpressible(_("A metric of each row needs rows of another table."))
        metric = Metric(name=related.model, agg="count")
        carrier = find_linking_table(source.base, related.model, self.catalog)
        inner = JoinedTables(carrier, self.catalog, prefix="h")
        sql = build_metric_sql(metric, inner, related.model if carrier != related.model else "")
        times = (related.time,) if related.time else ()
        where = Conditions(self.catalog, self.today, related.filters, times, metrics=(metric,)).where(inner)
        inner.key(source.base)
        return inner, sql, where


def _resolve_related_times(related: Related, catalog: Catalog) -> tuple[TimeRange, ...]:
    """Return the time range of related rows, with its field filled in."""
    if related.time is None:
        return ()
    if related.time.field:
        return (related.time,)
    own = catalog.model(related.model).defaults.agg_time_dimension
    if not own:
        raise Inexpressible(_("%(name)s has no time.") % {"name": related.model})
    return (related.time.model_copy(update={"field": f"{related.model}.{own}"}),)


def find_linking_table(base: str, model: str, catalog: Catalog) -> str:
    """Return the table that links `base` and `model`: `model` itself, or one between. Raises Inexpressible."""
    return model if catalog.joins.up(model, base) is not None else find_common_referrer(base, [model], catalog)


def remove_negation(condition: Filter) -> Filter:
    """Return the condition without its “not”."""
    turned = {"not_in": "in", "!=": "=", "not_contains": "contains"}
    return condition.model_copy(update={"op": turned.get(condition.op, condition.op)})
