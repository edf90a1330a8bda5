"""Look up a layer's parts by `model.part`; built once per layer, shared by compiler, wording, parsing and linking."""

from dataclasses import dataclass, field
from functools import cached_property

from django.utils.translation import gettext as _

from business.logical_query.joins import Joins
from business.logical_query.query import Inexpressible
from business.semantic_layer.model import Dimension, Measure, SemanticLayer, SemanticModel


@dataclass(frozen=True)
class Catalog:
    """A layer's parts by name. Raises Inexpressible for every unknown name."""

    layer: SemanticLayer
    models: dict[str, SemanticModel] = field(repr=False)
    dimensions: dict[str, tuple[SemanticModel, Dimension]] = field(repr=False)
    measures: dict[str, tuple[SemanticModel, Measure]] = field(repr=False)

    @classmethod
    def of(cls, layer: SemanticLayer) -> "Catalog":
        models = {model.name: model for model in layer.semantic_models}
        dimensions = {f"{m.name}.{d.name}": (m, d) for m in layer.semantic_models for d in m.dimensions}
        measures = {f"{m.name}.{item.name}": (m, item) for m in layer.semantic_models for item in m.measures}
        return cls(layer, models, dimensions, measures)

    @cached_property
    def joins(self) -> Joins:
        return Joins(self.layer)

    def model(self, name: str) -> SemanticModel:
        if name not in self.models:
            raise Inexpressible(_("There is no table called %(name)s.") % {"name": name})
        return self.models[name]

    def dimension(self, name: str) -> tuple[SemanticModel, Dimension]:
        if name not in self.dimensions:
            raise Inexpressible(_("There is no dimension called %(name)s.") % {"name": name})
        return self.dimensions[name]

    def measure(self, name: str) -> tuple[SemanticModel, Measure]:
        if name not in self.measures:
            raise Inexpressible(_("There is no measure called %(name)s.") % {"name": name})
        return self.measures[name]

    def unit(self, name: str) -> str:
        """Return the unit of a measure or a dimension; "" for none, and for anything else."""
        found = self.measures.get(name) or self.dimensions.get(name)
        return found[1].unit if found else ""
