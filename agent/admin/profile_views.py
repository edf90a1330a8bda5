"""Try an agent profile: answer one question as the form says, under the rights of the chosen person. Nothing is saved."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agent.admin.profiles import AgentProfileForm
from agent.models import AgentProfile
from agent.oversight.dry_run import dry_run
from agent.oversight.impersonation import impersonated
from agent.profile_choice import profile_from
from authz.admin_pages import admin_page
from authz.principal import Principal
from authz.rights.folders import group_ids_of
from authz.rights.governing import require_oversight
from copilot_site.lib.errors import CopilotError, InvalidInput, PermissionDenied
from copilot_site.lib.http.forms import first_fault
from knowledge.governance.parameters import user_named


@require_POST
@admin_page
def try_profile(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Answer `trial_question` as `trial_person`, or as the current user where no name is given.

    Audited like every impersonation.

    Raises PermissionDenied without the right to change profiles, and for another person without the right to oversee.
    """
    if not request.user.has_perm("agent.change_agentprofile"):
        raise PermissionDenied(_("Only system administrators set up assistants."))
    asked_as, question = request.POST.get("trial_person", "").strip(), request.POST.get("trial_question", "")
    try:
        user = user_named(asked_as or principal.username)
        if user.pk != principal.user_id:
            require_oversight(request.user)
        context = _answered(request, principal, user, question)
    except InvalidInput as problem:
        context = {"problem": str(problem)}
    return render(request, "admin/agent/_trial.html", context)


def _answered(request: HttpRequest, principal: Principal, user: User, question: str) -> dict[str, Any]:
    """Answer the question with the profile in the form. Raises InvalidInput."""
    form = AgentProfileForm(request.POST, instance=_stored(request.POST.get("id", "")))
    if not form.is_valid():
        raise InvalidInput(first_fault(form))
    row, given = form.save(commit=False), form.cleaned_data
    profile = profile_from(row, [base.pk for base in given["knowledge_bases"]])
    with impersonated(principal, user, what="ask", text=question) as look:
        groups = given["groups"]
        may_use = not groups or groups.filter(pk__in=group_ids_of(look.sees)).exists()
        try:
            trial = dry_run(
                look.sees, question, language=get_language() or "en", withheld=look.withheld, profile=profile
            )
        except CopilotError as problem:
            raise InvalidInput(str(problem)) from problem
        return {"trial": trial, "person": user, "may_use": may_use}


def _stored(given: str) -> AgentProfile | None:
    try:
        return AgentProfile.objects.filter(pk=UUID(given)).first()
    except ValueError:
        return None
