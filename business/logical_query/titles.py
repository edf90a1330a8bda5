"""Write what a headline says of a query besides its numbers: a name for the result, its time, conditions and filters."""

from calendar import month_name
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from business.logical_query.catalog import Catalog
from business.logical_query.comparisons import fixed_sql
from business.logical_query.phrases import measure_word, phrases, plural
from business.logical_query.query import (
    Dimension,
    Filter,
    LogicalQuery,
    Metric,
    Ranking,
    Rows,
    TimeRange,
    is_single_percentage,
)
from business.logical_query.times import whole_months
from business.logical_query.wording import Meaning, Wording, label
from business.semantic_layer.model import SemanticModel

_EXTREMES = {  # (is a count, is descending)
    "en": {(True, True): "most", (True, False): "fewest", (False, True): "highest", (False, False): "lowest"},
    "zh": {(True, True): "最多", (True, False): "最少", (False, True): "最高", (False, False): "最低"},
}


def titled(
    query: LogicalQuery, catalog: Catalog, language: str, today: date, *, sql: str, now: date | None = None
) -> Meaning:
    """Describe a query as `describe` does, with a title and a scope. sql: its statement, which shows the layer's filters.

    now: the day on which it runs, where that is not the day for which it was compiled.
    """
    titles = _Titles(catalog, "zh" if language.startswith("zh") else "en", today, now or today)
    return titles.of(query, sql)


def days_in_words(start: date | None, end: date | None, language: str) -> str:
    """Return a span of days for people: 2026, Q3 2026, October 2026, since 2024, or its first and last day. end: excluded."""
    words, is_chinese = phrases("titles", language), language == "zh"
    last = end - timedelta(days=1) if end else None
    if start is None or last is None:
        first = start or last
        year = (
            f"{first:%Y}{' 年' if is_chinese else ''}"
            if first and start and (start.month, start.day) == (1, 1)
            else first
        )
        return words["since" if start else "until"].format(year) if first else ""
    months = whole_months(start, last + timedelta(days=1))
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

    def of(self, query: LogicalQuery, sql: str) -> Meaning:
        ranking = query.ranking
        limit = ranking.limit if ranking is not None else None
        return replace(
            self.meaning(query),
            title=self._title(query),
            thing=self._thing(query),
            lists=query.rows is not None,
            scope=tuple(self._scope(query)),
            part=self._part(query),
            limit=limit,
            cut=bool(limit and ranking and (not ranking.ties or (query.rows is not None and not ranking.by))),
            notes=(*self._running(query), *dict.fromkeys(self._filter_texts(query, sql))),
        )

    def _word(self, name: str, *parts: object) -> str:
        return phrases("titles", self.language)[name].format(*parts)

    def _listed(self, parts: list[str], joint: str = "and") -> str:
        """Return the parts in one phrase: a, b and c."""
        comma = "、" if self.language == "zh" else ", "
        last = phrases("titles", self.language)[joint]
        return last.join([comma.join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)

    def _plural(self, thing: str) -> str:
        return thing if self.language == "zh" else plural(thing)

    def _model_label(self, name: str) -> str:
        return label(self.catalog.model(name), self.language)

    # --- the title ---

    def _title(self, query: LogicalQuery) -> str:
        subject = self._listed([self._subject(item) for item in query.metrics]) if query.metrics else ""
        if query.rows is not None:
            subject = self._list_title(query)
        elif query.dimensions:
            subject = self._broken_down(query, subject)
        times = [] if query.comparison else self._times(query)
        conditions = self._short_conditions(query)
        if self.language == "zh":
            subject = f"{self._listed(times)}{subject}"
        subject = self._word("of", subject, self._word("also").join(conditions)) if conditions else subject
        if times and self.language == "en":
            is_open = times[0].startswith(("since", "until"))
            subject = f"{subject} {self._listed(times)}" if is_open else self._word("in", subject, self._listed(times))
        return subject[:1].upper() + subject[1:]

    def _subject(self, metric: Metric) -> str:
        """Return a metric as a title names it: customers, revenue, 客户数量."""
        if metric.filters:
            return self._joint("percent", self._subject_of_part(metric), self._subject(metric.whole))
        if metric.name not in self.catalog.models:
            return self._leaf(metric)
        name = self._model_label(metric.name)
        return self._joint("rows", name) if self.language == "zh" else plural(name)

    def _subject_of_part(self, metric: Metric) -> str:
        if metric.name not in self.catalog.models:
            return self._leaf(metric)
        own = self._word("also").join(self._short(item, metric.name) for item in metric.filters)
        return self._word("of", self._subject(metric.whole), own)

    def _broken_down(self, query: LogicalQuery, text: str) -> str:
        ranking = query.ranking
        if ranking is not None and ranking.limit and ranking.by in ("", "0") and len(query.metrics) == 1:
            text = self._extreme(query, ranking)
        else:
            by = self._listed([self._per_value(item) for item in query.dimensions])
            text = self._word("by", text, by)
            if ranking is not None and ranking.limit:
                text = self._word("in", text, self._listed(self._ranking(ranking)))
        return self._word("shares", text) if query.share else text

    def _extreme(self, query: LogicalQuery, ranking: Ranking) -> str:
        """Return a ranking's title: 5 customers with the highest revenue."""
        metric = query.metrics[0]
        things = [self._ranked(item) for item in query.dimensions]
        is_count = not metric.filters and metric.name in self.catalog.models
        extreme = _EXTREMES[self.language][is_count, ranking.descending]
        figure = self._model_label(metric.name) if is_count and self.language == "zh" else self._subject(metric)
        few = ranking.limit == 1
        things = [things[0] if few or self.language == "zh" else plural(things[0]), *things[1:]]
        return self._word(
            "top" if few else "tops", ranking.limit, self._listed(things), figure, extreme, measure_word(things[0])
        )

    def _ranked(self, dimension: Dimension) -> str:
        if dimension.grain and self.language == "zh":
            return phrases("places", "zh")[dimension.grain]
        return self._dimension(dimension)

    def _per_value(self, dimension: Dimension) -> str:
        """Return a breakdown: month; 每月, 各地区."""
        if self.language == "en":
            return self._dimension(dimension)
        if dimension.grain is None:
            return f"各{self._dimension(dimension)}"
        each = phrases("each", "zh")[dimension.grain]
        return f"按{self._field(dimension.name)}{each}" if dimension.name else each

    def _list_title(self, query: LogicalQuery) -> str:
        rows, ranking = query.rows, query.ranking
        assert rows is not None
        things = self._plural(self._thing(query)) or self._plural(self._model_label(rows.model))
        if ranking is not None and ranking.limit and ranking.by:
            extreme = _EXTREMES[self.language][False, ranking.descending]
            if self.catalog.dimension(ranking.by)[1].type == "time":
                extreme = {"en": ("latest", "earliest"), "zh": ("最近", "最早")}[self.language][not ranking.descending]
            few = ranking.limit == 1
            thing = self._thing(query) or self._model_label(rows.model)
            name = thing if few else things
            return self._word(
                "top" if few else "tops", ranking.limit, name, self._field(ranking.by), extreme, measure_word(thing)
            )
        columns = [self._field(name) for name in rows.columns if name not in self.catalog.models]
        if rows.columns and not self._thing(query) and columns:
            return f"{things}{'：' if self.language == 'zh' else ': '}{self._listed(columns)}"
        return things

    # --- what is counted or listed ---

    def _thing(self, query: LogicalQuery) -> str:
        """Return what the number, or the list, is of; "" where the rows are no things."""
        if query.rows is not None:
            return self._listed_thing(query, query.rows)
        metric = query.metrics[0]
        if len(query.metrics) > 1 or query.dimensions or metric.filters:
            return ""
        if metric.agg == "count_distinct":
            return self._word("different", self._field(metric.name))
        return self._model_label(metric.name) if metric.name in self.catalog.models else ""

    def _listed_thing(self, query: LogicalQuery, rows: Rows) -> str:
        is_own = not rows.columns or (not rows.distinct and self._names(query))
        if is_own:
            return self._model_label(rows.model)
        return self._dimension(Dimension(name=rows.columns[0])) if len(rows.columns) == 1 else ""

    def _names(self, query: LogicalQuery) -> bool:
        """Return whether a list shows its things by key or name, so that a row is one thing."""
        assert query.rows is not None
        model = self.catalog.model(query.rows.model)
        keys = {model.primary.expr} if model.primary else set()
        own = [self.catalog.dimension(name) for name in query.rows.columns if name not in self.catalog.models]
        return any(owner is model and (item.is_name or item.expr in keys) for owner, item in own)

    def _scope(self, query: LogicalQuery) -> Iterator[str]:
        """Yield the time, with what it is of, and the conditions of what is counted or listed."""
        base = query.rows.model if query.rows is not None else query.metrics[0].name
        own = () if query.rows is not None else query.metrics
        for time in query.times:
            model = self.catalog.models.get(base)
            name = time.field or (
                f"{base}.{model.defaults.agg_time_dimension}" if model and model.defaults.agg_time_dimension else ""
            )
            days = self._days_in_words(time)
            yield self._timed(name, days) if name in self.catalog.dimensions else days
        yield from (self._short(entry, base) for metric in own for entry in metric.filters)
        yield from self._short_conditions(query)

    def _part(self, query: LogicalQuery) -> str:
        """Return a single percentage as a sentence with gaps: “{0} of orders are cancelled ({1} of {2})”; "" for other figures."""
        if not is_single_percentage(query) or query.metrics[0].name not in self.catalog.models:
            return ""
        metric, whole, more = query.metrics[0], query.metrics[0].whole, query.metrics[0].filters
        things = self._subject(whole) if self.language == "en" else self._model_label(whole.name)
        part = self._word("fit", things, self._word("also").join(self._short(item, metric.name) for item in more))
        if len(more) == 1 and (value := self._plain_value(more[0], metric.name)):
            field = self._field(more[0].field)
            is_state = (
                field.lower().endswith(("status", "state", "状态"))
                or self.catalog.dimension(more[0].field)[1].type == "boolean"
            )
            part = self._word("are" if is_state else "have", things, value, field)
        part = self._word("numbers", part, measure_word(things))
        conditions, times = self._short_conditions(query), self._listed(self._times(query))
        part = self._word("of", part, self._word("also").join(conditions)) if conditions else part
        return self._word("in", part, f"{times}，" if self.language == "zh" else times) if times else part

    # --- times, conditions, filters ---

    def _times(self, query: LogicalQuery) -> list[str]:
        return [self._days_of(time) for time in query.times]

    def _days_of(self, time: TimeRange) -> str:
        """Return a time in words, with its field where it is not the default one."""
        days = self._days_in_words(time)
        if not time.field or time.field.rpartition(".")[2] == self._default_time(time.field):
            return days
        return self._timed(time.field, days)

    def _timed(self, field: str, days: str) -> str:
        """Return a time with its field: hire date: 2025; created since 2024."""
        is_open = days.startswith(("since", "until"))
        return f"{self._field(field)} {days}" if is_open else self._word("timed", self._field(field), days)

    def _period(self, time: TimeRange) -> str:
        """Return a compared time in words, and whether it is not over."""
        start, end = self._days(time)
        period = self._days_of(time)
        is_running = start and end and start <= self.now < end
        return self._joint("of", period, self._joint("running")) if is_running else period

    def _days_in_words(self, time: TimeRange) -> str:
        return days_in_words(*self._days(time), self.language)

    def _running(self, query: LogicalQuery) -> Iterator[str]:
        """Yield the times that are not over; the names of compared ones say it themselves."""
        if query.comparison is not None and len(query.times) == 1:
            return
        for time in query.times:
            start, end = self._days(time)
            if start and end and start <= self.now < end - timedelta(days=1):
                yield self._word("running", self._days_in_words(time))

    def _short_conditions(self, query: LogicalQuery) -> list[str]:
        base = query.rows.model if query.rows is not None else query.metrics[0].name.partition(".")[0]
        conditions = [self._short(item, base) for item in query.filters]
        return conditions + self._conditions(query.model_copy(update={"filters": ()}))

    def _short(self, condition: Filter, base: str) -> str:
        """Return a condition: its value alone where that names one column only, else as `_filter` does."""
        return self._plain_value(condition, base) or self._filter(condition)

    def _plain_value(self, condition: Filter, base: str) -> str:
        if condition.op not in ("in", "=", "not_in", "!="):
            return ""
        model, dimension = self.catalog.dimension(condition.field)
        is_not = condition.op in ("not_in", "!=")
        if dimension.type == "boolean" and len(condition.values) == 1:
            is_so = str(condition.values[0]).lower() == "true"
            return (
                self._field(condition.field) if is_so is not is_not else self._word("not", self._field(condition.field))
            )
        values = [self._value(condition, value) for value in condition.values]
        if not all(self._is_unique(value, model, base) for value in values):
            return ""
        listed = self._listed(values, "or")
        return self._word("not", listed) if is_not else listed

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

    def _filter_texts(self, query: LogicalQuery, sql: str) -> Iterator[str]:
        """Yield the layer's own filters that the statement has: of its measures, and default filters of tables."""
        for leaf in query.metrics:
            if leaf.agg is None and leaf.name in self.catalog.measures:
                model, measure = self.catalog.measures[leaf.name]
                yield from (self._filter_text(model, column, values) for column, values in measure.filter.items())
        for model in self.catalog.models.values():
            for column, values in model.default_filter.items():
                if fixed_sql({column: values}, "t").removeprefix("t.") in sql:
                    yield self._filter_text(model, column, values)

    def _filter_text(self, model: SemanticModel, column: str, values: tuple[str, ...]) -> str:
        found = next((item for item in model.dimensions if item.expr.strip('"') == column), None)
        names = {item.value: item.text(self.language) for item in found.values} if found else {}
        listed = self._listed([names.get(value, value) for value in values], "or")
        return self._word("filter", label(found, self.language) if found else column, listed)
