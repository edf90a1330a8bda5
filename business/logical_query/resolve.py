"""Resolve a logical query from outside against the layer: exact names, existing values."""

from collections.abc import Iterable
from typing import TypeVar

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from business.logical_query.catalog import Catalog
from business.logical_query.query import (
    Dimension,
    Filter,
    Inexpressible,
    LogicalQuery,
    Metric,
    Part,
    Ranking,
    Related,
    Rows,
    TimeRange,
)
from business.semantic_layer.model import Dimension as LayerDimension
from business.semantic_layer.model import Value

P = TypeVar("P", bound=Part)
MAX_NAMED = 8  # most values listed in a sentence


def resolved(query: LogicalQuery, catalog: Catalog) -> LogicalQuery:
    """Return the query in the layer's own names and values. Raises Inexpressible, naming the alternatives."""
    return _Resolver(catalog).query(query)


class _Resolver:
    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.bare: dict[str, set[str]] = {}
        for name in (*catalog.dimensions, *catalog.measures):
            self.bare.setdefault(name.rpartition(".")[2].lower(), set()).add(name)
        self.lower = {name.lower(): name for name in (*catalog.models, *catalog.dimensions, *catalog.measures)}

    def query(self, query: LogicalQuery) -> LogicalQuery:
        return self._with(
            query,
            metrics=tuple(map(self.metric, query.metrics)),
            dimensions=tuple(map(self.dimension, query.dimensions)),
            rows=self.rows(query.rows) if query.rows else None,
            filters=tuple(map(self.filter, query.filters)),
            times=tuple(map(self.time, query.times)),
            related=tuple(map(self.related, query.related)),
            ranking=self.ranking(query.ranking) if query.ranking else None,
            comparison=self._with(query.comparison, time=self.time(query.comparison.time))
            if query.comparison and query.comparison.time
            else query.comparison,
        )

    def _with(self, part: P, **changes: object) -> P:
        return part.model_copy(update=changes)

    def name(self, given: str) -> str:
        """Return a name as the layer has it: exact, in another case, or by its last part if unique."""
        found = self.lower.get(given.lower())
        if found is not None:
            return found
        named = self.bare.get(given.rpartition(".")[2].lower(), set())
        owner = given.rpartition(".")[0].lower()
        fitting = {name for name in named if not owner or name.lower().startswith(f"{owner}.")}
        if len(fitting) == 1:
            return fitting.pop()
        near = ", ".join(sorted(named)[:MAX_NAMED])
        if near:
            raise Inexpressible(
                _("There is nothing called %(name)s; there are %(near)s.") % {"name": given, "near": near}
            )
        raise Inexpressible(_("There is nothing called %(name)s.") % {"name": given})

    def metric(self, metric: Metric) -> Metric:
        name = self.name(metric.name)
        agg = metric.agg
        if name in self.catalog.measures and name not in self.catalog.dimensions:
            own = self.catalog.measures[name][1].agg
            if agg not in (None, own):
                raise Inexpressible(
                    _("%(name)s is a measure and is %(agg)s already: leave its agg out.") % {"name": name, "agg": own}
                )
            agg = None
        elif name in self.catalog.models:
            if agg not in (None, "count"):
                raise Inexpressible(_("The rows of %(name)s can only be counted.") % {"name": name})
            agg = "count"
        elif agg is None:
            raise Inexpressible(_("%(name)s is a column: say how it is aggregated.") % {"name": name})
        return self._with(
            metric,
            name=name,
            agg=agg,
            until=self.name(metric.until) if metric.until else "",
            filters=tuple(map(self.filter, metric.filters)),
            time=self.time(metric.time) if metric.time else None,
            over=self.metric(metric.over) if metric.over else None,
        )

    def dimension(self, dimension: Dimension) -> Dimension:
        return self._with(dimension, name=self.name(dimension.name)) if dimension.name else dimension

    def rows(self, rows: Rows) -> Rows:
        model = self.name(rows.model)
        self.catalog.model(model)
        return self._with(rows, model=model, columns=tuple(map(self.name, rows.columns)))

    def time(self, time: TimeRange) -> TimeRange:
        return self._with(time, field=self.name(time.field)) if time.field else time

    def ranking(self, ranking: Ranking) -> Ranking:
        is_named = ranking.by and not ranking.by.isdecimal() and ranking.by != "share"
        by = self.name(ranking.by) if is_named else ranking.by
        return self._with(ranking, by=by, within=tuple(map(self.dimension, ranking.within)))

    def related(self, related: Related) -> Related:
        return self._with(
            related,
            model=self.name(related.model),
            filters=tuple(map(self.filter, related.filters)),
            time=self.time(related.time) if related.time else None,
            metric=self.metric(related.metric) if related.metric else None,
        )

    def filter(self, condition: Filter) -> Filter:
        if condition.any_of:
            return self._with(condition, any_of=tuple(map(self.filter, condition.any_of)))
        name = self.name(condition.field)
        dimension = self.catalog.dimension(name)[1]
        than = self.name(condition.than) if condition.than not in ("", "average") else condition.than
        values = condition.values
        if dimension.values and condition.op in ("in", "not_in", "=", "!=") and not condition.part and not than:
            values = tuple(self._value(dimension, value) for value in values)
        return self._with(condition, field=name, than=than, values=values)

    def _value(self, dimension: LayerDimension, given: str | float | bool) -> str:
        """Return the stored value that is meant. Raises Inexpressible, naming those there are; "" names none."""
        text = str(given).lower() if isinstance(given, bool) else str(given)
        if not text:
            return text
        for value in dimension.values:
            if text == value.value:
                return value.value
        for value in dimension.values:
            if text.casefold() in {word.casefold() for word in value.words()}:
                return value.value
        raise Inexpressible(no_such_value(dimension, text))


def no_such_value(dimension: LayerDimension, text: str) -> str:
    """Return the sentence “There is no region East; there are …”."""
    language = get_language() or "en"
    named = _listed(_called(value, language) for value in dimension.values) if not dimension.is_name else ""
    column = dimension.label.text(language) or dimension.name
    values = {"column": column, "value": text, "values": named}
    if named:
        return _("There is no %(column)s “%(value)s”; there are %(values)s.") % values
    return _("There is no %(column)s “%(value)s”.") % values


def _called(value: Value, language: str) -> str:
    """Return a value's name for people, and its stored form."""
    label = value.text(language)
    return label if label == value.value else f"{label} ({value.value})"


def _listed(values: Iterable[str]) -> str:
    all_of_them = list(values)
    more = ", …" if len(all_of_them) > MAX_NAMED else ""
    return ", ".join(all_of_them[:MAX_NAMED]) + more
