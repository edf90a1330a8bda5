"""One table of a saved layer, as a part that is read, written and removed by itself."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import ValidationError

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from business.linking.vectors import fill_vectors_on_commit
from business.models import DataSource
from business.semantic_layer.model import SemanticLayer, SemanticModel
from business.semantic_layer.rights import require_allowed_schemas
from business.semantic_layer.yaml_io import read_table
from business.sources.checks import record_failures
from business.sources.grants import require_manager
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound


def find_table_with_version(source: DataSource, name: str) -> tuple[SemanticModel, str]:
    """Return a table of the saved layer, and its version: equal as long as nobody saves another. Raises NotFound."""
    part = source.layer.get("semantic_models", [])[_find_table_index(source, name)]
    return SemanticModel.model_validate(part), _compute_version(part)


def filter_tables_by_text(models: Iterable[SemanticModel], text: str) -> list[SemanticModel]:
    """Return those of these tables that have a text in a name, a label, a synonym or a column's name; all for none."""
    wanted = text.casefold().strip()
    return [model for model in models if not wanted or any(wanted in word for word in _list_searchable_words(model))]


def save_table(by: Principal | None, source: DataSource, name: str, text: str, *, version: str) -> None:
    """Write one table of a layer from its YAML. Raises InvalidInput with the line, and what `save_model` raises."""
    with record_failures(by, source.name):
        save_model(by, source, name, read_table(text), version=version)


@transaction.atomic
def save_model(by: Principal | None, source: DataSource, name: str, model: SemanticModel, *, version: str) -> None:
    """Write one table of a layer; every other stays as it is stored.

    Raises InvalidInput for what does not fit into the layer, NotFound, and Conflict where somebody has saved this table since the
    version.
    """
    if model.name != name:
        raise InvalidInput(_("The table is called %(name)s: rights on it are given by this name.") % {"name": name})
    locked = _lock_source(by, source, name, version)
    part = model.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    locked.layer["semantic_models"][_find_table_index(locked, name)] = part
    _save_layer(by, locked, name)


@transaction.atomic
def remove_table(by: Principal | None, source: DataSource, name: str, *, version: str) -> None:
    """Take one table out of a layer: nobody may ask about it any more. Raises NotFound, Conflict."""
    locked = _lock_source(by, source, name, version)
    del locked.layer["semantic_models"][_find_table_index(locked, name)]
    _save_layer(by, locked, name)


def _lock_source(by: Principal | None, source: DataSource, name: str, version: str) -> DataSource:
    """Return the row, locked, where its table still is of the version."""
    require_manager(by, source)
    locked = DataSource.unscoped.select_for_update().get(pk=source.pk)
    if _compute_version(locked.layer["semantic_models"][_find_table_index(locked, name)]) != version:
        raise Conflict(
            _("Someone has saved the table %(name)s since you opened it. Open it again and add your changes.")
            % {"name": name}
        )
    return locked


def _save_layer(by: Principal | None, source: DataSource, name: str) -> None:
    """Raise InvalidInput where the layer as a whole is none any more."""
    try:
        layer = SemanticLayer.model_validate(source.layer)
    except ValidationError as error:
        raise InvalidInput(error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")) from error
    require_allowed_schemas(layer, source.schemas)
    source.save(update_fields=["layer", "changed_at"])
    record_action(by, Action.SETTING_CHANGED, source, detail={"tables": len(layer.semantic_models), "table": name})
    fill_vectors_on_commit(source.pk)


def _find_table_index(source: DataSource, name: str) -> int:
    parts = source.layer.get("semantic_models", [])
    place = next((place for place, part in enumerate(parts) if part["name"] == name), None)
    if place is None:
        raise NotFound(_("The source has no table %(table)s.") % {"table": name})
    return place


def _compute_version(part: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()[:24]


def _list_searchable_words(model: SemanticModel) -> list[str]:
    columns = [one.name for one in (*model.dimensions, *model.measures)]
    return [word.casefold() for word in (model.table, model.full_name, *model.words(), *columns)]
