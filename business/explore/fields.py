"""Represent a logical query as the fields of the explore form, which are also its address.

Only a query whose every part has a field fits the form (`is_expressible_in_form`): opening a question and asking it again asks the same.
"""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, get_args
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from pydantic import ValidationError

from business.logical_query.catalog import Catalog
from business.logical_query.query import (
    Breakdown,
    Filter,
    Grain,
    Inexpressible,
    LogicalQuery,
    Metric,
    Period,
    ResultOrder,
    TimeRange,
    name_dimension_column,
)
from business.semantic_layer.model import Aggregation, NamedPart

LIST = "list:"  # prefix of a model: list its rows instead of a number
DATES = "dates"  # in place of a period: between two dates
MAX_FILTERS = 20
TEXTS = ("time", "when", "start", "end", "sort", "top", "compare")
FLAGS = ("ascending", "exact", "distinct", "share")
VALUELESS = ("is_null", "is_not_null")


@dataclass(frozen=True)
class FilterFields:
    field: str
    op: str = "in"
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExploreFields:
    """metrics: a measure, a model to count the rows of, `agg:dimension`, or one `list:model`. breakdowns: `dimension`,
    `model` or `dimension@grain`; of a list its columns. when: a period, or DATES; end: the last day.
    """

    metrics: tuple[str, ...] = ()
    breakdowns: tuple[str, ...] = ()
    filters: tuple[FilterFields, ...] = ()
    time: str = ""
    when: str = ""
    start: str = ""
    end: str = ""
    sort: str = ""
    ascending: bool = False
    top: str = ""
    exact: bool = False
    distinct: bool = False
    share: bool = False
    compare: str = ""

    @classmethod
    def read(cls, sent: QueryDict) -> "ExploreFields":
        """Read the fields from an address or a submitted form."""
        texts: dict[str, Any] = {name: sent.get(name, "").strip() for name in TEXTS}
        flags: dict[str, Any] = {name: bool(sent.get(name)) for name in FLAGS}
        removed = sent.get("remove", "")
        filters = (_read_filter_fields(sent, number) for number in range(MAX_FILTERS) if str(number) != removed)
        if not texts["when"] and (texts["start"] or texts["end"]):
            texts["when"] = DATES
        return cls(
            metrics=_read_chosen_values(sent, "metric"),
            breakdowns=_read_chosen_values(sent, "by"),
            filters=tuple(item for item in filters if item.field),
            **texts,
            **flags,
        )

    @classmethod
    def of(cls, query: LogicalQuery) -> "ExploreFields":
        """Return the fields for a query that fits the form: `fields.query()` is equivalent."""
        rows, time, ranking, compared = query.rows, next(iter(query.times), None), query.ranking, query.comparison
        fields = cls(
            metrics=(f"{LIST}{rows.model}",) if rows else tuple(map(_format_metric_code, query.metrics)),
            breakdowns=rows.columns if rows else tuple(map(_format_dimension_code, query.dimensions)),
            filters=tuple(map(_convert_to_filter_fields, query.filters)),
            distinct=bool(rows and rows.distinct),
            share=query.share,
            compare=compared.to if compared else "",
        )
        if time is not None:
            fields = replace(fields, time=time.field, **_format_time_fields(time))
        if ranking is not None:
            fields = replace(
                fields,
                sort=_format_ranking_code(query, ranking),
                ascending=not ranking.descending,
                top=str(ranking.limit or ""),
                exact=not ranking.ties,
            )
        return fields

    @property
    def listed(self) -> str:
        """Return the model whose rows are listed; "" for numbers."""
        return next((item.removeprefix(LIST) for item in self.metrics if item.startswith(LIST)), "")

    @property
    def numbers(self) -> list[str]:
        return [item for item in self.metrics if not item.startswith(LIST)]

    @property
    def complete(self) -> "ExploreFields":
        """Return the fields without conditions that lack their value, while somebody is still choosing."""
        filters = tuple(item for item in self.filters if item.values or item.op in VALUELESS)
        is_dated = self.when != DATES or self.start or self.end
        return replace(self, filters=filters, when=self.when if is_dated else "")

    def query(self, catalog: Catalog) -> LogicalQuery:
        """Return the form's query. catalog: gives the types of values. Raises Inexpressible with the fault."""
        parts = _Parts(self, catalog)
        made = parts.subject() | {"filters": parts.filters(), "times": parts.times(), "ranking": parts.ranking()}
        made |= {"share": self.share} | ({"comparison": {"to": self.compare}} if self.compare else {})
        made["metrics"] = [*map(parse_metric_code, self.numbers)]
        if not made["metrics"] and "rows" not in made:
            raise Inexpressible(_("Choose what to show."))
        if "rows" in made and (self.share or self.compare or made["metrics"]):
            raise Inexpressible(_("A list stands alone: it has no numbers, no share and no comparison."))
        if self.share and not made["dimensions"]:
            raise Inexpressible(_("A share of all needs something to break the number down by."))
        try:
            return LogicalQuery.model_validate(made)
        except ValidationError as error:
            raise Inexpressible(_format_validation_error(error)) from error

    def encoded(self) -> str:
        """Return the query string of an address, after the `?`."""
        pairs = [("metric", item) for item in self.metrics] + [("by", breakdown) for breakdown in self.breakdowns]
        for number, item in enumerate(self.filters):
            pairs += [(f"field{number}", item.field), (f"op{number}", item.op)]
            pairs += [(f"value{number}", value) for value in item.values]
        pairs += [(name, getattr(self, name)) for name in TEXTS if getattr(self, name)]
        pairs += [(name, "1") for name in FLAGS if getattr(self, name)]
        return urlencode(pairs)


@dataclass(frozen=True)
class _Parts:
    """Converts fields into parts of a query."""

    fields: ExploreFields
    catalog: Catalog

    def subject(self) -> dict[str, Any]:
        """Return the list, or the dimensions of the breakdowns."""
        fields = self.fields
        model = fields.listed
        if not model:
            return {"dimensions": [parse_dimension_code(breakdown) for breakdown in fields.breakdowns]}
        if any(parse_dimension_code(breakdown).get("grain") for breakdown in fields.breakdowns):
            raise Inexpressible(_("A list shows a time as it is, not by days or months: choose its columns again."))
        return {"rows": {"model": model, "columns": fields.breakdowns, "distinct": fields.distinct}}

    def filters(self) -> list[dict[str, Any]]:
        made = []
        for item in self.fields.filters:
            dimension = self.catalog.dimension(item.field)[1]
            values = [_parse_number(value) if dimension.type == "number" else value for value in item.values]
            if item.op in VALUELESS:
                values = []
            elif not values:
                raise Inexpressible(_("Give a value for %(name)s.") % {"name": label_of(dimension)})
            made.append({"field": item.field, "op": item.op, "values": values})
        return made

    def times(self) -> list[dict[str, Any]]:
        fields = self.fields
        if not fields.when:
            return []
        if fields.when != DATES:
            if fields.start or fields.end:
                raise Inexpressible(_("Give either a period or dates, not both."))
            return [{"field": fields.time, "period": parse_period_code(fields.when)}]
        start, end = _parse_day(fields.start), _parse_day(fields.end)
        if start is None and end is None:
            raise Inexpressible(_("Give the first or the last day."))
        if start and end and start > end:
            raise Inexpressible(_("The first day comes before the last."))
        return [{"field": fields.time, "start": start, "end": end + timedelta(days=1) if end else None}]

    def ranking(self) -> dict[str, Any] | None:
        fields = self.fields
        if not (fields.sort or fields.ascending or fields.top or fields.exact):
            return None
        if (fields.top and not fields.top.isascii()) or not (fields.top or "1").isdecimal():
            raise Inexpressible(_("Give the number of rows as a whole number."))
        by = fields.sort if fields.sort != "0" else ""
        made: dict[str, Any] = {"by": by, "descending": not fields.ascending, "ties": not fields.exact}
        return made | ({"limit": int(fields.top)} if fields.top else {})


def parse_metric_code(code: str) -> dict[str, Any]:
    agg, colon, name = code.partition(":")
    return {"name": name, "agg": agg} if colon and agg in get_args(Aggregation) else {"name": code}


def parse_dimension_code(code: str) -> dict[str, Any]:
    name, at, grain = code.rpartition("@")
    return {"name": name, "grain": grain} if at and grain in get_args(Grain) else {"name": code}


def parse_period_code(code: str) -> Period:
    """Return the period of a code: `month:-1:-1`, `year:0:0:to_date` or `day:30:rolling`. Raises Inexpressible."""
    unit, *rest = code.split(":")
    try:
        if rest[-1:] == ["rolling"]:
            return Period.model_validate({"unit": unit, "rolling": int(rest[0])})
        first, last = map(int, rest[:2])
        return Period.model_validate({"unit": unit, "first": first, "last": last, "to_date": rest[2:] == ["to_date"]})
    except ValueError as error:  # includes ValidationError
        raise Inexpressible(_("%(value)s is not a period.") % {"value": code}) from error


def format_period_code(period: Period) -> str:
    if period.rolling is not None:
        return f"{period.unit}:{period.rolling}:rolling"
    return f"{period.unit}:{period.first}:{period.last}{':to_date' if period.to_date else ''}"


def format_sort_code(dimension: Breakdown) -> str:
    """Return the sort code of a ranking by a breakdown."""
    return name_dimension_column(dimension) if dimension.grain else dimension.name


def label_of(named: NamedPart) -> str:
    """Return a thing's label in the page's language."""
    return named.label.text(get_language() or "en") or named.name.replace("_", " ")


def _read_chosen_values(sent: QueryDict, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in sent.getlist(name) if value))


def _read_filter_fields(sent: QueryDict, number: int) -> FilterFields:
    values = (value.strip() for value in sent.getlist(f"value{number}"))
    return FilterFields(
        sent.get(f"field{number}", ""),
        sent.get(f"op{number}") or "in",
        tuple(dict.fromkeys(value for value in values if value)),
    )


def is_expressible_in_form(query: LogicalQuery) -> bool:
    """Return whether the form has a field for every part of a query."""
    return not (query.related or len(query.times) > 1 or any(metric.filters or metric.time for metric in query.metrics))


def select_expressible_parts(query: LogicalQuery) -> LogicalQuery:
    """Return the parts of a query that the form has fields for, to go on from there."""
    metrics = tuple(metric.whole for metric in query.metrics)
    return query.model_copy(update={"metrics": metrics, "times": query.times[:1], "related": ()})


def _format_metric_code(metric: Metric) -> str:
    return f"{metric.agg}:{metric.name}" if metric.agg and "." in metric.name else metric.name


def _format_dimension_code(dimension: Breakdown) -> str:
    return f"{dimension.name}@{dimension.grain}" if dimension.grain else dimension.name


def _convert_to_filter_fields(condition: Filter) -> FilterFields:
    op = {"=": "in", "!=": "not_in"}.get(condition.op, condition.op)
    return FilterFields(condition.field, op, tuple(map(_format_filter_value, condition.values)))


def _format_filter_value(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _format_time_fields(time: TimeRange) -> dict[str, Any]:
    if time.period is not None:
        return {"when": format_period_code(time.period)}
    last = time.end - timedelta(days=1) if time.end else None
    return {"when": DATES, "start": str(time.start or ""), "end": str(last or "")}


def _format_ranking_code(query: LogicalQuery, ranking: ResultOrder) -> str:
    """Return an index of a metric, or a breakdown's `format_sort_code`; "" for a list that is only limited."""
    if query.rows is not None or ranking.by.isdecimal():
        return ranking.by
    for dimension in query.dimensions:
        if ranking.by and ranking.by in (dimension.name, name_dimension_column(dimension)):
            return format_sort_code(dimension)
    for number, metric in enumerate(query.metrics):
        if ranking.by == metric.name:
            return str(number)
    return ranking.by or "0"


def _parse_number(value: str) -> float | int | str:
    """Return text as a number if it is one; else unchanged, so that the compiler reports it."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _parse_day(text: str) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise Inexpressible(_("%(value)s is not a date.") % {"value": text}) from error


def _format_validation_error(error: ValidationError) -> str:
    """Return the first fault with its place."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    why = first["msg"].removeprefix("Value error, ")
    return _("This cannot be asked: %(why)s") % {"why": f"{place}: {why}" if place else why}


MAX_CHARACTERS = 6_000  # of an address; proxies accept 8,000


def explore_url(source: str, query: LogicalQuery | ExploreFields | None = None) -> str:
    """Return the address for changing a question. query: None for the empty form, Fields if partly understood.

    "" for a query that does not fit the form or an address: no link is better than a truncated question.
    """
    if isinstance(query, LogicalQuery) and not is_expressible_in_form(query):
        return ""
    fields = ExploreFields.of(query) if isinstance(query, LogicalQuery) else query or ExploreFields()
    filled = "&".join(filter(None, [urlencode({"source": source}), fields.encoded()]))
    address = f"{reverse('explore')}?{filled}"
    return address if len(address) <= MAX_CHARACTERS else ""
