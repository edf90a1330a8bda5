"""Figures of a logical query that look like a measure of the layer and are counted otherwise."""

from collections.abc import Iterator

from business.logical_query.catalog import Catalog
from business.logical_query.query import Filter, LogicalQuery, Metric
from business.semantic_layer.model import Measure, SemanticModel


def counted_otherwise(query: LogicalQuery, catalog: Catalog) -> list[tuple[SemanticModel, Measure]]:
    """Each measure whose column is aggregated as the measure does it, without a condition where the measure has its filter."""
    found = [each for leaf in query.leaves for each in _missed(leaf, query.filters, catalog)]
    return list({(model.name, measure.name): (model, measure) for model, measure in found}.values())


def _missed(metric: Metric, filters: tuple[Filter, ...], catalog: Catalog) -> Iterator[tuple[SemanticModel, Measure]]:
    if metric.agg is None or metric.until or metric.name not in catalog.dimensions:
        return
    model, dimension = catalog.dimensions[metric.name]
    alike = [each for each in model.measures if (each.agg, each.expr) == (metric.agg, dimension.expr)]
    held = _held((*filters, *metric.filters), model, catalog)
    if any(set(each.filter) <= held for each in alike):
        return
    for measure in alike:
        yield model, measure


def _held(filters: tuple[Filter, ...], model: SemanticModel, catalog: Catalog) -> set[str]:
    """The columns of a table that filters narrow: which values are meant is said beside the result."""
    found = [catalog.dimensions.get(condition.field) for condition in filters]
    return {dimension.expr for each in found if each for owner, dimension in (each,) if owner.name == model.name}
