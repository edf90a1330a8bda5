"""Who reads the rows of the tables that a draft describes: asked beside each table, and written into it when it is taken over."""

from collections.abc import Iterable, Iterator

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from business.semantic_layer.model import OrgUnit, SemanticModel
from business.table_forms import BY_COLUMN, CLOSED, WHO, org_unit_of

PREFIX = "who-"


class ReadersForm(forms.Form):
    """A choice for each of these tables: whom the draft proposes, nobody where it found no column of org units.

    for_all: one choice for all of them instead.
    """

    for_all = forms.ChoiceField(
        label=gettext_lazy("Who reads the rows of all of these"),
        choices=(("", gettext_lazy("as it stands beside each table")), *(one for one in WHO if one[0] != BY_COLUMN)),
        required=False,
    )

    def __init__(self, data: QueryDict | None, models: Iterable[SemanticModel]) -> None:
        super().__init__(data)
        self.models = list(models)
        for model in self.models:
            self.fields[PREFIX + model.name] = forms.ChoiceField(
                label=_("Who reads the rows of %(table)s") % {"table": model.full_name},
                choices=_choices(model),
                initial=_proposed(model.org_unit),
                required=False,
            )

    def opened(self, *, at_once: bool) -> list[SemanticModel]:
        """The tables with the readers that were chosen; as the draft has them where nothing, or nothing that there is, was chosen.

        at_once: what was chosen for all of them counts.
        """
        self.is_valid()
        for_all = self.cleaned_data.get("for_all", "") if at_once else ""
        return [_opened(model, for_all or self.cleaned_data.get(PREFIX + model.name, "")) for model in self.models]

    def of_tables(self) -> Iterator[tuple[SemanticModel, forms.BoundField]]:
        for model in self.models:
            yield model, self[PREFIX + model.name]


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
    said = org_unit_of(key, column)
    return model.model_copy(update={"org_unit": OrgUnit.model_validate(said) if said else None})
