"""Choices of the explore form: the parts of a layer that fit the chosen metric, in the page's language."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import get_args

from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from pydantic import ValidationError

from business.explore.fields import (
    DATES,
    LIST,
    VALUELESS,
    ExploreFields,
    FilterFields,
    format_period_code,
    format_sort_code,
    label_of,
    parse_dimension_code,
    parse_metric_code,
    parse_period_code,
)
from business.logical_query.catalog import Catalog
from business.logical_query.comparisons import require_supported_grain
from business.logical_query.conditions import Conditions
from business.logical_query.metrics import find_metric_table
from business.logical_query.phrases import pluralise
from business.logical_query.query import Breakdown as By
from business.logical_query.query import Grain, Inexpressible, Metric
from business.logical_query.source import JoinedTables, find_common_referrer
from business.logical_query.times import resolve_period
from business.semantic_layer.model import Dimension, NamedPart, SemanticModel

GRAINS = {
    "day": gettext_lazy("by day"), "week": gettext_lazy("by week"), "month": gettext_lazy("by month"),
    "quarter": gettext_lazy("by quarter"), "year": gettext_lazy("by year"), "weekday": gettext_lazy("by weekday"),
    "hour": gettext_lazy("by hour of the day"),
}  # fmt: skip
AGGREGATES = {
    "sum": gettext_lazy("total %(name)s"), "avg": gettext_lazy("average %(name)s"), "min": gettext_lazy("lowest %(name)s"),
    "max": gettext_lazy("highest %(name)s"), "count": gettext_lazy("rows with %(name)s"),
    "count_distinct": gettext_lazy("number of different %(name)s"),
}  # fmt: skip
OFFERED_AGGREGATES = ("sum", "avg", "min", "max")
PERIODS = {
    "day:0:0": gettext_lazy("today"), "day:-1:-1": gettext_lazy("yesterday"),
    "week:0:0": gettext_lazy("this week"), "week:-1:-1": gettext_lazy("last week"),
    "month:0:0": gettext_lazy("this month"), "month:-1:-1": gettext_lazy("last month"),
    "quarter:0:0": gettext_lazy("this quarter"), "quarter:-1:-1": gettext_lazy("last quarter"),
    "year:0:0": gettext_lazy("this year"), "year:0:0:to_date": gettext_lazy("this year up to today"),
    "year:-1:-1": gettext_lazy("last year"),
    "day:7:rolling": gettext_lazy("the last 7 days"), "day:30:rolling": gettext_lazy("the last 30 days"),
    "month:12:rolling": gettext_lazy("the last 12 months"),
    "fiscal_quarter:0:0": gettext_lazy("this fiscal quarter"), "fiscal_quarter:-1:-1": gettext_lazy("last fiscal quarter"),
    "fiscal_year:0:0": gettext_lazy("this fiscal year"), "fiscal_year:-1:-1": gettext_lazy("last fiscal year"),
}  # fmt: skip
OPERATORS = {
    "in": gettext_lazy("is"), "not_in": gettext_lazy("is not"), "contains": gettext_lazy("contains"),
    "not_contains": gettext_lazy("does not contain"), "starts_with": gettext_lazy("starts with"),
    "ends_with": gettext_lazy("ends with"), ">": gettext_lazy("more than"), ">=": gettext_lazy("at least"),
    "<": gettext_lazy("less than"), "<=": gettext_lazy("at most"), "is_null": gettext_lazy("is empty"),
    "is_not_null": gettext_lazy("is not empty"),
}  # fmt: skip
OF_TYPE = {
    "categorical": ("in", "not_in", "contains", "not_contains", "starts_with", "ends_with", "is_null", "is_not_null"),
    "boolean": ("in", "is_null", "is_not_null"),
    "number": ("in", "not_in", ">", ">=", "<", "<=", "is_null", "is_not_null"),
    "time": (">=", "<", "is_null", "is_not_null"),
}
IN_TIME = {">=": gettext_lazy("from"), "<": gettext_lazy("before")}
MAX_BOXES = 24  # the most values as boxes; more are typed, with suggestions
MAX_SLOTS = 6  # the most numbers, and breakdowns
MANY_TABLES = 40  # with more, only the chosen table's columns are offered as numbers


@dataclass(frozen=True)
class Choice:
    value: str
    label: str
    help: str = ""


Group = tuple[str, list[Choice]]


@dataclass(frozen=True)
class FilterRow:
    """One condition. label: of its field. boxes: values to tick; suggestions: for the field in which others are typed."""

    number: int
    label: str
    chosen: FilterFields
    type: str
    operators: list[Choice]
    boxes: list[Choice]
    suggestions: list[Choice]
    typed: str

    @property
    def is_typed(self) -> bool:
        """Return whether there is a field for a value beside the boxes."""
        return not self.boxes or bool(self.suggestions) or self.chosen.op not in ("in", "not_in")

    @property
    def wording(self) -> str:
        """Return the condition in words, for its chip."""
        names = {box.value: box.label for box in (*self.boxes, *self.suggestions)}
        op = next((operator.label for operator in self.operators if operator.value == self.chosen.op), "")
        values = " / ".join(names.get(value, value) for value in self.chosen.values)
        return " ".join(filter(None, [self.label, op, values]))

    @property
    def is_open(self) -> bool:
        """Return whether its value is still to be chosen."""
        return not self.chosen.values and self.chosen.op not in VALUELESS


@dataclass(frozen=True)
class Choices:
    """catalog: what this person may ask. units: theirs, whose names alone are shown. fields: the current choice."""

    catalog: Catalog
    units: Collection[str]
    fields: ExploreFields
    today: date

    @cached_property
    def base(self) -> str:
        """Return the table whose rows are counted or listed; "" without a valid choice."""
        if self.fields.listed:
            return self.fields.listed if self.fields.listed in self.catalog.models else ""
        try:
            return find_metric_table(self._metric, self.catalog) if self._metric else ""
        except Inexpressible:
            return ""

    @cached_property
    def _metric(self) -> Metric | None:
        """Return the first metric, which determines the table."""
        try:
            return Metric.model_validate(parse_metric_code(self.fields.numbers[0])) if self.fields.numbers else None
        except ValidationError:
            return None

    @cached_property
    def metrics(self) -> list[Group]:
        """Return by table: the count of its rows, its measures, its number columns, its list."""
        return [
            (label_of(model), list(self._list_metric_choices(model))) for model in self.catalog.layer.semantic_models
        ]

    def _list_metric_choices(self, model: SemanticModel) -> Iterator[Choice]:
        name = label_of(model)
        things = name if (get_language() or "en").startswith("zh") else pluralise(name)
        yield Choice(model.name, _("number of %(name)s") % {"name": things}, _description_of(model))
        for measure in model.measures:
            yield Choice(f"{model.name}.{measure.name}", label_of(measure), _description_of(measure))
        chosen = [metric for metric in self.fields.metrics if metric.partition(":")[2].startswith(f"{model.name}.")]
        keys = {entity.expr for entity in model.entities}
        is_offered = len(self.catalog.models) <= MANY_TABLES or model.name == self.base
        for dimension in model.dimensions:
            code = f"{model.name}.{dimension.name}"
            is_quantity = is_offered and dimension.type == "number" and dimension.expr not in keys
            for agg, text in AGGREGATES.items():
                if (is_quantity and agg in OFFERED_AGGREGATES) or f"{agg}:{code}" in chosen:
                    yield Choice(f"{agg}:{code}", text % {"name": label_of(dimension)}, _description_of(dimension))
        yield Choice(f"{LIST}{model.name}", _("list of %(name)s") % {"name": things}, _description_of(model))

    @property
    def metric_slots(self) -> tuple[str, ...]:
        """Return the chosen metrics, and an empty one where another can be added."""
        return self.fields.metrics + (() if self.fields.listed or len(self.fields.metrics) >= MAX_SLOTS else ("",))

    @property
    def breakdown_slots(self) -> tuple[str, ...]:
        return (*self.fields.breakdowns, *([""] if len(self.fields.breakdowns) < MAX_SLOTS else []))

    @property
    def is_ordered(self) -> bool:
        return bool(self.fields.sort or self.fields.ascending or self.fields.top or self.fields.exact)

    @property
    def help(self) -> list[tuple[str, str]]:
        """Return the chosen metrics that have a definition, with it."""
        known = {choice.value: choice for _table, group in self.metrics for choice in group}
        found = [known[metric] for metric in self.fields.metrics if metric in known]
        return [(choice.label, choice.help) for choice in found if choice.help]

    @cached_property
    def reached(self) -> list[SemanticModel]:
        """Return the chosen table, the tables it reaches along many-to-one keys, and the tables of other choices."""
        chosen = {breakdown.rpartition("@")[0] or breakdown for breakdown in self.fields.breakdowns}
        chosen |= {item.field for item in self.fields.filters}
        named = {self.catalog.dimensions[item][0].name for item in chosen if item in self.catalog.dimensions} | chosen
        every = self.catalog.layer.semantic_models
        near = [model for model in every if model.name in self._upward and self._can_join_to(model.name)]
        return near + [
            model for model in every if model not in near and (model.name in named or self._belongs_to_rows(model))
        ]

    @cached_property
    def _upward(self) -> set[str]:
        """Return the chosen table and every table that keys lead to from it."""
        found: set[str] = set()
        fresh = {self.base} - {""}
        while fresh:
            found |= fresh
            fresh = {step.one for step in self.catalog.joins.steps if step.many in fresh} - found
        return found

    def _can_join_to(self, name: str) -> bool:
        try:
            return self.catalog.joins.up(self.base, name) is not None
        except Inexpressible:
            return False

    def _belongs_to_rows(self, model: SemanticModel) -> bool:
        """Return whether a table's rows belong to the counted or listed things, so that counting duplicates nothing."""
        is_of_things = bool(self.fields.listed) or bool(self._metric and self._metric.name in self.catalog.models)
        if not (self.base and is_of_things) or len(self.catalog.models) > MANY_TABLES:
            return False
        try:
            return bool(find_common_referrer(self.base, [model.name], self.catalog))
        except Inexpressible:
            return False

    @cached_property
    def breakdowns(self) -> list[Group]:
        """Return the possible breakdowns of a number, or columns of a list."""
        if self.fields.listed:
            near = (model for model in self.reached if model.name in self._upward and self._can_join_to(model.name))
            return [(label_of(model), list(self._list_column_choices(model))) for model in near]
        first = [(_("Time"), list(self._list_grain_choices("", self.own_time)))] if self.own_time else []
        return first + [(label_of(model), list(self._list_breakdown_choices(model))) for model in self.reached]

    def _list_breakdown_choices(self, model: SemanticModel) -> Iterator[Choice]:
        is_counted = bool(self._metric and self._metric.name == model.name)
        is_each = bool(model.primary) and not is_counted
        if is_each:
            yield Choice(model.name, _("each %(name)s") % {"name": label_of(model)}, _description_of(model))
        for dimension in model.dimensions:
            name = f"{model.name}.{dimension.name}"
            if dimension.type == "time":
                is_told = name != self.own_time or any(item.startswith(f"{name}@") for item in self.fields.breakdowns)
                yield from self._list_grain_choices(name, name) if is_told else ()
            elif not (model.primary and _is_key_or_name(model, dimension)) or name in self.fields.breakdowns:
                yield Choice(name, self._label_dimension(model, dimension), _description_of(dimension))

    def _list_column_choices(self, model: SemanticModel) -> Iterator[Choice]:
        if model.name != self.base and model.name in self.fields.breakdowns:
            yield Choice(model.name, label_of(model))
        for dimension in model.dimensions:
            yield Choice(
                f"{model.name}.{dimension.name}", self._label_dimension(model, dimension), _description_of(dimension)
            )

    def _label_dimension(self, model: SemanticModel, dimension: Dimension) -> str:
        """Return its label, with its table if that is not the chosen metric's."""
        own = label_of(dimension)
        return own if model.name == self.base else _("%(table)s: %(name)s") % {"table": label_of(model), "name": own}

    def _list_grain_choices(self, code: str, name: str) -> Iterator[Choice]:
        model, dimension = self.catalog.dimension(name)
        for grain in get_args(Grain):
            if _supports_grain(dimension, grain):
                yield Choice(f"{code}@{grain}", f"{self._label_dimension(model, dimension)} {GRAINS[grain]}")

    @cached_property
    def own_time(self) -> str:
        """Return the time dimension of the chosen metric or list; "" where there is none."""
        if not self.base:
            return ""
        metrics = (self._metric,) if self._metric and not self.fields.listed else ()
        try:
            return Conditions(self.catalog, self.today, metrics=metrics).time_of(JoinedTables(self.base, self.catalog))
        except Inexpressible:
            return ""

    @cached_property
    def times(self) -> list[Choice]:
        """Return the time dimensions for a period; the first is the metric's own."""
        own = [Choice("", self._label_dimension(*self.catalog.dimension(self.own_time)))] if self.own_time else []
        named = (
            Choice(f"{model.name}.{dimension.name}", self._label_dimension(model, dimension))
            for model in self.reached
            for dimension in model.dimensions
            if dimension.type == "time"
        )
        return own + [item for item in named if item.value != self.own_time or item.value == self.fields.time]

    @cached_property
    def periods(self) -> list[Choice]:
        fiscal = self.catalog.layer.fiscal_year_start is not None
        known = [Choice(code, str(text)) for code, text in PERIODS.items() if fiscal or not code.startswith("fiscal")]
        chosen = self.fields.when
        if not chosen or chosen == DATES or chosen in {item.value for item in known}:
            return known
        try:
            period = parse_period_code(chosen)
            start, end = resolve_period(period, self.today, self.catalog.layer.fiscal_year_start)
        except Inexpressible:
            return known
        return [
            *known,
            Choice(format_period_code(period), _("%(start)s to before %(end)s") % {"start": start, "end": end}),
        ]

    @cached_property
    def filterable(self) -> list[Group]:
        return [
            (
                label_of(m),
                [Choice(f"{m.name}.{d.name}", self._label_dimension(m, d), _description_of(d)) for d in m.dimensions],
            )
            for m in self.reached
        ]

    @property
    def filters(self) -> list[FilterRow]:
        """Return a line for each condition, and an empty one."""
        chosen = (*self.fields.filters, FilterFields(""))
        return [self._build_filter_row(number, item) for number, item in enumerate(chosen)]

    def _build_filter_row(self, number: int, chosen: FilterFields) -> FilterRow:
        model, dimension = self.catalog.dimensions.get(chosen.field, (None, None))
        if model is None or dimension is None:
            return FilterRow(number, "", FilterFields(""), "", [], [], [], "")
        ops = [op for op in OPERATORS if op in OF_TYPE[dimension.type] or op == chosen.op]
        words = OPERATORS | (IN_TIME if dimension.type == "time" else {})
        operators, name = [Choice(op, str(words[op])) for op in ops], self._label_dimension(model, dimension)
        offered = list_value_choices(model, dimension, self.units)
        if chosen.op not in ("in", "not_in"):
            return FilterRow(
                number, name, chosen, dimension.type, operators, [], offered, next(iter(chosen.values), "")
            )
        is_short = len(offered) <= MAX_BOXES
        labels = {item.value: item.label for item in offered}
        boxes = list(offered) if is_short else []
        wanted = [value for value in chosen.values if not (is_short and value in labels)]
        boxes += [Choice(value, labels.get(value, value)) for value in wanted]
        return FilterRow(number, name, chosen, dimension.type, operators, boxes, [] if is_short else offered, "")

    @cached_property
    def sorts(self) -> list[Choice]:
        """Return the possible orders of the result."""
        columns = {choice.value: choice.label for _table, group in self.breakdowns for choice in group}
        chosen = [breakdown for breakdown in self.fields.breakdowns if breakdown in columns]
        if self.fields.listed:
            ordered = (name for name in columns if self._can_order_by(name) or name in (*chosen, self.fields.sort))
            return [Choice(name, columns[name]) for name in dict.fromkeys(ordered)]
        names = {choice.value: choice.label for _table, group in self.metrics for choice in group}
        numbers = [Choice(str(n), names[metric]) for n, metric in enumerate(self.fields.metrics) if metric in names]
        groups = [
            Choice(format_sort_code(By.model_validate(parse_dimension_code(item))), columns[item]) for item in chosen
        ]
        groups += [Choice("share", _("share"))] if self.fields.share else []
        return [*(numbers or [Choice("0", _("the number"))]), *groups]

    def _can_order_by(self, name: str) -> bool:
        model, dimension = self.catalog.dimensions.get(name, (None, None))
        return bool(model and dimension and model.name == self.base and dimension.type in ("number", "time"))


def list_value_choices(model: SemanticModel, dimension: Dimension, units: Collection[str]) -> list[Choice]:
    """Return the values to choose from: names of rows only where everybody sees all rows, org units only one's own."""
    if dimension.type == "boolean":
        return [Choice("true", _("yes")), Choice("false", _("no"))]
    column = model.org_unit.column if model.org_unit else None
    if column and column in dimension.columns:
        return [Choice(unit, unit) for unit in sorted(units)]
    if column and dimension.is_name:
        return []
    return [Choice(item.value, item.text(get_language() or "en")) for item in dimension.values]


def _description_of(named: NamedPart) -> str:
    return named.description.text(get_language() or "en")


def _is_key_or_name(model: SemanticModel, dimension: Dimension) -> bool:
    return dimension.is_name or bool(model.primary and dimension.expr == model.primary.expr)


def _supports_grain(dimension: Dimension, grain: str) -> bool:
    try:
        require_supported_grain(dimension, grain)
    except Inexpressible:
        return False
    return True
