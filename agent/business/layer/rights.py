"""From a layer and a person's org units to the policy that the guard and the wall are made from."""

from collections.abc import Collection, Iterable

from agent.business.guard.policy import AllowedTable, Policy
from agent.business.layer.model import SemanticLayer, SemanticModel


def policy_of(
    layer: SemanticLayer, units: Iterable[str], *, granted: Collection[str], source_granted: bool = False
) -> Policy:
    """What a person of these org units may read.

    granted: names of semantic models the person holds a grant on; source_granted: they hold one on the source as a whole.
    A model without a statement about org units is closed to everybody.
    """
    names = tuple(sorted(units))
    reachable = (m for m in layer.semantic_models if may_read(m, granted=granted, source_granted=source_granted))
    return Policy.of(_allowed(model, names) for model in reachable if model.columns)


def may_read(model: SemanticModel, *, granted: Collection[str], source_granted: bool) -> bool:
    """Whether a person with these grants may ask about this model at all; which rows they get is another question."""
    if model.org_unit is None:
        return False
    if model.name in granted:
        return True
    return source_granted and model.org_unit.shared_with != "granted"


def _allowed(model: SemanticModel, units: tuple[str, ...]) -> AllowedTable:
    column = model.org_unit.column if model.org_unit else None
    key = tuple(entity.expr for entity in model.entities if entity.type == "primary")
    return AllowedTable(model.table_schema, model.table, model.columns, column, units if column else (), key)
