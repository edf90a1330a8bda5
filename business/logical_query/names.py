"""Names of a result's columns."""

from collections import Counter

from business.logical_query.query import Dimension, LogicalQuery, Metric

CHANGE = ("current", "previous", "change", "change_percent")
PART = ("part", "whole")  # the two numbers of a single percentage


def column_of_dimension(dimension: Dimension) -> str:
    """Return the column name of a dimension: a time's grain, or its own name."""
    if dimension.grain is not None:
        return dimension.grain
    return dimension.name.rpartition(".")[2]


def columns_of(query: LogicalQuery) -> list[str]:
    """Return the column names of the metrics, in order, four each in a comparison, three of a single percentage."""
    names = [_column(metric) for metric in query.metrics]
    taken = Counter([*names, *map(column_of_dimension, query.dimensions)])
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
    is_alone = len(query.metrics) == 1 and not (query.dimensions or query.comparison) and query.outcome == "table"
    return is_alone and query.metrics[0].over is not None and query.metrics[0].percent


def _column(metric: Metric) -> str:
    if metric.over is not None:
        return "share" if metric.percent else "ratio"
    own = metric.name.rpartition(".")[2]
    if metric.until:
        return f"{metric.agg}_days"
    if "." not in metric.name:
        return "count"
    return own if metric.agg is None else f"{metric.agg}_{own}"[:60]
