"""Administration pages for skills: the list with an upload form; one skill with versions, files, review, profiles."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from agent.models import AgentProfile, Skill, SkillVersion
from agent.models.skills import SkillVerdict
from agent.providers.configured import list_model_names
from agent.skills import services
from agent.skills.catalog import EXECUTE, READ
from agent.skills.packages import ZIP_BYTES, Package, list_shipped_skills, read_package, read_shipped_package
from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, InvalidInput, NotFound
from copilot_site.lib.http.forms import validate_form


class SkillForm(forms.Form):
    package = forms.FileField(
        label=gettext_lazy("Zip of the skill's folder"),
        help_text=gettext_lazy("SKILL.md with a name and a description at its top, scripts in Python beside it; at most 2 MB."),
        widget=forms.ClearableFileInput(attrs={"accept": ".zip"}),
    )  # fmt: skip


class BindForm(forms.Form):
    """The profiles whose runs may use a skill."""

    profiles = forms.ModelMultipleChoiceField(
        AgentProfile.objects.all(), required=False, widget=forms.CheckboxSelectMultiple, label=gettext_lazy("Assistants")
    )  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def skill_list(request: HttpRequest, _principal: Principal) -> HttpResponseBase:
    """List the skills; a POST adds a version: of the zip `package`, or of the shipped skill that `shipped` names."""
    rows = services.select_managed_skills(_require_user(request))
    form, problem = SkillForm(), ""
    if request.method == "POST":
        form = form if request.POST.get("shipped") else SkillForm(request.POST, request.FILES)
        try:
            version = services.add_version(_require_user(request), _read_chosen_package(request, form))
        except CopilotError as error:
            problem = str(error)
        else:
            message = _("“%(name)s”, version %(number)s, waits for a review.")
            messages.success(request, message % {"name": version.skill.name, "number": version.number})
            return redirect(f"{reverse('skill', args=[version.skill_id])}?version={version.number}")
    known = {skill.name for skill in rows}
    context = {
        "title": _("Skills"),
        "skills": [(skill, _count_waiting_versions(skill)) for skill in rows],
        "form": form,
        "may_add": services.may_add_skill(_require_user(request)),
        "shipped": [name for name in list_shipped_skills() if name not in known],
        "problem": problem,
        "has_model": bool(list_model_names()),
    }
    return render_admin_page(request, "admin/skills/list.html", context, status=400 if problem else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def skill_page(request: HttpRequest, _principal: Principal, skill_id: UUID) -> HttpResponseBase:
    """Show a skill with the files of its newest version, or of version number `version`.

    A POST performs the action `do`.
    """
    skill = _find_skill(request, skill_id)
    problem = ""
    if request.method == "POST":
        try:
            return _apply_skill_action(request, skill, BindForm(request.POST))
        except CopilotError as error:
            problem = str(error)
    version = _find_version(skill, request.GET.get("version", ""))
    bound = {profile.pk for profile in skill.profiles.all()}
    context = {
        "title": _("Skill %(name)s") % {"name": skill.name},
        "skill": skill,
        "versions": skill.versions.select_related("by", "reviewed_by"),
        "version": version,
        "seen": services.build_seen_version(skill, version),
        "profiles": [
            (item, item.pk in bound, _has_skill_tools(item)) for item in AgentProfile.objects.order_by("name")
        ],
        "may_review": services.may_review_skill(_require_user(request)),
        "problem": problem,
    }
    return render_admin_page(request, "admin/skills/one.html", context, status=400 if problem else 200)


def _apply_skill_action(request: HttpRequest, skill: Skill, bind_form: BindForm) -> HttpResponseBase:
    """Perform the action `do` and redirect to its result. Raises InvalidInput, NotFound, PermissionDenied."""
    user, given = _require_user(request), request.POST
    back = redirect("skill", skill.pk)

    def review(verdict: SkillVerdict) -> HttpResponseBase:
        version = _find_version(skill, given.get("version", ""))
        services.review_version(user, version, verdict, sha256_seen=given.get("sha256", ""))
        return redirect(f"{reverse('skill', args=[skill.pk])}?version={version.number}")

    def use() -> HttpResponseBase:
        services.switch_version(user, skill, _find_version(skill, given.get("version", "")))
        return back

    def off() -> HttpResponseBase:
        services.switch_version(user, skill, None)
        return back

    def bind() -> HttpResponseBase:
        services.bind_profiles(user, skill, list(validate_form(bind_form)["profiles"]))
        messages.success(request, _("The assistants are saved."))
        return back

    def delete() -> HttpResponseBase:
        services.delete_skill(user, skill)
        messages.success(request, _("The skill is deleted, with its versions."))
        return redirect("skills")

    known: dict[str, Callable[[], HttpResponseBase]] = {
        "approve": lambda: review(SkillVerdict.APPROVED), "refuse": lambda: review(SkillVerdict.REFUSED),
        "use": use, "off": off, "bind": bind, "delete": delete,
    }  # fmt: skip
    return known.get(given.get("do", ""), lambda: back)()


def _require_user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # behind the sign-in of the admin
    return request.user


def _read_chosen_package(request: HttpRequest, form: SkillForm) -> Package:
    """Return the uploaded or the shipped package. Raises InvalidInput, NotFound."""
    if name := request.POST.get("shipped", ""):
        return read_shipped_package(name)
    file: UploadedFile[Any] = validate_form(form)["package"]
    return read_package(file.read(ZIP_BYTES + 1))


def _find_skill(request: HttpRequest, skill_id: UUID) -> Skill:
    found = services.select_managed_skills(_require_user(request)).filter(pk=skill_id).first()
    if found is None:
        raise NotFound(_("There is no such skill."))
    return found


def _find_version(skill: Skill, number: str) -> SkillVersion:
    """Return a version by its number, the newest without one. Raises InvalidInput for a missing one."""
    rows = list(skill.versions.all())
    found = next((row for row in rows if not number or str(row.number) == number), None)
    if found is None:
        raise InvalidInput(_("The skill has no such version."))
    return found


def _count_waiting_versions(skill: Skill) -> int:
    return sum(version.verdict == SkillVerdict.WAITING for version in skill.versions.all())


def _has_skill_tools(profile: AgentProfile) -> bool:
    """Return whether a profile has the tools that skills need."""
    return {READ, EXECUTE} <= set(profile.allowed_tools or ())
