"""The logical query: a question on business data in the names of the semantic layer, before any SQL.

Terms are those of MetricFlow and Cube: metrics over rows, dimensions with a grain, filters, time, ranking. Every name is
`model.part` of one layer, or the name of a model. A query is a value: it is stored, compared, changed in one part, and compiled.
"""

from collections import Counter
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from business.semantic_layer.model import Aggregation


class Inexpressible(Exception):
    """A logical query uses unknown names or would count wrongly; the text says what is wrong."""


Unit = Literal["day", "week", "month", "quarter", "year", "fiscal_quarter", "fiscal_year"]
Grain = Literal["day", "week", "month", "quarter", "year", "weekday", "hour"]
Sign = Literal["=", "!=", ">", ">=", "<", "<="]
Operator = Literal[
    "in", "not_in", "=", "!=", ">", ">=", "<", "<=",
    "contains", "not_contains", "starts_with", "ends_with", "is_null", "is_not_null",
]  # fmt: skip
MAX_LIMIT = 1_000
MAX_PARTS = 50  # of any one kind
_UNSET: tuple[Any, ...] = (None, "", 0, [], "table")


class QueryPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_unset(cls, stored: Any) -> Any:
        """Leave out the unset fields of an older version, which wrote every field."""
        if not isinstance(stored, dict) or stored.keys() <= cls.model_fields.keys():
            return stored
        return {name: value for name, value in stored.items() if name in cls.model_fields or value not in _UNSET}


class Filter(QueryPart):
    """A condition on one row. values: one for a comparison, any number for in and not_in."""

    field: str
    op: Operator = "in"
    values: tuple[str | int | float | bool, ...] = Field(default=(), max_length=1_000)

    @model_validator(mode="after")
    def _complete(self) -> "Filter":
        if not self.field:
            raise ValueError("a filter names a field")
        if self.op in ("is_null", "is_not_null"):
            return self
        if not self.values:
            raise ValueError(f"the filter on {self.field} has no value")
        if self.op not in ("in", "not_in") and len(self.values) != 1:
            raise ValueError(f"{self.op} takes one value")
        return self


class Period(QueryPart):
    """Whole calendar periods counted from the one that holds today (0: this, -1: the last), or a rolling time up to today.

    to_date: the last period only as far as today is into its own. rolling: so many units up to today, instead of whole periods;
    of quarters and fiscal years the last that are over.
    """

    unit: Unit
    first: int = 0
    last: int = 0
    to_date: bool = False
    rolling: int | None = Field(default=None, ge=1, le=10_000)

    @model_validator(mode="after")
    def _forwards(self) -> "Period":
        if self.first > self.last:
            raise ValueError("a period's first comes before its last")
        return self


class TimeRange(QueryPart):
    """When. field: a time dimension; "" for the time that the metric, or the list, is counted by.

    Either a period, or dates: start inclusive, end exclusive, one of both may be open.
    """

    field: str = ""
    period: Period | None = None
    start: date | None = None
    end: date | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "TimeRange":
        is_dated = self.start is not None or self.end is not None
        if (self.period is None) == (not is_dated):
            raise ValueError("a time has either a period, or a start or an end")
        if self.start and self.end and self.start >= self.end:
            raise ValueError("a time's start comes before its end; the end is the day after the last")
        return self


class Metric(QueryPart):
    """A number over rows: a measure of the layer (`orders.revenue`), a count of a model's rows (`customers`, agg count), or an
    aggregate of a column (`products.price`, agg avg).

    filters: it is the percentage of the number that these keep. time: of this metric alone; the compiler sets it.
    """

    name: str
    agg: Aggregation | None = None
    filters: tuple[Filter, ...] = Field(default=(), max_length=MAX_PARTS)
    time: TimeRange | None = None

    @property
    def whole(self) -> "Metric":
        """Return the number that it is a percentage of; itself for other numbers."""
        return self.model_copy(update={"filters": ()})


class Breakdown(QueryPart):
    """What results are broken down by: a dimension, a model (each of its things by name), or a time by its grain.

    name "" with a grain: the time that the metric is counted by.
    """

    name: str = ""
    grain: Grain | None = None

    @model_validator(mode="after")
    def _named(self) -> "Breakdown":
        if not self.name and self.grain is None:
            raise ValueError("a dimension has a name, or the grain of a time")
        return self


class Related(QueryPart):
    """Only things that have, or have not, rows of another model. filters, time: which rows.

    op, value: how many rows they have is compared with the value; without op any number will do.
    """

    model: str
    is_not: bool = False
    filters: tuple[Filter, ...] = Field(default=(), max_length=MAX_PARTS)
    time: TimeRange | None = None
    op: Sign | None = None
    value: float = 1


class Rows(QueryPart):
    """A list of things instead of numbers. columns: dimensions to show; none: what the thing is called."""

    model: str
    columns: tuple[str, ...] = Field(default=(), max_length=MAX_PARTS)
    distinct: bool = False


class ResultOrder(QueryPart):
    """The order and how much of it. by: a dimension, or "" for the first metric, or its number from 0 as text.

    ties: all that share the last place are shown.
    """

    by: str = ""
    descending: bool = True
    limit: int | None = Field(default=None, ge=1, le=MAX_LIMIT)
    ties: bool = True


class Comparison(QueryPart):
    """Beside the same in a stretch before (previous_period), or in the same stretch a year before."""

    to: Literal["previous_period", "previous_year"] = "previous_period"


class LogicalQuery(QueryPart):
    """metrics by dimensions, or rows. share: each group's percentage of all groups."""

    metrics: tuple[Metric, ...] = Field(default=(), max_length=MAX_PARTS)
    dimensions: tuple[Breakdown, ...] = Field(default=(), max_length=MAX_PARTS)
    rows: Rows | None = None
    filters: tuple[Filter, ...] = Field(default=(), max_length=MAX_PARTS)
    times: tuple[TimeRange, ...] = Field(default=(), max_length=MAX_PARTS)
    related: tuple[Related, ...] = Field(default=(), max_length=MAX_PARTS)
    ranking: ResultOrder | None = None
    comparison: Comparison | None = None
    share: bool = False

    @model_validator(mode="after")
    def _of_one_kind(self) -> "LogicalQuery":
        if bool(self.metrics) == (self.rows is not None):
            raise ValueError("a query has either metrics or rows")
        if self.rows is not None and (self.dimensions or self.comparison or self.share):
            raise ValueError("a list of rows has no dimensions, comparison or share")
        if self.share and not self.dimensions:
            raise ValueError("a share of all groups needs a dimension")
        return self


def _or_none(stored: Any, read: ValidatorFunctionWrapHandler) -> LogicalQuery | None:
    try:
        query: LogicalQuery | None = read(stored)
    except ValidationError:
        return None
    return query


StoredQuery = Annotated[LogicalQuery | None, WrapValidator(_or_none)]
"""A query beside a stored answer; None where an older version asked for more than can be asked now."""

CHANGE = ("current", "previous", "change", "change_percent")
PART = ("part", "whole")  # the two numbers of a single percentage


def name_dimension_column(dimension: Breakdown) -> str:
    """Return the column name of a dimension: a time's grain, or its own name."""
    if dimension.grain is not None:
        return dimension.grain
    return dimension.name.rpartition(".")[2]


def name_metric_columns(query: LogicalQuery) -> list[str]:
    """Return the column names of the metrics, in order, four each in a comparison, three of a single percentage."""
    names = [_name_metric(metric) for metric in query.metrics]
    taken = Counter([*names, *map(name_dimension_column, query.dimensions)])
    made, seen = [], Counter[str]()
    for metric, name in zip(query.metrics, names, strict=True):
        seen[name] += 1
        full = metric.name.replace(".", "_") if taken[name] > 1 else name
        full = f"{full}_{seen[name]}" if seen[name] > 1 else full
        made.append(full[:60])
    if is_single_percentage(query):
        return [*made, *PART]
    if query.comparison is None:
        return made
    if len(made) == 1:
        return list(CHANGE)
    return [f"{part}_{name}"[:60] for name in made for part in CHANGE]


def is_single_percentage(query: LogicalQuery) -> bool:
    """Return whether a query asks for one percentage, which is shown with its two numbers."""
    return len(query.metrics) == 1 and not (query.dimensions or query.comparison) and bool(query.metrics[0].filters)


def _name_metric(metric: Metric) -> str:
    if metric.filters:
        return "share"
    own = metric.name.rpartition(".")[2]
    if "." not in metric.name:
        return "count"
    return own if metric.agg is None else f"{metric.agg}_{own}"[:60]
