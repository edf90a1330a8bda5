"""Pages for reviewing rights: why somebody sees something, folders by groups, and the export of effective access."""

from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from authz.admin_pages import admin_page, show
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.spreadsheets import CsvDownload
from knowledge.governance.explanations import explain_rights, right_named, seen_inside
from knowledge.governance.parameters import holder_names, reviewed_place, user_named
from knowledge.governance.review import export_access, reviewed_matrix
from knowledge.models import KnowledgeBase


@require_safe
@admin_page
def why(request: HttpRequest, principal: Principal, kind: str, place_id: UUID) -> HttpResponseBase:
    """`?user=` is a sign-in name, `?right=` one of the five; without a person the page asks for one."""
    place = reviewed_place(principal, kind, place_id)
    asked = request.GET.get("user", "")
    context: dict[str, object] = {
        "title": _("Why can somebody see “%(name)s”?") % {"name": place},
        "place": place,
        "kind": kind,
        "names": holder_names(),
        "asked": asked,
    }
    if not asked:
        return show(request, "admin/rights/why.html", context)
    try:
        right = right_named(request.GET.get("right", Right.VIEW.value))
        user = user_named(asked)
    except InvalidInput as problem:
        return show(request, "admin/rights/why.html", context | {"problem": str(problem)}, status=400)
    found = explain_rights(principal, user, place)
    context |= {"found": found, "chosen": next(each for each in found if each.right is right), "user_asked": user}
    if isinstance(place, KnowledgeBase) and right is Right.VIEW:
        context["inside"] = sorted(seen_inside(user, place))
    return show(request, "admin/rights/why.html", context)


@require_safe
@admin_page
def rights_matrix(request: HttpRequest, principal: Principal, base_id: UUID) -> HttpResponseBase:
    """Folders down, groups across."""
    base, found = reviewed_matrix(principal, base_id)
    title = _("Folders and groups of “%(name)s”") % {"name": base}
    return show(request, "admin/rights/matrix.html", {"title": title, "base": base, "matrix": found})


@require_safe
@admin_page
def export(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Everybody's effective access as CSV; `?base=` narrows it to one knowledge base."""
    rows, filename = export_access(principal, _base_id(request.GET.get("base", "")))
    return CsvDownload(rows, filename=filename)


def _base_id(text: str) -> UUID | None:
    """What is no id names a knowledge base that is not there."""
    try:
        return UUID(text) if text else None
    except ValueError:
        return UUID(int=0)
