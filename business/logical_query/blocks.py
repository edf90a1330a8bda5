"""One SELECT of metrics over the same rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.translation import gettext as _

from business.guard.rewrite import quote_identifier
from business.logical_query.catalog import Catalog
from business.logical_query.comparisons import build_fixed_filter_sql, require_supported_grain
from business.logical_query.conditions import Conditions
from business.logical_query.metrics import build_metric_sql, find_metric_table, require_countable_rows
from business.logical_query.query import (
    Breakdown,
    Filter,
    Grain,
    Inexpressible,
    LogicalQuery,
    Metric,
    TimeRange,
    name_dimension_column,
)
from business.logical_query.source import JoinedTables, find_common_referrer
from business.logical_query.times import STEPS, days_of, list_period_starts

_FORMATS = {"day": "YYYY-MM-DD", "week": "YYYY-MM-DD", "month": "YYYY-MM", "quarter": 'YYYY-"Q"Q'}


@dataclass(frozen=True)
class QueryBlock:
    """shown: SQL of dimensions; hidden: of keys that tell namesakes apart. aggregates: of metrics, called names.

    counts: which of them are counts, where no row means zero.
    """

    source: str
    where: str
    dimensions: tuple[str, ...]
    shown: tuple[str, ...]
    hidden: tuple[str, ...]
    aggregates: tuple[str, ...]
    names: tuple[str, ...]
    counts: tuple[bool, ...]

    def select(self, names: Sequence[str], keys: Sequence[str] = (), hidden: Sequence[str] = ()) -> str:
        """Return the SELECT with dimensions and metrics called so. hidden: names for the hidden keys, if wanted."""
        called = keys or self.dimensions
        columns = [f"{sql} AS {name}" for sql, name in zip(self.shown, called, strict=True)]
        columns += [f"{sql} AS {name}" for sql, name in zip(self.hidden, hidden, strict=True)] if hidden else []
        columns += [f"{sql} AS {name}" for sql, name in zip(self.aggregates, names, strict=True)]
        text = f"SELECT {', '.join(columns)} FROM {self.source}{self.where}"
        by = (*self.shown, *self.hidden)
        return f"{text} GROUP BY {', '.join(by)}" if by else text

    def one(self, place: int) -> str:
        """Return one metric alone, as a scalar."""
        return f"SELECT {self.aggregates[place]} FROM {self.source}{self.where}"


def blocks_of(
    query: LogicalQuery, leaves: Mapping[Metric, TimeRange | None], catalog: Catalog, today: date
) -> tuple[list[QueryBlock], dict[Metric, str]]:
    """Return the blocks of these metrics, and each metric's column among them. Raises Inexpressible.

    leaves: the metrics; those of a comparison's other side with the time that they stand beside.
    """
    groups: dict[object, list[Metric]] = {}
    for metric in leaves:
        groups.setdefault(
            (
                find_metric_table(metric, catalog),
                metric.filters,
                metric.time,
                leaves[metric],
                _find_own_time(metric, catalog),
            ),
            [],
        ).append(metric)
    blocks: list[QueryBlock] = []
    places: dict[Metric, str] = {}
    for metrics in groups.values():
        names = tuple(f"f{len(places) + n}" for n in range(len(metrics)))
        places |= dict(zip(metrics, names, strict=True))
        blocks.append(_build_block(query, metrics, names, catalog, today, beside=leaves[metrics[0]]))
    return blocks, places


def _find_own_time(metric: Metric, catalog: Catalog) -> str:
    """Return the measure's own time dimension."""
    found = catalog.measures.get(metric.name) if metric.agg is None else None
    return found[1].time if found else ""


def _build_block(
    query: LogicalQuery,
    metrics: list[Metric],
    names: tuple[str, ...],
    catalog: Catalog,
    today: date,
    *,
    beside: TimeRange | None,
) -> QueryBlock:
    for metric in metrics:
        require_countable_rows(metric, query.filters, catalog)
    base, counts_key = _choose_base_table(query, metrics, catalog)
    source = JoinedTables(base, catalog)
    times = (metrics[0].time,) if metrics[0].time else query.times
    conditions = Conditions(
        catalog, today, (*query.filters, *metrics[0].filters), times, query.related, tuple(metrics), find_exempt_columns(query, catalog)
    )  # fmt: skip
    aggregates = tuple(build_metric_sql(metric, source, counts_key) for metric in metrics)
    groups = [build_group_sql(item, source, conditions) for item in query.dimensions]
    if beside is not None:
        groups = [
            (_align_compared_periods(shown, item, (times[0], beside), source, conditions), key)
            for item, (shown, key) in zip(query.dimensions, groups, strict=True)
        ]
    parts = dict.fromkeys([*conditions.where(source), *_build_measure_conditions(metrics, catalog, source)])
    return QueryBlock(
        source=source.text(),
        where=f" WHERE {' AND '.join(parts)}" if parts else "",
        dimensions=tuple(quote_identifier(name_dimension_column(item)) for item in query.dimensions),
        shown=tuple(shown for shown, _key in groups),
        hidden=tuple(key for _shown, key in groups if key),
        aggregates=aggregates,
        names=names,
        counts=tuple((metric.agg or "").startswith("count") or metric.name in catalog.models for metric in metrics),
    )


def find_exempt_columns(query: LogicalQuery, catalog: Catalog) -> tuple[str, ...]:
    """Return columns exempt from default filters: the query is broken down by them, or asks for a share of the whole
    that the default leaves out (how many per cent have left).
    """
    shown = [item.name for item in query.dimensions if item.name in catalog.dimensions]
    return (
        *shown,
        *(entry.field for metric in query.metrics for entry in metric.filters if _is_left_out(entry, catalog)),
    )


def _is_left_out(condition: Filter, catalog: Catalog) -> bool:
    if condition.field not in catalog.dimensions or condition.op not in ("in", "="):
        return False
    model, dimension = catalog.dimensions[condition.field]
    return not set(map(str, condition.values)) <= set(model.default_filter.get(dimension.expr, ()))


def _build_measure_conditions(metrics: list[Metric], catalog: Catalog, source: JoinedTables) -> list[str]:
    """Return a single measure's own filter as a condition, so that groups without its rows are left out."""
    own = [catalog.measures.get(metric.name) for metric in metrics if metric.agg is None]
    filters = {tuple(sorted(found[1].filter.items())) for found in own if found}
    if len(filters) != 1 or len(own) != len(metrics) or None in own:
        return []
    found = own[0]
    return [build_fixed_filter_sql(found[1].filter, source.alias(found[0].name))] if found and found[1].filter else []


def _choose_base_table(query: LogicalQuery, metrics: list[Metric], catalog: Catalog) -> tuple[str, str]:
    """Return the table the rows come from, and, if it links two tables, the one whose distinct keys are counted."""
    base = find_metric_table(metrics[0], catalog)
    grouped = {_find_dimension_table(item, catalog) for item in query.dimensions} - {""}
    far = [name for name in sorted(grouped) if catalog.joins.up(base, name) is None]
    if not far:
        return base, ""
    if any(metric.name not in catalog.models for metric in metrics):
        raise Inexpressible(_("Rows of %(base)s would be added several times by this breakdown.") % {"base": base})
    return find_common_referrer(base, far, catalog), base


def _find_dimension_table(dimension: Breakdown, catalog: Catalog) -> str:
    """Return the table of a dimension; "" for the metric's own time."""
    if not dimension.name:
        return ""
    return dimension.name if dimension.name in catalog.models else catalog.dimension(dimension.name)[0].name


def build_group_sql(dimension: Breakdown, source: JoinedTables, conditions: Conditions) -> tuple[str, str]:
    """Return SQL of what a dimension shows, and of the key that tells things with one name apart, or ""."""
    catalog = source.catalog
    if dimension.grain is not None:
        name = dimension.name or conditions.time_of(source)
        time = catalog.dimension(name)[1]
        if time.type != "time":
            raise Inexpressible(_("%(name)s is not a time.") % {"name": name})
        require_supported_grain(time, dimension.grain)
        return _build_grain_sql(source.column(name), dimension.grain), ""
    if dimension.name not in catalog.models:
        return source.column(dimension.name), ""
    model = catalog.model(dimension.name)
    is_called_so = model.primary and model.name_dimension and model.name_dimension.expr == model.primary.expr
    if is_called_so and (own := source.own_key(model.name)):  # lakes by state: keep those without a state
        return own, ""
    key = source.key(model.name) if model.primary else ""
    if model.name_dimension is None:
        if not key:
            raise Inexpressible(_("%(name)s has no key.") % {"name": model.name})
        return key, ""
    shown = source.column(f"{model.name}.{model.name_dimension.name}")
    return shown, key if key != shown else ""


def _align_compared_periods(
    shown: str, dimension: Breakdown, spans: tuple[TimeRange, TimeRange], source: JoinedTables, conditions: Conditions
) -> str:
    """Return the periods of a time under the names of those they are compared with, in order.

    spans: the time, and the one it stands beside. Raises Inexpressible where their numbers of periods differ.
    """
    grain, time = dimension.grain, spans[0]
    if grain is None or grain not in STEPS:
        return shown  # weekdays and hours are the same in all times
    own = conditions.time_of(source)
    fiscal = conditions.catalog.layer.fiscal_year_start
    old, new = (list_period_starts(days_of(span, conditions.today, fiscal), grain) for span in spans)
    if len(old) != len(new) or (dimension.name or own) != (time.field or own):
        raise Inexpressible(_("These times cannot be compared: their periods differ."))
    pairs = (
        f"WHEN {_format_period_label(a, grain)} THEN {_format_period_label(b, grain)}"
        for a, b in zip(old, new, strict=True)
    )
    return f"CASE {shown} {' '.join(pairs)} END"


def _format_period_label(first: date, grain: Grain) -> str:
    """Return the name of the period that begins on this day, as `_build_grain_sql` writes it."""
    match grain:
        case "year":
            return str(first.year)
        case "quarter":
            return f"'{first.year}-Q{(first.month + 2) // 3}'"
        case "month":
            return f"'{first:%Y-%m}'"
    return f"'{first.isoformat()}'"


def _build_grain_sql(column: str, grain: str) -> str:
    if grain == "weekday":
        return f"extract(isodow FROM {column})"
    if grain in ("year", "hour"):
        return f"CAST(extract({grain} FROM {column}) AS integer)"
    return f"to_char(date_trunc('{grain}', {column}), '{_FORMATS[grain]}')"
