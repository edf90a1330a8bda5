"""Describe a logical query in both languages: the number, time, conditions and definitions.

Business words are the layer's; only connecting words are here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from business.logical_query.catalog import Catalog
from business.logical_query.phrases import find_phrases, pluralise
from business.logical_query.query import (
    Breakdown,
    Comparison,
    Filter,
    LogicalQuery,
    Metric,
    Related,
    ResultOrder,
    TimeRange,
)
from business.logical_query.times import Span, count_whole_months, days_of, find_comparison_time
from business.semantic_layer import model as layer
from business.semantic_layer.model import Measure, NamedPart, SemanticModel, Value

_SIGNS = {"=": "=", "!=": "≠", ">": ">", ">=": "≥", "<": "<", "<=": "≤", "in": "=", "not_in": "≠"}
_PERIODS = {1: "{0:%Y-%m}", 3: "{0:%Y}-Q{quarter}", 12: "{0:%Y}"}  # formats by number of months


@dataclass(frozen=True)
class QueryWording:
    """figure: the name of the number, "" for lists. conditions: each in words; window: the first of them, on time,
    without its label. definitions: from the layer. unit: of the single figure asked for; counted: what it counts. by: its
    breakdowns and order. compared: the time asked for and the one it is compared with, if any.

    The rest is for the headline, from `titles`. title: a name for the result, with its scope. thing: what is counted, or
    listed (lists), in singular; scope: its time and conditions. part: a percentage as a sentence with a gap for the number. limit:
    the most places asked for, cut: whether others with the value of the last place are left out. notes: filters of the
    layer, and that a time is not over.
    """

    figure: str = ""
    conditions: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    window: tuple[str, ...] = ()
    unit: str = ""
    counted: str = ""
    by: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    title: str = ""
    thing: str = ""
    lists: bool = False
    scope: tuple[str, ...] = ()
    part: str = ""
    limit: int | None = None
    cut: bool = False
    notes: tuple[str, ...] = ()


def describe_query(query: LogicalQuery, catalog: Catalog, language: str, today: date) -> QueryWording:
    """Describe a query. language: `en`, or one that begins with `zh`. Raises Inexpressible for unknown names."""
    return Wording(catalog, "zh" if language.startswith("zh") else "en", today).meaning(query)


def build_query_sentence(query: LogicalQuery, catalog: Catalog, language: str, today: date) -> str:
    """Return the whole query in one line, for a choice of meanings or the context of a follow-up."""
    key = "zh" if language.startswith("zh") else "en"
    meaning = describe_query(query, catalog, language, today)
    subject = meaning.figure
    if query.rows is not None:
        subject = find_phrases("joints", key)["list"].format(find_label(catalog.model(query.rows.model), key))
    between = "，" if key == "zh" else ", "
    return between.join([subject, *meaning.by, *meaning.conditions])


def find_label(named: NamedPart, language: str) -> str:
    """Return a thing's label in a language; its name where the layer has none."""
    return (named.label.zh if language == "zh" else named.label.en) or named.name.replace("_", " ")


def format_definition(named: NamedPart, language: str) -> str:
    """Return a thing with its definition."""
    return f"{find_label(named, language)}{'：' if language == 'zh' else ': '}{named.description.text(language)}"


def format_inline_definition(named: NamedPart, language: str) -> str:
    """Return a thing with its definition, for use inside a sentence."""
    return format_definition(named, language).rstrip("。.") if named.description.all() else find_label(named, language)


def format_deviation_remark(named: NamedPart, language: str) -> str:
    """Return the remark that something is not counted as the layer defines it."""
    return find_phrases("joints", language)["otherwise"].format(format_inline_definition(named, language))


@dataclass(frozen=True)
class Wording:
    """Words of one language for the parts of a query."""

    catalog: Catalog
    language: str
    today: date

    def meaning(self, query: LogicalQuery) -> QueryWording:
        window = tuple(self._describe_windows(query))
        return QueryWording(
            figure=self._describe_figures(query),
            conditions=(*(f"{self._format_joint('time')}{text}" for text in window), *self._conditions(query)),
            definitions=tuple(dict.fromkeys(self._list_definitions(query))),
            window=window,
            unit=self._find_single_unit(query)[0],
            counted=self._find_single_unit(query)[1],
            by=tuple(self._describe_breakdowns(query)),
            compared=tuple(self._list_compared_times(query)),
        )

    def _list_compared_times(self, query: LogicalQuery) -> list[str]:
        if query.comparison is None or len(query.times) != 1:
            return []
        times = [query.times[0], self._resolve_comparison_time(query, query.comparison)]
        return [self._period(time) or self._describe_window(time) for time in times]

    def _period(self, time: TimeRange) -> str:
        """Return the name of a whole year, quarter or month: 2026, 2026-Q3, 2026-10; "" for other periods."""
        start, end = self._resolve_time_days(time)
        months = count_whole_months(start, end) if start and end else 0
        if not start or not end or months not in _PERIODS or (start.month - 1) % months:
            return ""
        period = _PERIODS[months].format(start, quarter=start.month // 3 + 1)
        return self._format_joint("of", period, self._format_joint("running")) if start <= self.today < end else period

    def _list_definitions(self, query: LogicalQuery) -> list[str]:
        definitions = [
            format_definition(named, self.language)
            for named in self._find_defined_parts(query)
            if named.description.all()
        ]
        missed = [measure for _model, measure in _find_unfiltered_measures(query, self.catalog)]
        return definitions + [format_deviation_remark(measure, self.language) for measure in missed]

    def _format_joint(self, name: str, *parts: object) -> str:
        text = find_phrases("joints", self.language)[name]
        return text.format(*parts) if parts else text

    def _find_defined_parts(self, query: LogicalQuery) -> list[NamedPart]:
        """Return the measures and tables whose definitions are shown with a result."""
        names = [metric.name for metric in query.metrics]
        found: list[NamedPart] = [self.catalog.measures[name][1] for name in names if name in self.catalog.measures]
        found += [self.catalog.models[name] for name in names if name in self.catalog.models]
        return found + ([self.catalog.model(query.rows.model)] if query.rows else [])

    def _describe_figures(self, query: LogicalQuery) -> str:
        if query.rows is not None:
            return ""
        figures = self._format_joint("and").join(self._describe_metric(metric) for metric in query.metrics)
        figures = self._format_joint("share", figures) if query.share else figures
        return self._format_joint("compared", figures) if query.comparison else figures

    def _describe_metric(self, metric: Metric) -> str:
        own = self._describe_leaf_metric(metric)
        return self._format_joint("percent", own, self._describe_leaf_metric(metric.whole)) if metric.filters else own

    def _describe_leaf_metric(self, metric: Metric) -> str:
        if metric.name in self.catalog.measures and metric.agg is None:
            text = find_label(self.catalog.measures[metric.name][1], self.language)
        elif metric.name in self.catalog.models:
            name = find_label(self.catalog.models[metric.name], self.language)
            text = self._format_joint("rows", name if self.language == "zh" else pluralise(name))
        else:
            between = "" if self.language == "zh" else " "
            text = f"{find_phrases('aggregates', self.language).get(metric.agg or '', '')}{between}{self._find_field_label(metric.name)}"
        return self._add_metric_conditions(text, metric)

    def _add_metric_conditions(self, text: str, part: Metric | Related) -> str:
        """Return a metric, or related rows, with their own conditions and time."""
        own = [self._filter(item) for item in part.filters] + ([self._describe_window(part.time)] if part.time else [])
        return self._format_joint("of", text, self._format_joint("and").join(own)) if own else text

    def _find_single_unit(self, query: LogicalQuery) -> tuple[str, str]:
        """Return the unit of the single figure, and what it counts; "" for none."""
        if len(query.metrics) != 1 or query.metrics[0].filters:
            return "", ""
        metric = query.metrics[0]
        if metric.name in self.catalog.measures and metric.agg is None:
            return self.catalog.measures[metric.name][1].unit, ""
        if metric.name in self.catalog.models:
            return "", find_label(self.catalog.models[metric.name], self.language)
        if metric.agg in ("count", "count_distinct"):
            return "", self._find_field_label(metric.name)
        return self.catalog.dimension(metric.name)[1].unit, ""

    def _describe_windows(self, query: LogicalQuery) -> list[str]:
        times = list(query.times)
        if query.comparison is not None:
            times.append(self._resolve_comparison_time(query, query.comparison))
        counted = query.rows.model if query.rows is not None else query.metrics[0].name.partition(".")[0]
        return [self._describe_window(time, counted) for time in times]

    def _resolve_comparison_time(self, query: LogicalQuery, comparison: Comparison) -> TimeRange:
        time = next(iter(query.times), TimeRange(end=self.today))
        if not query.times:
            return time
        return find_comparison_time(time, comparison, self.today, self.catalog.layer.fiscal_year_start)

    def _resolve_time_days(self, time: TimeRange) -> Span:
        return days_of(time, self.today, self.catalog.layer.fiscal_year_start)

    def _describe_window(self, time: TimeRange, counted: str = "") -> str:
        """Return the window in words. counted: the table whose own time needs no name; "" for any table."""
        start, end = self._resolve_time_days(time)
        last = end - timedelta(days=1) if end else None
        text = self._format_joint("to", start or "…", last or self._format_joint("open"))
        if start is not None and last is not None and start <= self.today < last:
            text = self._format_joint("of", text, self._format_joint("running"))
        table, _dot, name = time.field.rpartition(".")
        if not time.field or (name == self._find_default_time(time.field) and counted in ("", table)):
            return text
        return f"{self._find_field_label(time.field)} {text}"

    def _find_default_time(self, field: str) -> str:
        return self.catalog.dimension(field)[0].defaults.agg_time_dimension

    def _conditions(self, query: LogicalQuery) -> list[str]:
        conditions = [self._filter(item) for item in query.filters]
        return conditions + [self._describe_related(item) for item in query.related]

    def _describe_related(self, related: Related) -> str:
        name = find_label(self.catalog.model(related.model), self.language)
        name = name if self.language == "zh" else pluralise(name)
        if related.op is not None:
            return f"{self._add_metric_conditions(self._format_joint('rows', name), related)} {_SIGNS[related.op]} {related.value:g}"
        return self._format_joint("without" if related.is_not else "with", self._add_metric_conditions(name, related))

    def _filter(self, condition: Filter) -> str:
        field = self._find_field_label(condition.field)
        if condition.op in ("is_null", "is_not_null"):
            return self._format_joint("empty" if condition.op == "is_null" else "there", field)
        if condition.op in _SIGNS:
            return f"{field} {_SIGNS[condition.op]} {', '.join(self._value(condition, value) for value in condition.values)}"
        return self._format_joint(condition.op, field, condition.values[0])

    def _value(self, condition: Filter, value: str | float | bool) -> str:
        names = {item.value: item.text(self.language) for item in self.catalog.dimension(condition.field)[1].values}
        return names.get(str(value), f"{value:g}" if isinstance(value, float) else str(value))

    def _describe_breakdowns(self, query: LogicalQuery) -> list[str]:
        """Return the breakdowns in words, with order and limit."""
        text = (
            [
                self._format_joint(
                    "by", self._format_joint("and").join(self._dimension(item) for item in query.dimensions)
                )
            ]
            if query.dimensions
            else []
        )
        return text + (self._describe_ranking(query.ranking) if query.ranking else [])

    def _describe_ranking(self, ranking: ResultOrder) -> list[str]:
        if ranking.limit is None:
            return []
        text = self._format_joint("first" if ranking.descending else "last", ranking.limit)
        if ranking.by and not ranking.by.isdecimal() and ranking.by in self.catalog.dimensions:
            between = "" if self.language == "zh" else " "
            text = f"{text}{'，' if self.language == 'zh' else ','}{between}{self._format_joint('by', self._find_field_label(ranking.by))}"
        return [text]

    def _dimension(self, dimension: Breakdown) -> str:
        if dimension.grain is not None:
            grain = find_phrases("grains", self.language).get(dimension.grain, dimension.grain)
            return self._format_joint("of", grain, self._find_field_label(dimension.name)) if dimension.name else grain
        if dimension.name in self.catalog.models:
            return find_label(self.catalog.models[dimension.name], self.language)
        return self._find_field_label(dimension.name)

    def _find_field_label(self, name: str) -> str:
        return find_label(self.catalog.dimension(name)[1], self.language)


def _find_unfiltered_measures(query: LogicalQuery, catalog: Catalog) -> list[tuple[SemanticModel, Measure]]:
    """Return the measures with the same aggregate as a figure that lacks their filter."""
    found = [entry for metric in query.metrics for entry in _find_similar_measures(metric, query.filters, catalog)]
    return list({(model.name, measure.name): (model, measure) for model, measure in found}.values())


def _find_similar_measures(
    metric: Metric, filters: tuple[Filter, ...], catalog: Catalog
) -> Iterator[tuple[SemanticModel, Measure]]:
    if metric.agg is None or metric.name not in catalog.dimensions:
        return
    model, dimension = catalog.dimensions[metric.name]
    alike = [item for item in model.measures if (item.agg, item.expr) == (metric.agg, dimension.expr)]
    held = _find_filtered_columns((*filters, *metric.filters), model, catalog)
    if any(set(item.filter) <= held for item in alike):
        return
    for measure in alike:
        yield model, measure


def _find_filtered_columns(filters: tuple[Filter, ...], model: SemanticModel, catalog: Catalog) -> set[str]:
    """Return the filtered columns of a table, whose values are stated with the result."""
    found = [catalog.dimensions.get(condition.field) for condition in filters]
    return {dimension.expr for item in found if item for owner, dimension in (item,) if owner.name == model.name}


MAX_NAMED = 8  # most values listed in a sentence


def build_unknown_value_message(dimension: layer.Dimension, text: str) -> str:
    """Return the sentence “There is no region East; there are …”."""
    language = get_language() or "en"
    called = [] if dimension.is_name else [_format_value_name(value, language) for value in dimension.values]
    named = ", ".join(called[:MAX_NAMED]) + (", …" if len(called) > MAX_NAMED else "")
    column = dimension.label.text(language) or dimension.name
    values = {"column": column, "value": text, "values": named}
    if named:
        return _("There is no %(column)s “%(value)s”; there are %(values)s.") % values
    return _("There is no %(column)s “%(value)s”.") % values


def _format_value_name(value: Value, language: str) -> str:
    """Return a value's name for people, and its stored form."""
    label = value.text(language)
    return label if label == value.value else f"{label} ({value.value})"
