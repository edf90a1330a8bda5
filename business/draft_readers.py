"""Who reads the rows of the tables that a draft describes: asked beside the draft, and written into its text when it is saved."""

from collections.abc import Iterable

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _

from business.semantic_layer.model import OrgUnit, SemanticLayer, SemanticModel
from business.semantic_layer.yaml_io import read_layer, write_layer
from business.table_forms import BY_COLUMN, CLOSED, WHO
from copilot_site.lib.errors import InvalidInput

LAYER_FORM = "layer-form"  # id of the form with the text; the questions stand outside of it
PREFIX = "who-"


class ReadersForm(forms.Form):
    """A choice for each table that was not described before: whom the draft proposes, nobody where it found no column of org units."""

    def __init__(self, data: QueryDict | None, models: Iterable[SemanticModel]) -> None:
        super().__init__(data)
        for model in models:
            self.fields[PREFIX + model.name] = forms.ChoiceField(
                label=f"{model.table_schema}.{model.table}",
                choices=_choices(model),
                initial=_proposed(model.org_unit),
                required=False,
                widget=forms.Select(attrs={"form": LAYER_FORM}),
            )

    @classmethod
    def of_draft(cls, described: SemanticLayer, saved: SemanticLayer) -> "ReadersForm":
        known = {model.name for model in saved.semantic_models}
        return cls(None, [model for model in described.semantic_models if model.name not in known])


def with_readers(text: str, data: QueryDict) -> str:
    """The YAML text of a layer with what was chosen beside it; as it is where nothing was asked, or where it cannot be read."""
    try:
        layer = read_layer(text) if any(name.startswith(PREFIX) for name in data) else None
    except InvalidInput:  # whoever saves it says what is wrong
        layer = None
    if layer is None:
        return text
    form = ReadersForm(data, [model for model in layer.semantic_models if PREFIX + model.name in data])
    form.is_valid()
    models = (_opened(model, form.cleaned_data.get(PREFIX + model.name, "")) for model in layer.semantic_models)
    answered = layer.model_copy(update={"semantic_models": tuple(models)})
    return text if answered == layer else write_layer(answered)


def _choices(model: SemanticModel) -> list[tuple[str, str]]:
    said = [(key, str(words)) for key, words in WHO if key != BY_COLUMN]
    by_column = _("each the rows of their org units, by the column %(name)s")
    return [*said, *((f"{BY_COLUMN}:{name}", by_column % {"name": name}) for name in model.columns)]


def _proposed(unit: OrgUnit | None) -> str:
    if unit is None:
        return CLOSED
    return unit.shared_with or f"{BY_COLUMN}:{unit.column}"


def _opened(model: SemanticModel, chosen: str) -> SemanticModel:
    """The table with the chosen readers; as it is where nothing, or nothing that there is, was chosen."""
    if not chosen:
        return model
    key, _colon, column = chosen.partition(":")
    said = {"column": column} if key == BY_COLUMN else {"shared_with": key}
    return model.model_copy(update={"org_unit": None if key == CLOSED else OrgUnit.model_validate(said)})
