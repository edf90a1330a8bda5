"""The page that shows what a change would do to whom, and asks whether to save it."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse

from authz.admin_pages import show
from authz.impact import Effects
from knowledge.governance.effective_rights import titles

MOST_TITLES = 30  # of documents


def show_effects(
    request: HttpRequest, effects: Effects, context: Mapping[str, Any], *, fields: Iterable[str]
) -> HttpResponse:
    """The change once more, as hidden fields, with whom it touches.

    context: title, way ((address, name) above), back and back_name, action (where the change is posted again), asked or sentence.
    fields: names of the form that was posted.
    """
    shown = {"gained": effects.gained_documents, "lost": effects.lost_documents}
    return show(
        request,
        "admin/rights/confirm.html",
        {
            **context,
            "effects": effects,
            "titles": {name: titles(ids, most=MOST_TITLES) for name, ids in shown.items()},
            "fields": [(name, value) for name in fields for value in request.POST.getlist(name)],
            "is_again": "confirmed" in request.POST,
        },
    )
