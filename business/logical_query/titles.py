"""Write what a headline says of a query besides its numbers: a name for the result, its time, conditions and filters."""

from calendar import month_name
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from business.logical_query.catalog import Catalog
from business.logical_query.comparisons import build_fixed_filter_sql
from business.logical_query.phrases import find_measure_word, find_phrases, pluralise
from business.logical_query.query import (
    Breakdown,
    Filter,
    LogicalQuery,
    Metric,
    ResultOrder,
    Rows,
    TimeRange,
    is_single_percentage,
)
from business.logical_query.times import count_whole_months
from business.logical_query.wording import QueryWording, Wording, find_label
from business.semantic_layer.model import SemanticModel

_EXTREMES = {  # (is a count, is descending)
    "en": {(True, True): "most", (True, False): "fewest", (False, True): "highest", (False, False): "lowest"},
    "zh": {(True, True): "最多", (True, False): "最少", (False, True): "最高", (False, False): "最低"},
}


def describe_with_title(
    query: LogicalQuery, catalog: Catalog, language: str, today: date, *, sql: str, now: date | None = None
) -> QueryWording:
    """Describe a query as `describe` does, with a title and a scope. sql: its statement, which shows the layer's filters.

    now: the day on which it runs, where that is not the day for which it was compiled.
    """
    titles = _Titles(catalog, "zh" if language.startswith("zh") else "en", today, now or today)
    return titles.of(query, sql)


def format_days(start: date | None, end: date | None, language: str) -> str:
    """Return a span of days for people: 2026, Q3 2026, October 2026, since 2024, or its first and last day. end: excluded."""
    words, is_chinese = find_phrases("titles", language), language == "zh"
    last = end - timedelta(days=1) if end else None
    if start is None or last is None:
        first = start or last
        year = (
            f"{first:%Y}{' 年' if is_chinese else ''}"
            if first and start and (start.month, start.day) == (1, 1)
            else first
        )
        return words["since" if start else "until"].format(year) if first else ""
    months = count_whole_months(start, last + timedelta(days=1))
    if months == 1:
        return f"{start.year} 年 {start.month} 月" if is_chinese else f"{month_name[start.month]} {start.year}"
    if months == 3 and start.month % 3 == 1:  # a quarter
        number = start.month // 3 + 1
        return f"{start.year} 年第 {number} 季度" if is_chinese else f"Q{number} {start.year}"
    if months and start.month == 1 and last.month == 12:
        years = str(start.year) if months == 12 else words["to"].format(start.year, last.year)
        return f"{years} 年" if is_chinese else years
    return str(start) if start == last else words["to"].format(start, last)


@dataclass(frozen=True)
class _Titles(Wording):
    now: date

    def of(self, query: LogicalQuery, sql: str) -> QueryWording:
        ranking = query.ranking
        limit = ranking.limit if ranking is not None else None
        return replace(
            self.meaning(query),
            title=self._build_title(query),
            thing=self._name_counted_thing(query),
            lists=query.rows is not None,
            scope=tuple(self._describe_scope(query)),
            part=self._build_percentage_sentence(query),
            limit=limit,
            cut=bool(limit and ranking and (not ranking.ties or (query.rows is not None and not ranking.by))),
            notes=(*self._describe_running_times(query), *dict.fromkeys(self._describe_layer_filters(query, sql))),
        )

    def _format_phrase(self, name: str, *parts: object) -> str:
        return find_phrases("titles", self.language)[name].format(*parts)

    def _join_phrases(self, parts: list[str], joint: str = "and") -> str:
        """Return the parts in one phrase: a, b and c."""
        comma = "、" if self.language == "zh" else ", "
        last = find_phrases("titles", self.language)[joint]
        return last.join([comma.join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)

    def _pluralise(self, thing: str) -> str:
        return thing if self.language == "zh" else pluralise(thing)

    def _find_table_label(self, name: str) -> str:
        return find_label(self.catalog.model(name), self.language)

    # --- the title ---

    def _build_title(self, query: LogicalQuery) -> str:
        subject = (
            self._join_phrases([self._name_metric_subject(item) for item in query.metrics]) if query.metrics else ""
        )
        if query.rows is not None:
            subject = self._build_list_title(query)
        elif query.dimensions:
            subject = self._add_breakdown(query, subject)
        times = [] if query.comparison else self._list_times(query)
        conditions = self._list_short_conditions(query)
        if self.language == "zh":
            subject = f"{self._join_phrases(times)}{subject}"
        subject = (
            self._format_phrase("of", subject, self._format_phrase("also").join(conditions)) if conditions else subject
        )
        if times and self.language == "en":
            is_open = times[0].startswith(("since", "until"))
            subject = (
                f"{subject} {self._join_phrases(times)}"
                if is_open
                else self._format_phrase("in", subject, self._join_phrases(times))
            )
        return subject[:1].upper() + subject[1:]

    def _name_metric_subject(self, metric: Metric) -> str:
        """Return a metric as a title names it: customers, revenue, 客户数量."""
        if metric.filters:
            return self._format_joint("percent", self._subject_of_part(metric), self._name_metric_subject(metric.whole))
        if metric.name not in self.catalog.models:
            return self._describe_leaf_metric(metric)
        name = self._find_table_label(metric.name)
        return self._format_joint("rows", name) if self.language == "zh" else pluralise(name)

    def _subject_of_part(self, metric: Metric) -> str:
        if metric.name not in self.catalog.models:
            return self._describe_leaf_metric(metric)
        own = self._format_phrase("also").join(self._shorten_condition(item, metric.name) for item in metric.filters)
        return self._format_phrase("of", self._name_metric_subject(metric.whole), own)

    def _add_breakdown(self, query: LogicalQuery, text: str) -> str:
        ranking = query.ranking
        if ranking is not None and ranking.limit and ranking.by in ("", "0") and len(query.metrics) == 1:
            text = self._build_ranking_title(query, ranking)
        else:
            by = self._join_phrases([self._name_breakdown(item) for item in query.dimensions])
            text = self._format_phrase("by", text, by)
            if ranking is not None and ranking.limit:
                text = self._format_phrase("in", text, self._join_phrases(self._describe_ranking(ranking)))
        return self._format_phrase("shares", text) if query.share else text

    def _build_ranking_title(self, query: LogicalQuery, ranking: ResultOrder) -> str:
        """Return a ranking's title: 5 customers with the highest revenue."""
        metric = query.metrics[0]
        things = [self._name_ranked_dimension(item) for item in query.dimensions]
        is_count = not metric.filters and metric.name in self.catalog.models
        extreme = _EXTREMES[self.language][is_count, ranking.descending]
        figure = (
            self._find_table_label(metric.name)
            if is_count and self.language == "zh"
            else self._name_metric_subject(metric)
        )
        few = ranking.limit == 1
        things = [things[0] if few or self.language == "zh" else pluralise(things[0]), *things[1:]]
        return self._format_phrase(
            "top" if few else "tops",
            ranking.limit,
            self._join_phrases(things),
            figure,
            extreme,
            find_measure_word(things[0]),
        )

    def _name_ranked_dimension(self, dimension: Breakdown) -> str:
        if dimension.grain and self.language == "zh":
            return find_phrases("places", "zh")[dimension.grain]
        return self._dimension(dimension)

    def _name_breakdown(self, dimension: Breakdown) -> str:
        """Return a breakdown: month; 每月, 各地区."""
        if self.language == "en":
            return self._dimension(dimension)
        if dimension.grain is None:
            return f"各{self._dimension(dimension)}"
        each = find_phrases("each", "zh")[dimension.grain]
        return f"按{self._find_field_label(dimension.name)}{each}" if dimension.name else each

    def _build_list_title(self, query: LogicalQuery) -> str:
        rows, ranking = query.rows, query.ranking
        assert rows is not None
        things = self._pluralise(self._name_counted_thing(query)) or self._pluralise(self._find_table_label(rows.model))
        if ranking is not None and ranking.limit and ranking.by:
            extreme = _EXTREMES[self.language][False, ranking.descending]
            if self.catalog.dimension(ranking.by)[1].type == "time":
                extreme = {"en": ("latest", "earliest"), "zh": ("最近", "最早")}[self.language][not ranking.descending]
            few = ranking.limit == 1
            thing = self._name_counted_thing(query) or self._find_table_label(rows.model)
            name = thing if few else things
            return self._format_phrase(
                "top" if few else "tops",
                ranking.limit,
                name,
                self._find_field_label(ranking.by),
                extreme,
                find_measure_word(thing),
            )
        columns = [self._find_field_label(name) for name in rows.columns if name not in self.catalog.models]
        if rows.columns and not self._name_counted_thing(query) and columns:
            return f"{things}{'：' if self.language == 'zh' else ': '}{self._join_phrases(columns)}"
        return things

    # --- what is counted or listed ---

    def _name_counted_thing(self, query: LogicalQuery) -> str:
        """Return what the number, or the list, is of; "" where the rows are no things."""
        if query.rows is not None:
            return self._name_listed_thing(query, query.rows)
        metric = query.metrics[0]
        if len(query.metrics) > 1 or query.dimensions or metric.filters:
            return ""
        if metric.agg == "count_distinct":
            return self._format_phrase("different", self._find_field_label(metric.name))
        return self._find_table_label(metric.name) if metric.name in self.catalog.models else ""

    def _name_listed_thing(self, query: LogicalQuery, rows: Rows) -> str:
        is_own = not rows.columns or (not rows.distinct and self._shows_key_or_name(query))
        if is_own:
            return self._find_table_label(rows.model)
        return self._dimension(Breakdown(name=rows.columns[0])) if len(rows.columns) == 1 else ""

    def _shows_key_or_name(self, query: LogicalQuery) -> bool:
        """Return whether a list shows its things by key or name, so that a row is one thing."""
        assert query.rows is not None
        model = self.catalog.model(query.rows.model)
        keys = {model.primary.expr} if model.primary else set()
        own = [self.catalog.dimension(name) for name in query.rows.columns if name not in self.catalog.models]
        return any(owner is model and (item.is_name or item.expr in keys) for owner, item in own)

    def _describe_scope(self, query: LogicalQuery) -> Iterator[str]:
        """Yield the time, with what it is of, and the conditions of what is counted or listed."""
        base = query.rows.model if query.rows is not None else query.metrics[0].name
        own = () if query.rows is not None else query.metrics
        for time in query.times:
            model = self.catalog.models.get(base)
            name = time.field or (
                f"{base}.{model.defaults.agg_time_dimension}" if model and model.defaults.agg_time_dimension else ""
            )
            days = self._format_time_days(time)
            yield self._add_time_field(name, days) if name in self.catalog.dimensions else days
        yield from (self._shorten_condition(entry, base) for metric in own for entry in metric.filters)
        yield from self._list_short_conditions(query)

    def _build_percentage_sentence(self, query: LogicalQuery) -> str:
        """Return a single percentage as a sentence with gaps: “{0} of orders are cancelled ({1} of {2})”; "" for other figures."""
        if not is_single_percentage(query) or query.metrics[0].name not in self.catalog.models:
            return ""
        metric, whole, more = query.metrics[0], query.metrics[0].whole, query.metrics[0].filters
        things = self._name_metric_subject(whole) if self.language == "en" else self._find_table_label(whole.name)
        part = self._format_phrase(
            "fit", things, self._format_phrase("also").join(self._shorten_condition(item, metric.name) for item in more)
        )
        if len(more) == 1 and (value := self._format_value_alone(more[0], metric.name)):
            field = self._find_field_label(more[0].field)
            is_state = (
                field.lower().endswith(("status", "state", "状态"))
                or self.catalog.dimension(more[0].field)[1].type == "boolean"
            )
            part = self._format_phrase("are" if is_state else "have", things, value, field)
        part = self._format_phrase("numbers", part, find_measure_word(things))
        conditions, times = self._list_short_conditions(query), self._join_phrases(self._list_times(query))
        part = self._format_phrase("of", part, self._format_phrase("also").join(conditions)) if conditions else part
        return self._format_phrase("in", part, f"{times}，" if self.language == "zh" else times) if times else part

    # --- times, conditions, filters ---

    def _list_times(self, query: LogicalQuery) -> list[str]:
        return [self._format_time_with_field(time) for time in query.times]

    def _format_time_with_field(self, time: TimeRange) -> str:
        """Return a time in words, with its field where it is not the default one."""
        days = self._format_time_days(time)
        if not time.field or time.field.rpartition(".")[2] == self._find_default_time(time.field):
            return days
        return self._add_time_field(time.field, days)

    def _add_time_field(self, field: str, days: str) -> str:
        """Return a time with its field: hire date: 2025; created since 2024."""
        is_open = days.startswith(("since", "until"))
        return (
            f"{self._find_field_label(field)} {days}"
            if is_open
            else self._format_phrase("timed", self._find_field_label(field), days)
        )

    def _period(self, time: TimeRange) -> str:
        """Return a compared time in words, and whether it is not over."""
        start, end = self._resolve_time_days(time)
        period = self._format_time_with_field(time)
        is_running = start and end and start <= self.now < end
        return self._format_joint("of", period, self._format_joint("running")) if is_running else period

    def _format_time_days(self, time: TimeRange) -> str:
        return format_days(*self._resolve_time_days(time), self.language)

    def _describe_running_times(self, query: LogicalQuery) -> Iterator[str]:
        """Yield the periods that have not ended; names of compared periods say it already."""
        if query.comparison is not None and len(query.times) == 1:
            return
        for time in query.times:
            start, end = self._resolve_time_days(time)
            if start and end and start <= self.now < end - timedelta(days=1):
                yield self._format_phrase("running", self._format_time_days(time))

    def _list_short_conditions(self, query: LogicalQuery) -> list[str]:
        base = query.rows.model if query.rows is not None else query.metrics[0].name.partition(".")[0]
        conditions = [self._shorten_condition(item, base) for item in query.filters]
        return conditions + self._conditions(query.model_copy(update={"filters": ()}))

    def _shorten_condition(self, condition: Filter, base: str) -> str:
        """Return a condition: its value alone where that names one column only, else as `_filter` does."""
        return self._format_value_alone(condition, base) or self._filter(condition)

    def _format_value_alone(self, condition: Filter, base: str) -> str:
        if condition.op not in ("in", "=", "not_in", "!="):
            return ""
        model, dimension = self.catalog.dimension(condition.field)
        is_not = condition.op in ("not_in", "!=")
        if dimension.type == "boolean" and len(condition.values) == 1:
            is_so = str(condition.values[0]).lower() == "true"
            return (
                self._find_field_label(condition.field)
                if is_so is not is_not
                else self._format_phrase("not", self._find_field_label(condition.field))
            )
        values = [self._value(condition, value) for value in condition.values]
        if not all(self._is_unique(value, model, base) for value in values):
            return ""
        listed = self._join_phrases(values, "or")
        return self._format_phrase("not", listed) if is_not else listed

    def _is_unique(self, value: str, model: SemanticModel, base: str) -> bool:
        """Return whether a word is the name of a value of exactly one column, of the counted table or else of all tables."""
        models = [model] if model.name == base else self.catalog.layer.semantic_models
        found = [
            entry
            for owner in models
            for d in owner.dimensions
            for entry in d.values
            if entry.text(self.language) == value
        ]
        return len(found) == 1

    def _describe_layer_filters(self, query: LogicalQuery, sql: str) -> Iterator[str]:
        """Yield the layer's own filters that the statement has: of its measures, and default filters of tables."""
        for leaf in query.metrics:
            if leaf.agg is None and leaf.name in self.catalog.measures:
                model, measure = self.catalog.measures[leaf.name]
                yield from (
                    self._format_layer_filter(model, column, values) for column, values in measure.filter.items()
                )
        for model in self.catalog.models.values():
            for column, values in model.default_filter.items():
                if build_fixed_filter_sql({column: values}, "t").removeprefix("t.") in sql:
                    yield self._format_layer_filter(model, column, values)

    def _format_layer_filter(self, model: SemanticModel, column: str, values: tuple[str, ...]) -> str:
        found = next((item for item in model.dimensions if item.expr.strip('"') == column), None)
        names = {item.value: item.text(self.language) for item in found.values} if found else {}
        listed = self._join_phrases([names.get(value, value) for value in values], "or")
        return self._format_phrase("filter", find_label(found, self.language) if found else column, listed)
