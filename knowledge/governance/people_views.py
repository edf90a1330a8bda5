"""People: their groups, and their rights in the places that the viewer governs or reviews."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import admin_page, render_admin_page
from authz.explanations.decision_reasons import GrantPlace, Rulebook
from authz.explanations.explain import Explanation, explain_decision
from authz.models import OrgUnit
from authz.people.groups import PersonHolders
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, NotFound
from copilot_site.lib.http.forms import validate_form
from knowledge.governance.changes import MembershipChange, change_membership
from knowledge.governance.dry_run_admin import render_effects_page
from knowledge.governance.effective_rights import find_reviewed_places, list_bases_of_places, load_person, load_rulebook
from knowledge.governance.parameters import find_group_by_name, find_group_carrier, list_holder_names
from knowledge.governance.review import sort_places_in_tree

PAGE_SIZE = 50
MAX_LINES = 300  # places on the page of a person; the CSV has all


@dataclass(frozen=True)
class AccessLine:
    """A place where somebody's rights differ from those of its parent. way: names from the base down."""

    place: GrantPlace
    way: tuple[str, ...]
    rights: tuple[Explanation, ...]


@require_safe
@admin_page
def people_list(request: HttpRequest, _principal: Principal) -> HttpResponseBase:
    """List people; `?q=` searches sign-in names, names and groups."""
    asked = request.GET.get("q", "").strip()
    rows = User.objects.prefetch_related("groups").order_by("username")
    if asked:
        named = Q(username__icontains=asked) | Q(first_name__icontains=asked) | Q(last_name__icontains=asked)
        rows = rows.filter(named | Q(groups__name__icontains=asked)).distinct()
    context = {
        "title": _("People and units"),
        "page": Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page")),
        "asked": asked,
        "units": build_unit_tree(),
    }
    return render_admin_page(request, "admin/rights/people.html", context)


@require_safe
@admin_page
def person(request: HttpRequest, principal: Principal, user_id: int) -> HttpResponseBase:
    """Show a person with their groups, and what these and their own grants let them do."""
    user = _find_user(user_id)
    whom, shown = load_person(user), find_reviewed_places(principal)
    lines = [
        (str(base), list(iterate_access_lines(load_rulebook([base.pk]), whom, set(shown))))
        for base in list_bases_of_places(shown)
    ]
    record_action(principal, Action.ACCESS_EXPLAINED, user, detail={"places": sum(len(line) for _base, line in lines)})
    context = {
        "title": user.get_full_name() or user.get_username(),
        "user_shown": user,
        "memberships": sorted(whom.memberships.values(), key=lambda item: (len(item.below), item.name)),
        "access": lines,
        "without": [name for name, found in lines if not found],
        "most": MAX_LINES,
        "names": list_holder_names() if principal.is_superuser else None,
    }
    return render_admin_page(request, "admin/rights/person.html", context)


class MembershipForm(forms.Form):
    """group: the name of a group, unit or role. confirmed: of the effects that were shown."""

    what = forms.TypedChoiceField(choices=MembershipChange.choices, coerce=MembershipChange)
    group = forms.CharField(required=False)
    confirmed = forms.CharField(required=False)


@require_POST
@admin_page
def membership(request: HttpRequest, principal: Principal, user_id: int) -> HttpResponseBase:
    """Join or leave a group, as MembershipForm says; confirmed after its effects are shown."""
    user = _find_user(user_id)
    try:
        asked = validate_form(MembershipForm(request.POST))
        place, what = find_group_carrier(find_group_by_name(asked["group"])), asked["what"]
        effects = change_membership(principal, user, place, what, confirmed=asked["confirmed"])
    except CopilotError as problem:
        messages.error(request, str(problem))
        return redirect("person", user_id)
    if effects is None:
        messages.success(request, _("Done. It takes effect now."))
        return redirect("person", user_id)
    context = {
        "title": _("Review membership changes for “%(name)s”") % {"name": user},
        "way": [(reverse("people"), _("People and units"))],
        "back": reverse("person", args=[user_id]),
        "back_name": str(user),
        "action": reverse("membership", args=[user_id]),
        "sentence": f"{what.label}: {place}",
    }
    return render_effects_page(request, effects, context, fields=("what", "group"))


def iterate_access_lines(rules: Rulebook, whom: PersonHolders, shown: set[UUID]) -> Iterator[AccessLine]:
    """Yield the governed places where this person's rights differ from those of the parent, in tree order."""
    held = rules.held(whom)
    for place in sort_places_in_tree(rules):
        if place.id not in shown:
            continue
        here, above = ({right for right in Right if (right, pk) in held} for pk in (place.id, place.parent_id))
        if here != above:
            decisions = (rules.decide(whom, right, place.id) for right in Right if right in here)
            yield AccessLine(place, rules.names(place.id), tuple(map(explain_decision, decisions)))


@dataclass(frozen=True)
class UnitLine:
    """A unit with how many people are in it by name, and the units below it."""

    unit: OrgUnit
    members: int
    children: tuple["UnitLine", ...]


def build_unit_tree() -> tuple[UnitLine, ...]:
    units = list(OrgUnit.objects.select_related("group").prefetch_related("group__user_set"))

    def below(parent_id: int | None) -> tuple[UnitLine, ...]:
        return tuple(
            UnitLine(unit, len(unit.group.user_set.all()), below(unit.pk))
            for unit in units
            if unit.parent_id == parent_id
        )

    return below(None)


def _find_user(user_id: int) -> User:
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        raise NotFound(_("There is no such person."))
    return user
