"""What a question asks, as a value that SQL is made from."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from agent.business.ask.times.windows import Window
from agent.business.ask.words.lexicon import DimensionRef, MeasureRef, ModelRef
from agent.business.layer.model import Aggregation


@dataclass(frozen=True)
class Rows:
    """How many rows a table has."""

    agg: ClassVar[Aggregation] = "count"
    model: str


@dataclass(frozen=True)
class Aggregate:
    """A number over one column."""

    agg: Aggregation
    of: DimensionRef


Figure = Rows | Aggregate | MeasureRef


@dataclass(frozen=True)
class Period:
    """A time column cut to calendar periods; dimension None: the one the figure is counted by."""

    unit: Literal["day", "week", "month", "quarter", "year", "weekday"]
    dimension: DimensionRef | None = None


@dataclass(frozen=True)
class ValueFilter:
    dimension: DimensionRef
    values: tuple[str, ...]
    is_not: bool = False


@dataclass(frozen=True)
class NumberFilter:
    """A column against one number, or between two; of_average: against the average of the column, number times."""

    dimension: DimensionRef
    sign: str
    number: float
    upper: float | None = None
    of_average: bool = False


@dataclass(frozen=True)
class ColumnFilter:
    """A column against another one of the same table: shipped later than required."""

    dimension: DimensionRef
    sign: str
    other: DimensionRef


@dataclass(frozen=True)
class Missing:
    """Only rows where a column is empty, or is not."""

    dimension: DimensionRef
    is_not: bool = False


@dataclass(frozen=True)
class FigureFilter:
    """A figure for each row of the thing listed, against a number."""

    figure: Figure
    sign: str
    number: float


@dataclass(frozen=True)
class Related:
    """Only rows with (or without) a row of another table. is_narrowed: what else is said of such rows is said after “without”."""

    model: str
    is_not: bool = False
    is_narrowed: bool = False


@dataclass(frozen=True)
class TimeFilter:
    """model: whose default time is meant; dimension: a time column that was named."""

    window: Window
    model: str | None = None
    dimension: DimensionRef | None = None


@dataclass(frozen=True)
class WeekdayFilter:
    """Only days of the week, Monday is 1; of the time that windows are about."""

    days: tuple[int, ...]
    model: str | None = None
    dimension: DimensionRef | None = None


@dataclass(frozen=True)
class YearlyFilter:
    """Only a month of any year, or a day of it: birthdays."""

    dimension: DimensionRef
    month: int
    day: int | None = None


@dataclass(frozen=True)
class AnyOf:
    """Values of several columns, of which one is enough."""

    choices: tuple[ValueFilter, ...]


@dataclass(frozen=True)
class TextFilter:
    """A part of a text, in capitals or not. where: anywhere in it, at its start, or at its end; "like": all of it, a blank for any sign."""

    dimension: DimensionRef
    where: Literal["contains", "starts", "ends", "like"]
    text: str
    is_not: bool = False


Rarer = ColumnFilter | WeekdayFilter | YearlyFilter | AnyOf | TextFilter
Condition = ValueFilter | NumberFilter | Missing | TimeFilter | Related | Rarer
Group = ModelRef | DimensionRef | Period


@dataclass(frozen=True)
class Share:
    """The figure as a percentage of another question's; whole None: of all groups together."""

    whole: "Question | None" = None


@dataclass(frozen=True)
class Ratio:
    """The figure divided by another question's, by the same groups, or by one number."""

    over: "Question"


@dataclass(frozen=True)
class Comparison:
    """The figure beside the same in another time; is_change: with their difference, in one row."""

    previous: "Question"
    is_change: bool


@dataclass(frozen=True)
class Beside:
    """Figures of other tables, by the same groups."""

    others: "tuple[Question, ...]"


@dataclass(frozen=True)
class AveragePer:
    """The average of the figure over what it is grouped by."""


@dataclass(frozen=True)
class Within:
    """The first ones of each group. groups: outside; what is ranked is the question's own group or list."""

    groups: "tuple[Group, ...]"


@dataclass(frozen=True)
class Existence:
    """Whether there are any."""


@dataclass(frozen=True)
class CountOfGroups:
    """How many groups there are, such as countries with more than five customers."""


Derived = Share | Ratio | Comparison | Beside | AveragePer | Within | Existence | CountOfGroups


@dataclass(frozen=True)
class Question:
    """One reading of a question.

    figures: what is computed; none for a list. of: the table a list is about, or whose rows a figure is filtered for.
    columns: of a list; none: what the thing is called. order: of a list, by a column; figures are ordered by themselves.
    others: conditions of rarer kinds. derived: what is made of the figures. skipped: rows before the first, for “the second highest”.
    """

    figures: tuple[Figure, ...] = ()
    of: str | None = None
    columns: tuple[DimensionRef, ...] = ()
    is_distinct: bool = False
    groups: tuple[Group, ...] = ()
    values: tuple[ValueFilter, ...] = ()
    numbers: tuple[NumberFilter, ...] = ()
    missing: tuple[Missing, ...] = ()
    having: tuple[FigureFilter, ...] = ()
    related: tuple[Related, ...] = ()
    times: tuple[TimeFilter, ...] = ()
    others: tuple[Rarer, ...] = ()
    order: DimensionRef | None = None
    is_ascending: bool = False
    limit: int | None = None
    skipped: int = 0
    derived: Derived | None = None
    also: tuple[DimensionRef, ...] = ()  # of a list, shown beside what it shows anyway
    shows_keys: bool = False  # beside the names of what is grouped by, so that rows of one name stay apart
    is_any: bool = False  # of several that share the first place one is enough: “when was the last order”
    counts_groups: bool = False  # "how many customers have more than five orders"
    accounted: tuple[str, ...] = field(default=(), compare=False)


class NotUnderstood(Exception):
    """The question is handed on. unknown: words that stand for nothing here. choices: readings to choose from; figures: what
    may be meant to rank by.
    """

    def __init__(
        self,
        why: str,
        *,
        unknown: tuple[str, ...] = (),
        choices: tuple[str, ...] = (),
        figures: tuple[MeasureRef, ...] = (),
    ) -> None:
        super().__init__(why)
        self.unknown = unknown
        self.choices = choices
        self.figures = figures
