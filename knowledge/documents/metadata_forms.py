"""Forms over the fields of a base: the fields themselves, the values of a document, and what a list is narrowed to."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from django import forms
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _

from knowledge.models import Document, DocumentField, FieldKind
from knowledge.retrieval.conditions import FieldCondition
from knowledge.services.fields import FieldSpec
from knowledge.stated_fields import NAME_LENGTH, VALUE_LENGTH

DATE = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
_BOUNDS = {"at_least": _("%(field)s from"), "at_most": _("%(field)s to")}


class FieldForm(forms.Form):
    """One field of a base. choices: one a line."""

    name = forms.CharField(label=_("Name"), max_length=NAME_LENGTH, required=False)
    kind = forms.ChoiceField(label=_("Kind"), choices=FieldKind.choices)
    choices = forms.CharField(
        label=_("Choices, one per line"),
        required=False,
        max_length=5_000,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    @property
    def spec(self) -> FieldSpec:
        given = self.cleaned_data
        return FieldSpec(given["name"], FieldKind(given["kind"]), tuple(given["choices"].splitlines()))


class ValuesForm(forms.Form):
    """A document's values for the fields of its base; form fields are named by position, not by name."""

    def __init__(self, *args: Any, of: Sequence[DocumentField], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._of = of
        for place, field in enumerate(of):
            self.fields[f"field_{place}"] = _build_value_field(field, field.name)

    @property
    def values(self) -> dict[str, Any]:
        return {field.name: self.cleaned_data[f"field_{place}"] for place, field in enumerate(self._of)}


def build_initial_values(fields: Sequence[DocumentField], metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the initial values of a ValuesForm."""
    return {f"field_{place}": metadata.get(field.name) for place, field in enumerate(fields)}


def format_metadata(fields: Sequence[DocumentField], document: Document) -> list[tuple[str, Any]]:
    """Return each field with the document's value, as people write it; "" for none."""
    return [(field.name, _format_field_value(field, document.metadata.get(field.name, ""))) for field in fields]


def build_filter_fields(fields: Sequence[DocumentField]) -> Iterator[tuple[str, forms.Field]]:
    """Return names and fields of a filter form: part of a text, a choice, or two bounds."""
    for place, field in enumerate(fields):
        if field.kind in (FieldKind.NUMBER, FieldKind.DATE):
            for bound, label in _BOUNDS.items():
                yield f"field_{place}_{bound}", _build_value_field(field, label % {"field": field.name})
        else:
            yield f"field_{place}", _build_value_field(field, field.name)


def read_filter_conditions(fields: Sequence[DocumentField], given: dict[str, Any]) -> tuple[FieldCondition, ...]:
    """Return the values entered in such a form."""
    found = []
    for place, field in enumerate(fields):
        bounds = {bound: _serialise_value(given.get(f"field_{place}_{bound}")) for bound in _BOUNDS}
        value = given.get(f"field_{place}") or None
        if field.kind == FieldKind.CHOICE:
            found.append(FieldCondition(field.name, equals=value))
        elif field.kind == FieldKind.TEXT:
            found.append(FieldCondition(field.name, contains=value or ""))
        else:
            found.append(FieldCondition(field.name, **bounds))
    return tuple(item for item in found if item != FieldCondition(item.field))


def _format_field_value(field: DocumentField, value: Any) -> Any:
    return (
        date_format(date.fromisoformat(value), "SHORT_DATE_FORMAT") if field.kind == FieldKind.DATE and value else value
    )


def _serialise_value(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _build_value_field(field: DocumentField, label: str) -> forms.Field:
    if field.kind == FieldKind.CHOICE:
        return forms.ChoiceField(
            label=label, required=False, choices=[("", "–"), *((choice, choice) for choice in field.choices)]
        )
    if field.kind == FieldKind.DATE:
        return forms.DateField(label=label, required=False, widget=DATE)
    if field.kind == FieldKind.NUMBER:
        return forms.FloatField(label=label, required=False, widget=forms.NumberInput(attrs={"step": "any"}))
    return forms.CharField(label=label, required=False, max_length=VALUE_LENGTH)
