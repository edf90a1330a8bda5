"""Columns that hold one line. Values are folded when written and when read, for older rows and those written past Django."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.expressions import Col, Combinable
from django.utils.functional import cached_property

from copilot_site.lib.text.one_line import fold_to_one_line

if TYPE_CHECKING:
    _Field = models.Field[str | Combinable, str]
    _Char = models.CharField[str | Combinable, str]
    _Text = models.TextField[str | Combinable, str]
else:
    _Field, _Char, _Text = models.Field, models.CharField, models.TextField


class _OneLine(_Field):
    """To migrations it is a plain column. Look-ups compare stored values: folding never makes two names equal."""

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:  # Django's signature
        value = _fold_value(super().pre_save(model_instance, add))
        setattr(model_instance, self.attname, value)
        return value

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        return super().get_db_prep_save(_fold_value(value), connection)

    def from_db_value(self, value: Any, _expression: Any, _connection: Any) -> Any:
        return _fold_value(value)

    @cached_property
    def cached_col(self) -> Col:
        return Col(self.model._meta.db_table, self, self._plain)

    def get_col(self, alias: str, output_field: Any = None) -> Col:
        """Return a column of plain text for expressions, which refuse mixed types; values read are still folded."""
        if output_field is None and alias == self.model._meta.db_table:
            return self.cached_col
        return Col(alias, self, output_field or self._plain)

    @cached_property
    def _plain(self) -> models.CharField[Any, Any] | models.TextField[Any, Any]:
        return (
            models.CharField(max_length=self.max_length) if isinstance(self, models.CharField) else models.TextField()
        )

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        name, _path, args, kwargs = super().deconstruct()
        plain = "CharField" if isinstance(self, models.CharField) else "TextField"
        return name, f"django.db.models.{plain}", args, kwargs


class LineField(_OneLine, _Char):
    """A CharField of one line."""


class LongLineField(_OneLine, _Text):
    """A TextField of one line."""


def fold_columns_to_one_line(model: type[models.Model], *names: str) -> None:
    """Fold columns of a foreign model to one line."""
    for name in names:
        model._meta.get_field(name).__class__ = LineField


def _fold_value(value: Any) -> Any:
    return fold_to_one_line(value) if isinstance(value, str) else value
