"""The form of a source: its schedule and the settings of its kind."""

from collections.abc import Iterable
from typing import Any, get_args, get_origin

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic.fields import FieldInfo

from copilot_site.lib.errors import InvalidInput
from knowledge.models import Every, KnowledgeBase, Source
from knowledge.sources.base import find_field_labels
from knowledge.sources.reading import find_connector_type, validate_settings
from knowledge.sources.services import FIELDS

LONGEST = 2_000  # characters of one setting


class SourceForm(forms.ModelForm[Source]):
    """Fields of the settings are called `set_` and their name. base, path: of a new source alone; a source keeps its folder."""

    base = forms.ModelChoiceField(
        queryset=KnowledgeBase.unscoped.none(), label=gettext_lazy("Knowledge base"), empty_label=None
    )
    path = forms.CharField(
        label=gettext_lazy("Folder"),
        max_length=LONGEST,
        help_text=gettext_lazy("The folder that the source fills, like Handbook or A/B. It is created if missing."),
    )

    class Meta:
        model = Source
        fields = FIELDS
        widgets = {
            name: forms.TimeInput(attrs={"type": "time"}, format="%H:%M")
            for name in ("at", "quiet_from", "quiet_until")
        }

    def __init__(self, data: Any, *, instance: Source, bases: QuerySet[KnowledgeBase] | None = None) -> None:
        super().__init__(data, instance=instance)
        connector = find_connector_type(instance.kind)
        self._settings = connector.wants.model_fields
        for name, field in self._settings.items():
            self.fields[f"set_{name}"] = _build_form_field(field, instance.settings.get(name))
        if connector.secret_label:
            self.fields["secret"] = forms.CharField(
                label=connector.secret_label,
                required=False,
                max_length=LONGEST,
                widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "off"}),
                help_text=_(
                    "Stored encrypted, for this address only. Leave empty to keep the stored one while the address stays the same."
                ),
            )
        if not connector.takes_rights:
            del self.fields["takes_rights"]
        if bases is None:
            del self.fields["base"], self.fields["path"]
        else:
            self.fields["base"].queryset = bases  # type: ignore[attr-defined]
        self.order_fields(["name", "base", "path", *(f"set_{name}" for name in self._settings), "secret"])

    def clean_every_minutes(self) -> int:
        return Every(self.cleaned_data["every_minutes"])

    def clean(self) -> dict[str, Any]:
        """Return the settings as their kind reads them; a quiet time has two ends."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if (given.get("quiet_from") is None) != (given.get("quiet_until") is None):
            raise ValidationError(_("Quiet hours have a beginning and an end: give both, or none."))
        if not self.errors:
            settings = {name: _parse_value(field, given.get(f"set_{name}")) for name, field in self._settings.items()}
            try:
                self.instance.settings = validate_settings(self.instance.kind, settings).model_dump(mode="json")
            except InvalidInput as error:
                raise ValidationError(str(error)) from error
        return given

    @property
    def parts(self) -> list[tuple[str, list[forms.BoundField], bool]]:
        """Return the fields in groups: a heading, its fields, and whether the group is collapsed at first."""
        when = ("is_active", "every_minutes", "at", "quiet_from", "quiet_until", "most_per_minute")
        parts = (
            (_("What is read"), ("name", *(f"set_{name}" for name in self._settings), "secret"), False),
            (_("The folder that it fills"), ("base", "path"), False),
            (_("When it is read, and how fast"), when, True),
            (_("Removed pages, and rights"), ("grace_hours", "takes_rights"), True),
        )
        found = ((title, [self[name] for name in names if name in self.fields], folds) for title, names, folds in parts)
        return [
            (title, fields, folds and not any(f.errors for f in fields)) for title, fields, folds in found if fields
        ]

    @property
    def secret(self) -> str:
        return str(self.cleaned_data.get("secret", ""))


def _build_form_field(field: FieldInfo, value: Any) -> forms.Field:
    label, about = find_field_labels(field)
    given: dict[str, Any] = {"label": capfirst(label), "help_text": about, "required": field.is_required()}
    default = field.get_default(call_default_factory=True) if not field.is_required() else None
    given["initial"] = default if value is None else value
    if field.annotation is bool:
        return forms.BooleanField(**given)
    if field.annotation is int:
        return forms.IntegerField(**given)
    if _is_list_field(field):
        given["initial"] = "\n".join(str(item) for item in given["initial"] or ())
        return forms.CharField(**given, max_length=LONGEST * 10, widget=forms.Textarea(attrs={"rows": 3}))
    if choices := _list_choices(field):
        return forms.ChoiceField(**given, choices=[(choice, find_choice_label(field, choice)) for choice in choices])
    return forms.CharField(**given, max_length=LONGEST)


def find_choice_label(field: FieldInfo, value: str) -> Any:
    extra: Any = field.json_schema_extra
    return extra.get("choices", {}).get(value, value)


def _parse_value(field: FieldInfo, given: Any) -> Any:
    if _is_list_field(field):
        lines: Iterable[str] = (given or "").splitlines()
        return [line.strip() for line in lines if line.strip()]
    return given


def _is_list_field(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is list


def _list_choices(field: FieldInfo) -> tuple[str, ...]:
    return tuple(argument for argument in get_args(field.annotation) if isinstance(argument, str))
