"""A second part that asks the first one's figure of another time, or another number of the same column: “去年同期呢”, “平均每个多少”."""

from dataclasses import replace

from agent.business.ask.meaning import Aggregate, Comparison, Figure, NotUnderstood, Period, Question
from agent.business.ask.reading.compared import before_window
from agent.business.ask.sql.figures import model_of_figure
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef
from agent.business.layer.model import Aggregation

_WAYS: dict[Kind, Aggregation] = {Kind.SUM: "sum", Kind.AVG: "avg", Kind.MAX: "max", Kind.MIN: "min"}


def of_another_time(first: Question, items: list[Item]) -> Question | None:
    """“…？去年同期又是多少”: the same figure a year earlier, or in the time that is named; None where something else is said.

    Raises NotUnderstood where the first part has no one figure of one time.
    """
    said = [item for item in items if item.kind not in (Kind.COUNT, Kind.MUCH, Kind.AND)]
    if len(said) != 1 or said[0].kind not in (Kind.WINDOW, Kind.PREVIOUS):
        return None
    is_plain = len(first.figures) == 1 and len(first.times) == 1 and not first.derived and not first.limit
    if not is_plain or first.having or any(isinstance(group, Period) for group in first.groups):
        raise NotUnderstood("what is compared")
    now = first.times[0]
    if said[0].kind is Kind.PREVIOUS and said[0].sign != "year":
        raise NotUnderstood("compared with what")
    window = said[0].window or before_window(now.window, by_year=True)
    return replace(first, derived=Comparison(replace(first, times=(replace(now, window=window),)), is_change=False))


def of_same_column(first: Question, items: list[Item], lexicon: Lexicon) -> Question | None:
    """“预算合计多少，平均每个项目多少”: another number of the column that the first figure is made of; None where it is not that."""
    said = [item for item in items if item.kind not in (Kind.COUNT, Kind.MUCH, Kind.GROUP)]
    things = [item for item in said if item.kind is Kind.MODEL]
    ways = [item.kind for item in said if item.kind in _WAYS]
    if len(ways) != 1 or len(said) != 1 + len(things) or len(first.figures) != 1:
        return None
    if any(item.kind is Kind.GROUP for item in items) and (ways != [Kind.AVG] or not things):
        return None
    column = _column(first.figures[0], lexicon)
    if column is None or first.limit or first.derived or first.counts_groups or first.having:
        return None
    if any(ModelRef(column.model) not in item.refs for item in things):
        raise NotUnderstood("an average over other things")
    figure = Aggregate(_WAYS[ways[0]], column)
    return None if figure in first.figures else replace(first, figures=(*first.figures, figure))


def _column(figure: Figure, lexicon: Lexicon) -> DimensionRef | None:
    """The column that a figure adds up or averages."""
    if isinstance(figure, Aggregate):
        return figure.of if figure.agg != "count_distinct" else None
    if not isinstance(figure, MeasureRef):
        return None
    measure = lexicon.measure(figure)
    if measure.filter or measure.agg not in _WAYS.values():
        return None
    model = lexicon.model(model_of_figure(figure))
    return next((DimensionRef(model.name, d.name) for d in model.dimensions if d.expr == measure.expr), None)
