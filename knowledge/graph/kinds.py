"""Kinds of entities and relations that are found without a model, and how people read them."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

DOCUMENT = "document"
TERM = "term"
CODE = "code"
PERSON = "person"
UNIT = "unit"
ENTRY = "entry"  # what a row of a table is about
VALUE = "value"  # what a cell beside it says

REFERS_TO = "refers_to"
DEFINES = "defines"
ALSO_CALLED = "also_called"

LABELS: Mapping[str, str | Promise] = {
    DOCUMENT: _("document"),
    TERM: _("term"),
    CODE: _("code"),
    PERSON: _("person"),
    UNIT: pgettext_lazy("of an organisation", "unit"),
    ENTRY: _("entry of a table"),
    VALUE: _("value"),
    REFERS_TO: _("refers to"),
    DEFINES: _("defines"),
    ALSO_CALLED: _("is also called"),
}


def label_of(kind: str) -> str:
    """Return a kind as people read it: ours in their language, a column's heading or a type of a base as it is written."""
    return str(LABELS.get(kind, kind))
