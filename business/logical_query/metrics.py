"""A metric as an aggregate over one source."""

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from business.logical_query.catalog import Catalog
from business.logical_query.comparisons import build_fixed_filter_sql
from business.logical_query.query import Filter, Inexpressible, Metric
from business.logical_query.source import JoinedTables
from business.semantic_layer.expressions import qualify_columns


def find_metric_table(metric: Metric, catalog: Catalog) -> str:
    """Return the table that a metric aggregates. Raises Inexpressible."""
    if metric.name in catalog.measures and metric.agg is None:
        return catalog.measure(metric.name)[0].name
    if metric.name in catalog.models and metric.agg in (None, "count"):
        return metric.name
    if metric.agg is None:
        raise Inexpressible(_("There is no measure called %(name)s.") % {"name": metric.name})
    return catalog.dimension(metric.name)[0].name


def require_countable_rows(metric: Metric, filters: tuple[Filter, ...], catalog: Catalog) -> None:
    """Raise Inexpressible where a measure's own filter excludes all that a condition asks for: a measure without
    cancelled orders says nothing about the cancelled ones.
    """
    if metric.agg is not None or metric.name not in catalog.measures:
        return
    model, measure = catalog.measure(metric.name)
    for item in (*filters, *metric.filters):
        owner, dimension = catalog.dimensions.get(item.field, (None, None))
        if (
            owner is not model
            or dimension is None
            or item.op not in ("in", "=")
            or dimension.expr not in measure.filter
        ):
            continue
        if not {str(value) for value in item.values} & set(measure.filter[dimension.expr]):
            language = get_language() or "en"
            labels = {value.value: value.text(language) for value in dimension.values}
            values = ", ".join(labels.get(str(value), str(value)) for value in item.values)
            raise Inexpressible(
                _("By its definition “%(measure)s” leaves out %(column)s = %(values)s.")
                % {
                    "measure": measure.label.text(language) or measure.name,
                    "column": dimension.label.text(language) or dimension.name,
                    "values": values,
                }
            )


def is_plain_measure(metric: Metric, catalog: Catalog) -> bool:
    return metric.name in catalog.measures and metric.agg is None


def build_metric_sql(metric: Metric, source: JoinedTables, counts_key: str = "") -> str:
    """Return the aggregate of a metric, without dividing a percentage. counts_key: the table whose distinct keys are counted.

    It includes a measure's own filter, so that several metrics can share one SELECT.
    """
    catalog = source.catalog
    if metric.name in catalog.measures and metric.agg is None:
        model, measure = catalog.measure(metric.name)
        alias = source.alias(model.name)
        inner = qualify_columns(measure.expr, alias) if measure.expr else "*"
        text = _aggregate(measure.agg, inner)
        return text + (f" FILTER (WHERE {build_fixed_filter_sql(measure.filter, alias)})" if measure.filter else "")
    if metric.name in catalog.models:
        return f"count(DISTINCT {source.key(counts_key)})" if counts_key else "count(*)"
    model, dimension = catalog.dimension(metric.name)
    if metric.agg in ("sum", "avg") and dimension.type != "number":
        raise Inexpressible(_("%(name)s is not a number.") % {"name": metric.name})
    return _aggregate(metric.agg or "count", source.column(metric.name))


def _aggregate(agg: str, inner: str) -> str:
    return f"count(DISTINCT {inner})" if agg == "count_distinct" else f"{agg}({inner})"
