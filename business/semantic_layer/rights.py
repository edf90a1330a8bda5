"""Derive the policy for guard and sandbox from a layer and a person's org units."""

from collections.abc import Collection, Iterable

from django.utils.translation import gettext as _

from business.guard.policy import AllowedTable, TablePolicy, is_system_schema
from business.semantic_layer.model import SemanticLayer, SemanticModel
from copilot_site.lib.errors import InvalidInput


def policy_of(
    layer: SemanticLayer, units: Iterable[str], *, granted: Collection[str], source_granted: bool = False
) -> TablePolicy:
    """Return what a person of these org units may read.

    granted: names of semantic models the person holds a grant on; source_granted: they hold one on the source as a whole.
    A model without a statement about org units is closed to everybody.
    """
    names = tuple(sorted(units))
    reachable = (m for m in layer.semantic_models if may_read_table(m, granted=granted, source_granted=source_granted))
    return TablePolicy.of(_build_allowed_table(model, names) for model in reachable if model.columns)


def require_allowed_schemas(layer: SemanticLayer, schemas: Collection[str]) -> None:
    """Raise InvalidInput for the first table of a layer that is in none of the schemas its source allows."""
    for model in layer.semantic_models:
        if not is_in_allowed_schema(model, schemas):
            raise InvalidInput(
                _("The table %(table)s is in no schema that this data source allows: %(schemas)s.")
                % {"table": model.full_name, "schemas": ", ".join(schemas) or "—"}
            )


def is_in_allowed_schema(model: SemanticModel, schemas: Collection[str]) -> bool:
    """Return whether a table is in one of these schemas, and in none of the server's own, which nobody can allow."""
    return model.table_schema in schemas and not is_system_schema(model.table_schema)


def may_read_table(model: SemanticModel, *, granted: Collection[str], source_granted: bool) -> bool:
    """Return whether a person with these grants may ask about this model at all; which rows they get is another question."""
    if model.org_unit is None:
        return False
    if model.name in granted:
        return True
    return source_granted and model.org_unit.shared_with != "granted"


def _build_allowed_table(model: SemanticModel, units: tuple[str, ...]) -> AllowedTable:
    column = model.org_unit.column if model.org_unit else None
    key = tuple(entity.expr for entity in model.entities if entity.type == "primary")
    return AllowedTable(*model.place, model.columns, column, units if column else (), key)
