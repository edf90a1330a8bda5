"""The numbers of a reading, and what they are grouped by, as expressions over one source."""

from agent.business.ask.meaning import Aggregate, Figure, Group, NotUnderstood, Period, Rows
from agent.business.ask.sql.joins import Joins
from agent.business.ask.sql.source import Source
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef
from agent.business.guard.rewrite import literal, quoted
from agent.business.layer.expressions import qualified
from agent.business.layer.model import Dimension

_PERIOD_FORMATS = {
    "day": "YYYY-MM-DD",
    "week": "YYYY-MM-DD",
    "month": "YYYY-MM",
    "quarter": 'YYYY-"Q"Q',
}


def model_of_figure(figure: Figure) -> str:
    """The table whose rows a figure is made of."""
    return figure.of.model if isinstance(figure, Aggregate) else figure.model


def counted(figure: Figure, lexicon: Lexicon) -> Figure:
    """A measure that only counts rows, and of which nothing more is said, as their number."""
    if not isinstance(figure, MeasureRef):
        return figure
    measure = lexicon.measure(figure)
    is_more = measure.expr or measure.filter or measure.time or measure.label.all() or measure.description.all()
    return figure if measure.agg != "count" or is_more else Rows(figure.model)


def model_of_group(group: Group) -> str:
    """The table a group belongs to; "" for periods of whatever time the figure is counted by."""
    if isinstance(group, Period):
        return group.dimension.model if group.dimension else ""
    return group.model


def name_of_figure(figure: Figure) -> str:
    """What the column of a figure is called."""
    if isinstance(figure, Rows):
        return "count"
    if isinstance(figure, Aggregate):
        return f"{figure.agg}_{figure.of.dimension}"[:60]
    return figure.measure


def name_of_group(group: Group) -> str:
    """What the column of a group is called."""
    if isinstance(group, Period):
        return group.unit
    return group.dimension if isinstance(group, DimensionRef) else group.model


def figure_sql(figure: Figure, source: Source, counts_key: str, *, is_filtered: bool = False) -> tuple[str, str]:
    """SQL and name of a figure. counts_key: the table whose keys are counted once each. is_filtered: with the measure's own filter."""
    if isinstance(figure, Rows):
        return (f"count(DISTINCT {source.key(counts_key)})" if counts_key else "count(*)"), name_of_figure(figure)
    if isinstance(figure, Aggregate):
        column = source.column(figure.of)
        text = f"count(DISTINCT {column})" if figure.agg == "count_distinct" else f"{figure.agg}({column})"
        return text, name_of_figure(figure)
    measure = source.lexicon.measure(figure)
    alias = source.alias(figure.model)
    inner = qualified(measure.expr, alias) if measure.expr else "*"
    text = f"count(DISTINCT {inner})" if measure.agg == "count_distinct" else f"{measure.agg}({inner})"
    if measure.filter and is_filtered:
        text += f" FILTER (WHERE {fixed_sql(measure.filter, alias)})"
    return text, name_of_figure(figure)


def group_sql(group: Group, source: Source, time: DimensionRef | None) -> list[tuple[str, str, bool]]:
    """SQL, name, and whether it is shown, of what a group is made of: for a thing its key and its name."""
    if isinstance(group, Period):
        assert time is not None  # a period is one of a time
        require_kept(source.lexicon.dimension(time), group.unit)
        column = source.column(time)
        if group.unit == "weekday":
            return [(f"extract(isodow FROM {column})", "weekday", True)]
        if group.unit == "year":
            return [(f"CAST(extract(year FROM {column}) AS integer)", "year", True)]
        return [(f"to_char(date_trunc('{group.unit}', {column}), '{_PERIOD_FORMATS[group.unit]}')", group.unit, True)]
    if isinstance(group, DimensionRef):
        return [(source.column(group), group.dimension, True)]
    return _thing_sql(group, source)


def _thing_sql(group: ModelRef, source: Source) -> list[tuple[str, str, bool]]:
    model = source.lexicon.model(group.model)
    is_called_so = model.primary and model.name_dimension and model.name_dimension.expr == model.primary.expr
    if is_called_so and (own := source.own_key(group.model)):  # lakes by state: those of no state are some, too
        return [(own, group.model, True)]
    key = source.key(group.model) if model.primary else ""
    if model.name_dimension is None:
        if not key:
            raise NotUnderstood(f"{group.model} has neither key nor name")
        return [(key, group.model, True)]
    name = source.column(DimensionRef(group.model, model.name_dimension.name))
    parts = [(name, group.model, True)]
    return [*parts, (key, "key", False)] if key and key != name else parts


def require_kept(time: Dimension, unit: str) -> None:
    """A time that keeps only months has no days. unit: of a period, or `day` for a window that cuts a month. Raises NotUnderstood."""
    kept = {"day": (), "month": ("day", "week", "weekday"), "year": ("day", "week", "weekday", "month", "quarter")}
    if unit in kept[time.time_granularity]:
        raise NotUnderstood(f"only the {time.time_granularity} is kept")


def carrier_of(base: str, others: list[str], lexicon: Lexicon, joins: Joins) -> str:
    """The one nearest table that points to `base` and to all the others. Raises NotUnderstood."""
    ways = []
    for model in lexicon.layer.semantic_models:
        steps = [joins.distance(model.name, name) for name in (base, *others)]
        found = [step for step in steps if step is not None]
        is_between = len(found) == len(steps) and model.name != base
        if is_between and not joins.is_either(model.name, (base, *others)):
            ways.append((sum(found), model.name))
    ways.sort()
    if not ways or (len(ways) > 1 and ways[0][0] == ways[1][0]):
        raise NotUnderstood(f"no one way leads from {base} to {', '.join(others)}")
    nearest = ways[0][1]
    for name in (base, *others):
        joins.up(nearest, name)  # in one way
    return nearest


def fixed_sql(filters: dict[str, tuple[str, ...]], alias: str) -> str:
    """The conditions a layer sets of itself."""
    return " AND ".join(
        f"{alias}.{quoted(column)}::text IN ({', '.join(map(literal, values))})" for column, values in filters.items()
    )


def first_rows(limit: int) -> str:
    """The first ones of an order, and all that share the last place: of several that are the highest none is left out."""
    return f" FETCH FIRST {limit} ROWS WITH TIES"


def number_sql(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
