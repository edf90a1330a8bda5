"""Serializers of API input: typed fields, and no unknown names."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar

from django.core.validators import MaxValueValidator
from django.utils.translation import gettext as _
from rest_framework import serializers

from copilot_site.lib.http.pagination import CappedCursor, CappedOffsets, CappedPagination

MAX = 2**31 - 1  # what an integer column holds
MAX_NAMED = 20  # choices in one sentence; who wants more of them reads the reference


class Input(serializers.Serializer[Any]):
    """A body or a query string. An unknown name is refused: a misspelt filter must not mean "everything"."""

    read_elsewhere: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def checked(cls, data: Any) -> dict[str, Any]:
        """Return the typed values of a parsed body or query string; raises ValidationError, naming the field."""
        given = cls(data=data)
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        for field in fields.values():
            chosen = getattr(field, "child", field)
            if isinstance(field, serializers.IntegerField) and field.max_value is None:
                field.max_value = MAX
                field.validators.append(MaxValueValidator(MAX))
            if isinstance(chosen, serializers.ChoiceField):
                chosen.error_messages = {**chosen.error_messages, "invalid_choice": _format_choices(chosen)}
        return fields

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = set(data) - set(self.fields) - self.read_elsewhere
            if unknown:
                raise serializers.ValidationError(
                    {name: self._format_unknown_field(name) for name in sorted(unknown, key=str)}
                )
        return super().to_internal_value(data)

    def _format_unknown_field(self, name: object) -> str:
        known: Iterable[str] = sorted({*self.fields, *self.read_elsewhere})
        near = get_close_matches(str(name), known, n=1)
        if near:
            return _("There is no field “%(name)s”. Did you mean “%(near)s”?") % {"name": name, "near": near[0]}
        return _("There is no field “%(name)s”. Choose from: %(known)s.") % {
            "name": name,
            "known": ", ".join(known) or "-",
        }


class EmptyBody(Input):
    """A body without fields."""


class Filters(Input):
    """The query string of a list; what selects the page is read by the paginator, and only its own names are."""

    read_elsewhere = CappedPagination.reads


class OffsetFilters(Input):
    """`Filters` of a list in CappedOffsets."""

    read_elsewhere = CappedOffsets.reads


class CursorFilters(Input):
    """`Filters` of a list in CappedCursor."""

    read_elsewhere = CappedCursor.reads


def _format_choices(field: serializers.ChoiceField) -> str:
    """Return DRF's message for an invalid choice, with the choices; `{input}` is the value sent."""
    known = [str(choice) for choice in field.choices if choice != ""]
    if len(known) > MAX_NAMED:
        return _("“{input}” is not one of the choices. They are listed at /api/docs/.")
    return _("“{input}” is not one of the choices: %(known)s.") % {"known": ", ".join(known)}
