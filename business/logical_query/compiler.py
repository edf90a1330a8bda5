"""Compile a logical query to one SELECT: deterministic, by the layer's definitions, never counting a row twice.

Metrics of one table under one set of conditions share a SELECT (a block); blocks are joined by their dimensions, and
percentages, changes and shares are computed over them. Org units and limits are added by the guard.
"""

from dataclasses import dataclass
from datetime import date

from django.utils.translation import gettext as _

from business.guard.rewrite import quote_identifier
from business.logical_query.blocks import QueryBlock, blocks_of
from business.logical_query.catalog import Catalog
from business.logical_query.listing import build_listing_sql, build_order_and_limit
from business.logical_query.query import (
    Comparison,
    Inexpressible,
    LogicalQuery,
    Metric,
    ResultOrder,
    TimeRange,
    is_single_percentage,
    name_dimension_column,
    name_metric_columns,
)
from business.logical_query.times import find_comparison_time


def compile_query(query: LogicalQuery, catalog: Catalog, today: date) -> str:
    """Return the statement. today: the company's day. Raises Inexpressible."""
    if query.rows is not None:
        return build_listing_sql(query, catalog, today)
    _require_countable_groups(query, catalog)
    return _Statement(query, catalog, today).text()


def _require_countable_groups(query: LogicalQuery, catalog: Catalog) -> None:
    """Raise Inexpressible for a count of things by each of the same things: it is always one."""
    grouped = {item.name for item in query.dimensions if item.name in catalog.models}
    counted = [m for m in query.metrics if not m.filters and m.name in grouped and m.name in catalog.models]
    if counted and len(query.metrics) == len(counted):
        raise Inexpressible(_("Each %(name)s is one: name what to count.") % {"name": counted[0].name})


@dataclass(frozen=True)
class _Column:
    """A shown column of a metric: an expression over the blocks' columns, and its name."""

    sql: str
    name: str


@dataclass(frozen=True)
class _Statement:
    query: LogicalQuery
    catalog: Catalog
    today: date

    def text(self) -> str:
        leaves = self._collect_leaf_metrics()
        blocks, places = blocks_of(self.query, leaves, self.catalog, self.today)
        columns = self._build_metric_columns(places)
        is_plain = len(blocks) == 1 and not (self.query.share or self.query.comparison)
        if is_plain and all(column.sql.isidentifier() for column in columns):
            return self._build_plain_select(blocks[0], [quote_identifier(column.name) for column in columns])
        return self._build_outer_select(blocks, columns)

    def _collect_leaf_metrics(self) -> dict[Metric, TimeRange | None]:
        """Return the distinct metrics, with the wholes of percentages; with a comparison, each again in the other time, with
        the time it is compared with.
        """
        metrics, comparison = self.query.metrics, self.query.comparison
        found: dict[Metric, TimeRange | None] = {leaf: None for metric in metrics for leaf in (metric, metric.whole)}
        if comparison is not None:
            found |= {
                self._move_metric_before(leaf, comparison): next(iter(self.query.times), None) for leaf in list(found)
            }
        return found

    def _move_metric_before(self, metric: Metric, comparison: Comparison) -> Metric:
        if not self.query.times:
            raise Inexpressible(_("A comparison needs a time with a beginning and an end."))
        before = find_comparison_time(self.query.times[0], comparison, self.today, self.catalog.layer.fiscal_year_start)
        return metric.model_copy(update={"time": before})

    def _build_metric_columns(self, places: dict[Metric, str]) -> list[_Column]:
        """Return the shown columns of metrics: in a comparison now, before, the difference and it in percent."""
        names = name_metric_columns(self.query)
        now = [self._build_metric_expression(metric, places) for metric in self.query.metrics]
        if is_single_percentage(self.query):
            now += [places[leaf] for leaf in (self.query.metrics[0], self.query.metrics[0].whole)]
        comparison = self.query.comparison
        if comparison is None:
            return [_Column(sql, name) for sql, name in zip(now, names, strict=True)]
        shown = []
        for place, metric in enumerate(self.query.metrics):
            current, previous = (
                now[place],
                self._build_metric_expression(self._move_metric_before(metric, comparison), places),
            )
            own = names[4 * place : 4 * place + 4]
            change = f"{current} - {previous}"
            percent = f"round(CAST(100.0 * ({change}) / nullif({previous}, 0) AS numeric), 2)"
            shown += [_Column(s, n) for s, n in zip((current, previous, change, percent), own, strict=True)]
        return shown

    def _build_metric_expression(self, metric: Metric, places: dict[Metric, str]) -> str:
        own = places[metric]
        return (
            f"round(100.0 * CAST({own} AS numeric) / nullif({places[metric.whole]}, 0), 2)" if metric.filters else own
        )

    def _build_plain_select(self, block: QueryBlock, names: list[str]) -> str:
        """Return a plain SELECT, as a person would write it."""
        text = block.select(names)
        return text + self._build_order_by(list(block.shown), names) if self.query.dimensions else text

    def _build_outer_select(self, blocks: list[QueryBlock], columns: list[_Column]) -> str:
        query = self.query
        keys = [quote_identifier(name_dimension_column(item)) for item in query.dimensions]
        inner = self._join_blocks(blocks, keys)
        shown = [*keys, *(f"{column.sql} AS {quote_identifier(column.name)}" for column in columns)]
        if query.share:
            part = columns[0].sql
            percent = f"round(CAST(100.0 * {part} / nullif(sum({part}) OVER (), 0) AS numeric), 2)"
            shown.append(f"{percent} AS {quote_identifier('share')}")
        text = f"SELECT {', '.join(shown)} FROM ({inner}) AS {quote_identifier('parts')}"
        return text + (
            self._build_order_by(keys, [quote_identifier(column.name) for column in columns]) if keys else ""
        )

    def _join_blocks(self, blocks: list[QueryBlock], keys: list[str]) -> str:
        """Return the blocks joined by their dimensions, one row without any; missing values are zero or NULL."""
        if not keys:
            columns = [f"({block.one(place)}) AS {name}" for block in blocks for place, name in enumerate(block.names)]
            return f"SELECT {', '.join(columns)}"
        if len(blocks) == 1:
            return blocks[0].select(blocks[0].names, keys)
        hidden = [f"k{n}" for n in range(len(blocks[0].hidden))]
        rows = []
        for place, block in enumerate(blocks):
            figures = [
                name if block is other else f"CAST(NULL AS numeric) AS {name}"
                for other in blocks
                for name in other.names
            ]
            inner = block.select(block.names, keys, hidden)
            rows.append(
                f"SELECT {', '.join([*keys, *hidden, *figures])} FROM ({inner}) AS {quote_identifier(f's{place}')}"
            )
        made = [
            f"coalesce(max({name}), 0) AS {name}" if block.counts[n] else f"max({name}) AS {name}"
            for block in blocks
            for n, name in enumerate(block.names)
        ]
        by = ", ".join([*keys, *hidden])
        return f"SELECT {', '.join([*keys, *made])} FROM ({' UNION ALL '.join(rows)}) AS {quote_identifier('merged')} GROUP BY {by}"

    def _build_order_by(self, keys: list[str], names: list[str]) -> str:
        """Return ORDER BY, with columns by position."""
        ranking = self.query.ranking
        if ranking is None and any(item.grain for item in self.query.dimensions):
            return " ORDER BY 1"
        ranking = ranking or ResultOrder()
        by = self._find_ranking_position(ranking, keys, names)
        rest = "".join(f", {n}" for n in range(1, len(keys) + 1) if str(n) != by)
        return build_order_and_limit(ranking, by, rest)

    def _find_ranking_position(self, ranking: ResultOrder, keys: list[str], names: list[str]) -> str:
        """Return the position of the ranking column."""
        if ranking.by and not ranking.by.isdecimal():
            for place, dimension in enumerate(self.query.dimensions, 1):
                if ranking.by in (dimension.name, name_dimension_column(dimension)):
                    return str(place)
            if ranking.by == "share" and self.query.share:
                return str(len(keys) + len(names) + 1)
            for place, metric in enumerate(self.query.metrics):
                if ranking.by == metric.name:
                    return str(len(keys) + 1 + place * (4 if self.query.comparison else 1))
            raise Inexpressible(_("%(name)s is not among what is shown.") % {"name": ranking.by})
        place = int(ranking.by or 0)
        if place >= len(names):
            raise Inexpressible(_("%(name)s is not among what is shown.") % {"name": ranking.by})
        return str(len(keys) + 1 + place * (4 if self.query.comparison else 1))
