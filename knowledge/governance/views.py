"""Pages of rights: the tree, one place, several documents, reasons for access, the matrix, and the export."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from authz.admin_pages import admin_page, render_admin_page
from authz.explanations.decision_reasons import Rulebook
from authz.explanations.explain import Explanation, explain_decision
from authz.explanations.impact import Effects
from authz.people.groups import PersonHolders
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows
from authz.tokens.api_tokens import count_valid_tokens
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from copilot_site.lib.http.forms import validate_form
from copilot_site.lib.text.spreadsheets import CsvDownload
from knowledge.governance import dry_run
from knowledge.governance.changes import ABOUT_A_HOLDER, ChangeForm, RightsChange, apply_place_change
from knowledge.governance.dry_run_admin import render_effects_page
from knowledge.governance.effective_rights import (
    base_id_of,
    find_governed_places,
    find_reviewed_places,
    list_bases_of_places,
    load_rights_tables,
    load_rulebook,
    node_id_of,
)
from knowledge.governance.parameters import (
    MODELS,
    NARROW,
    Place,
    find_governed_place,
    find_place_kind,
    find_reviewed_place,
    find_user_by_name,
    list_holder_names,
)
from knowledge.governance.review import (
    explain_rights,
    export_access,
    iterate_viewable_places,
    load_reviewed_matrix,
    parse_right,
    record_review,
    sort_places_in_tree,
)
from knowledge.governance.rights_tree import build_holdings, build_rights_tree, iterate_inherited_rows, list_place_rows
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.pages.forms import ChosenForm

MAX_PEOPLE = 200  # with access, on the page of a place; the export has all


@require_safe
@admin_page
def rights_tree(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show the tree of rights; `?base=` chooses a knowledge base, `?at=` a folder to begin at."""
    reviewed = find_reviewed_places(principal)
    bases = list(list_bases_of_places(reviewed))
    asked = request.GET.get("base", "")
    base = next((item for item in bases if str(item.pk) == asked), bases[0] if bases else None)
    context: dict[str, object] = {"title": _("Folders and rights"), "bases": bases, "base": base}
    if base is not None:
        record_review(principal, base)
        rules = load_rulebook([base.pk])
        mine = {pk for pk, base_id in reviewed.items() if base_id == base.pk}
        at = next((pk for pk in mine if str(pk) == request.GET.get("at", "")), None)
        tops = [at] if at else [pk for pk in mine if rules.places[pk].parent_id not in mine]
        context |= {
            "lines": build_rights_tree(rules, tops, shown=mine),
            "way": [item for item in reversed(rules.way(at)) if not item.is_root] if at else [],
        }
    return render_admin_page(request, "admin/rights/tree.html", context)


@require_safe
@admin_page
def place(request: HttpRequest, principal: Principal, kind: str, place_id: UUID) -> HttpResponseBase:
    """Show the grants and denials here, the inherited ones, and everybody's resulting rights."""
    row = find_reviewed_place(principal, kind, place_id)
    record_review(principal, row)
    return _render_place_page(request, principal, row)


@require_POST
@admin_page
def change(request: HttpRequest, principal: Principal, kind: str, place_id: UUID) -> HttpResponseBase:
    """Make a change, once its effects are shown and confirmed."""
    row = find_governed_place(principal, kind, place_id)
    form = ChangeForm(request.POST)
    try:
        asked = form.change()
        effects = apply_place_change(principal, row, asked, confirmed=request.POST.get("confirmed", ""))
    except (InvalidInput, Conflict) as problem:
        messages.error(request, str(problem))
        return _render_place_page(request, principal, row, form=form, status=400)
    if effects is not None:
        return _render_confirmation(request, row, asked, effects)
    messages.success(request, _("Saved."))
    return redirect("rights-place", kind, place_id)


@dataclass(frozen=True)
class PersonReach:
    """One person with what they may do at a place, and the row each right comes from."""

    person: PersonHolders
    rights: tuple[Explanation, ...]


def _render_place_page(
    request: HttpRequest, principal: Principal, row: Place, *, form: ChangeForm | None = None, status: int = 200
) -> HttpResponse:
    standing = load_rights_tables(base_id_of(row))
    rules, node_id = standing.rules, node_id_of(row)
    is_own = not (isinstance(row, Document) and node_id == row.folder_id)
    way = rules.way(node_id)
    reached = [reach for person in standing.people.values() if (reach := _build_reach(rules, person, node_id)).rights]
    context = {
        "title": _("Rights on “%(name)s”") % {"name": row},
        "place": row,
        "kind": find_place_kind(row),
        "may_change": filter_governed_rows(MODELS[find_place_kind(row)], principal).filter(pk=row.pk).exists(),
        "way": [item for item in reversed(way[1:] if is_own else way) if not item.is_root],
        "holdings": build_holdings(list_place_rows(rules, node_id)) if is_own else (),
        "from_above": list(iterate_inherited_rows(rules, node_id, way[1:] if is_own else way)),
        "inherits": rules.places[node_id].inherits or not is_own,
        "reached": reached[:MAX_PEOPLE],
        "reached_count": len(reached),
        "rights": list(Right),
        "names": list_holder_names(),
        "form": form,
        "tokens": count_valid_tokens(row.pk) if isinstance(row, Folder) else 0,
        "destinations": list(_iterate_destinations(principal, rules, row))
        if isinstance(row, Folder) and row.parent_id
        else (),
    }
    return render_admin_page(request, "admin/rights/place.html", context, status=status)


def _iterate_destinations(principal: Principal, rules: Rulebook, folder: Folder) -> Iterator[tuple[UUID, str]]:
    """Yield the governed folders of its base that a folder can be moved into, with their paths from the base."""
    mine = find_governed_places(principal)
    for place in sort_places_in_tree(rules):
        way = {item.id for item in rules.way(place.id)}
        if place.kind == "folder" and place.id in mine and folder.pk not in way and place.id != folder.parent_id:
            yield place.id, " › ".join(rules.names(place.id))


def _build_reach(rules: Rulebook, person: PersonHolders, node_id: UUID) -> PersonReach:
    decisions = (rules.decide(person, right, node_id) for right in Right)
    return PersonReach(person, tuple(explain_decision(decision) for decision in decisions if decision.is_allowed))


def _format_new_parent_path(row: Place, asked: RightsChange) -> str:
    """Return the path of a folder's new parent, from the base; nothing for other changes."""
    if not isinstance(row, Folder) or asked.parent_id is None:
        return ""
    return " › ".join(load_rulebook([row.knowledge_base_id]).names(asked.parent_id))


def _render_confirmation(request: HttpRequest, row: Place, asked: RightsChange, effects: Effects) -> HttpResponse:
    """Show the change for confirmation, as hidden fields, with its effects."""
    context = {
        "title": _("Review the change of rights on “%(name)s”") % {"name": row},
        "way": [(reverse("rights-tree"), _("Folders and rights"))],
        "back": reverse("rights-place", args=[find_place_kind(row), row.pk]),
        "back_name": str(row),
        "action": reverse("rights-change", args=[find_place_kind(row), row.pk]),
        "asked": asked,
        "towards": _format_new_parent_path(row, asked),
    }
    return render_effects_page(request, effects, context, fields=ChangeForm.base_fields)


@require_safe
@admin_page
def why(request: HttpRequest, principal: Principal, kind: str, place_id: UUID) -> HttpResponseBase:
    """Explain a person's rights: `?user=` is a sign-in name, `?right=` one of the five; without a person the page asks for one."""
    place = find_reviewed_place(principal, kind, place_id)
    asked = request.GET.get("user", "")
    context: dict[str, object] = {
        "title": _("Why can someone see “%(name)s”?") % {"name": place},
        "place": place,
        "kind": kind,
        "names": list_holder_names(),
        "asked": asked,
    }
    if not asked:
        return render_admin_page(request, "admin/rights/why.html", context)
    try:
        right = parse_right(request.GET.get("right", Right.VIEW.value))
        user = find_user_by_name(asked)
    except InvalidInput as problem:
        return render_admin_page(request, "admin/rights/why.html", context | {"problem": str(problem)}, status=400)
    found = explain_rights(principal, user, place)
    context |= {"found": found, "chosen": next(item for item in found if item.right is right), "user_asked": user}
    if isinstance(place, KnowledgeBase) and right is Right.VIEW:
        context["inside"] = sorted(iterate_viewable_places(user, place))
    return render_admin_page(request, "admin/rights/why.html", context)


@require_safe
@admin_page
def rights_matrix(request: HttpRequest, principal: Principal, base_id: UUID) -> HttpResponseBase:
    """Show rights as a table: folders down, groups across."""
    base, found = load_reviewed_matrix(principal, base_id)
    title = _("Folders and groups of “%(name)s”") % {"name": base}
    return render_admin_page(request, "admin/rights/matrix.html", {"title": title, "base": base, "matrix": found})


@require_safe
@admin_page
def export(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Export everybody's effective access as CSV; `?base=` narrows it to one knowledge base."""
    rows, filename = export_access(principal, _parse_base_id(request.GET.get("base", "")))
    return CsvDownload(rows, filename=filename)


def _parse_base_id(text: str) -> UUID | None:
    """Read the id of a knowledge base. An invalid one becomes an id that does not exist."""
    try:
        return UUID(text) if text else None
    except ValueError:
        return UUID(int=0)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def several(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Change rights of several `documents` (ids). Those that this person does not govern are counted and skipped.

    Raises InvalidInput (no ids), NotFound (none of them is governed).
    """
    ids: list[UUID] = validate_form(ChosenForm(request.POST if request.method == "POST" else request.GET))["documents"]
    rows = list(
        filter_governed_rows(Document, principal)
        .filter(pk__in=ids, **NARROW[Document])
        .select_related("knowledge_base")
    )
    if not rows:
        raise NotFound(_("There is no such document, or others manage its rights."))
    if request.method != "POST":
        return _render_documents_page(request, rows, left_out=len(ids) - len(rows))
    form = ChangeForm(request.POST)
    try:
        asked = form.change()
        effects = _apply_to_documents(principal, rows, asked, confirmed=request.POST.get("confirmed", ""))
    except (InvalidInput, Conflict) as problem:
        messages.error(request, str(problem))
        return _render_documents_page(request, rows, left_out=len(ids) - len(rows), form=form, status=400)
    if effects is not None:
        return _render_documents_confirmation(request, rows, asked, effects)
    done = ngettext("Done for one document: %(what)s.", "Done for %(n)d documents: %(what)s.", len(rows))
    messages.success(request, done % {"n": len(rows), "what": asked.what.label})
    return redirect(_build_documents_url(rows))


def _apply_to_documents(
    by: Principal, rows: Sequence[Document], asked: RightsChange, *, confirmed: str
) -> Effects | None:
    if asked.what not in ABOUT_A_HOLDER:
        raise InvalidInput(_("Change this on each document separately."))

    def make() -> None:
        for row in rows:
            asked.apply(by, row)

    bases = {row.knowledge_base_id for row in rows}
    return dry_run.apply_confirmed_change(
        by, make, what=asked.what.value, target=None, base_ids=bases, confirmed=confirmed, asks_always=True
    )


def _render_documents_page(
    request: HttpRequest, rows: Sequence[Document], *, left_out: int, form: ChangeForm | None = None, status: int = 200
) -> HttpResponse:
    context = {
        "title": _("Rights on several documents"),
        "documents": rows,
        "left_out": left_out,
        "rights": list(Right),
        "names": list_holder_names(),
        "form": form,
    }
    return render_admin_page(request, "admin/rights/several.html", context, status=status)


def _render_documents_confirmation(
    request: HttpRequest, rows: Sequence[Document], asked: RightsChange, effects: Effects
) -> HttpResponse:
    count = ngettext("one document", "%(n)d documents", len(rows)) % {"n": len(rows)}
    context = {
        "title": _("Review the change of rights on %(count)s") % {"count": count},
        "way": [(reverse("rights-tree"), _("Folders and rights"))],
        "back": _build_documents_url(rows),
        "back_name": count,
        "action": reverse("rights-several"),
        "asked": asked,
    }
    return render_effects_page(request, effects, context, fields=[*ChangeForm.base_fields, "documents"])


def _build_documents_url(rows: Sequence[Document]) -> str:
    return f"{reverse('rights-several')}?{urlencode([('documents', row.pk) for row in rows])}"
