"""Pages for reviewing rights: why somebody sees something, folders by groups, and the export of effective access."""

from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from audit.actions import Action
from audit.record import record
from authz.admin_pages import admin_page, show
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound
from copilot_site.lib.spreadsheets import CsvDownload
from knowledge.governance.explanations import explain_rights, right_named, seen_inside
from knowledge.governance.lookup import governed_place, holder_names, user_named
from knowledge.governance.review import effective_access, matrix
from knowledge.governance.scope import governed_places
from knowledge.governance.standing import bases_of
from knowledge.models import KnowledgeBase

MOST_ROWS = 500  # places of a matrix; the export has all


@require_GET
@admin_page
def why(request: HttpRequest, principal: Principal, kind: str, place_id: UUID) -> HttpResponseBase:
    """`?user=` is a sign-in name, `?right=` one of the five; without a person the page asks for one."""
    place = governed_place(principal, kind, place_id)
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


@require_GET
@admin_page
def rights_matrix(request: HttpRequest, principal: Principal, base_id: UUID) -> HttpResponseBase:
    """Folders down, groups across."""
    shown = governed_places(principal)
    base = bases_of(shown).filter(pk=base_id).first()
    if base is None:
        raise NotFound(_("There is no such knowledge base, or you manage nothing in it."))
    context = {
        "title": _("Folders and groups of “%(name)s”") % {"name": base},
        "base": base,
        "matrix": matrix(base.pk, set(shown), most_rows=MOST_ROWS),
    }
    return show(request, "admin/rights/matrix.html", context)


@require_GET
@admin_page
def export(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Everybody's effective access as CSV; `?base=` narrows it to one knowledge base."""
    shown = governed_places(principal)
    asked = request.GET.get("base")
    chosen = [pk for pk in bases_of(shown).values_list("pk", flat=True) if asked in {None, "", str(pk)}]
    if not chosen:
        raise NotFound(_("There is no such knowledge base, or you manage nothing in it."))
    record(principal, Action.ACCESS_EXPORTED, detail={"knowledge_bases": [str(pk) for pk in chosen]})
    filename = f"effective-access-{timezone.localdate():%Y-%m-%d}.csv"
    return CsvDownload(effective_access(chosen, set(shown)), filename=filename)
