"""Look up the titles of documents that entries name by id: as of now, or as their removal recorded them."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any
from uuid import UUID

from django.apps import apps
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.models import Entry

Titles = Callable[[Collection[UUID]], Mapping[UUID, str]]
_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
DOCUMENT = re.compile(
    rf"(?:doc:)?({_ID})(?::chunk_(\d+):\w+)?"
)  # an id alone, or of evidence: `doc:<id>:chunk_0007:1a2b3c4d`
LISTS = ("cited", "documents", "evidence")  # of an entry's detail, the ones of what was quoted first
_titles: list[Titles] = []


def register_title_lookup(titles: Titles) -> None:
    """Register the function that knows the titles of documents; the app that has them calls this when it is loaded."""
    _titles[:] = [titles]


def find_document_titles(ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return a title for each document, with two queries for any number; "deleted document" where nothing is known any more."""
    wanted = set(ids)
    found = {pk: title for titles in _titles if wanted for pk, title in titles(wanted).items()}
    if gone := wanted - found.keys():
        removed = Entry.objects.filter(action=Action.DOCUMENT_DELETED, target_id__in=map(str, gone))
        for pk, title in removed.values_list("target_id", "target_name"):
            if title and title != pk:  # a file of a conversation is recorded by its id
                found[UUID(pk)] = _("%(title)s (deleted)") % {"title": title}
    return {pk: found.get(pk) or _("deleted document") for pk in wanted}


def list_named_documents(entry: Entry) -> list[UUID]:
    """Return the documents that an entry names besides its target, each once, quoted ones first."""
    values = [value for name in LISTS for value in _read_text_list(entry.detail, name)]
    return list(dict.fromkeys(UUID(match[1]) for value in values if (match := DOCUMENT.fullmatch(value))))


def format_detail_value(value: Any, titles: Mapping[UUID, str]) -> str:
    """Return a value of an entry's list with the title in place of a document's id: `Leave · passage 3`."""
    match = DOCUMENT.fullmatch(value) if isinstance(value, str) else None
    title = titles.get(UUID(match[1])) if match else None
    if not match or not title:
        return str(value)
    return _("%(title)s · passage %(n)s") % {"title": title, "n": int(match[2]) + 1} if match[2] else title


def format_target(entry: Entry, titles: Mapping[UUID, str]) -> str:
    """Return an entry's target for a list: its name; where that is a bare id or missing, the documents or the kind of thing."""
    name = entry.target_name
    if name and not re.fullmatch(_ID, name):
        return name
    named = [titles[pk] for pk in list_named_documents(entry) if pk in titles]
    if named:
        return ", ".join(named[:2]) + (f" +{len(named) - 2}" if len(named) > 2 else "")
    kind = _list_kind_names().get(entry.target_type, "")
    return str(kind or entry.detail.get("tool") or (f"{name[:8]}…" if name else "–"))


def _read_text_list(detail: Mapping[str, Any], name: str) -> list[str]:
    values = detail.get(name)
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


@cache
def _list_kind_names() -> dict[str, Any]:
    """Return the name of each kind of row, translated when it is shown; ours where Django has one of the same name (`session`)."""
    models = sorted(apps.get_models(), key=lambda model: not model.__module__.startswith("django."))
    return {str(model._meta.model_name): model._meta.verbose_name for model in models}
