"""Agent profiles in the admin, and their trial."""

from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import FilteredSelectMultiple
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agent.admin.base import SettingsAdmin
from agent.budget import Budget
from agent.models import AgentProfile
from agent.oversight.dry_run import dry_run_question
from agent.oversight.impersonation import impersonate_user
from agent.profile_choice import MAX_OPENINGS, build_profile, list_text_lines
from agent.tools.base import list_default_tools, list_outside_tools, list_tools, resolve_tool_name
from authz.admin_pages import admin_page
from authz.principal import Principal
from authz.rights.folders import select_group_ids
from authz.rights.governing import filter_governed_rows, require_oversight
from copilot_site.lib.errors import CopilotError, InvalidInput, PermissionDenied
from copilot_site.lib.http.forms import find_first_fault
from copilot_site.lib.text.bilingual import in_language
from knowledge.governance.parameters import find_user_by_name
from knowledge.models import KnowledgeBase

OPENINGS = ("questions_en", "questions_zh")


def _list_tool_choices() -> list[tuple[str, str]]:
    """Return every tool with its description, in the reader's language."""
    language = get_language() or "en"
    return [
        (tool.name, f"{tool.label.within(language)} ({tool.name}): {tool.description.within(language)}")
        for tool in (*list_tools(), *list_outside_tools())
    ]


class AgentProfileForm(forms.ModelForm[AgentProfile]):
    allowed_tools = forms.MultipleChoiceField(
        label=capfirst(_("allowed tools")),
        required=False,
        choices=_list_tool_choices,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None selected: the default tools."),
    )

    class Meta:
        model = AgentProfile
        fields = (
            "name", "description", "icon", "questions_en", "questions_zh", "groups", "is_default", "knowledge_bases",
            "allowed_tools", "uses_tools", "asks_before_web", "language_model", "tone", "judge", "is_strict", "most_steps",
            "most_tool_calls", "most_tokens", "most_seconds", "most_cost",
        )  # fmt: skip
        widgets: ClassVar = {name: forms.Textarea(attrs={"rows": 6}) for name in OPENINGS}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.instance.allowed_tools
        self.initial["allowed_tools"] = [resolve_tool_name(name) for name in (chosen or list_default_tools())]
        product = Budget()
        limits = {
            "most_steps": product.steps,
            "most_tool_calls": product.tool_calls,
            "most_tokens": product.tokens,
            "most_seconds": round(product.seconds),
        }
        for name, limit in limits.items():
            self.fields[name].help_text = _("Empty: %(limit)s.") % {"limit": limit}

    def clean_allowed_tools(self) -> list[str] | None:
        """Return None for the default tools, so that a new tool of the product is included later."""
        chosen: list[str] = self.cleaned_data["allowed_tools"]
        return chosen if chosen and set(chosen) != set(list_default_tools()) else None

    def clean_questions_en(self) -> str:
        return _limit_opening_lines(self.cleaned_data["questions_en"])

    def clean_questions_zh(self) -> str:
        return _limit_opening_lines(self.cleaned_data["questions_zh"])

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if given.get("is_default") and given.get("groups"):
            message = _("The default assistant is for everyone: remove the groups, or the tick.")
            self.add_error("groups", message)
        return given


def _limit_opening_lines(text: str) -> str:
    lines = list_text_lines(text)
    if len(lines) > MAX_OPENINGS:
        raise forms.ValidationError(_("At most %(most)s questions, one per line.") % {"most": MAX_OPENINGS})
    return "\n".join(lines)


@admin.register(AgentProfile)
class AgentProfileAdmin(SettingsAdmin):
    form = AgentProfileForm
    empty_sentence = _("Everyone uses the general assistant. Add one for a subject or a team.")
    list_display = ("__str__", "about", "language_model", "is_default")
    filter_horizontal = ("knowledge_bases",)
    fieldsets = (
        (None, {"fields": ("name", "description", "icon", *OPENINGS)}),
        (_("Who and where"), {"fields": ("groups", "is_default", "knowledge_bases")}),
        (
            _("What it does"),
            {
                "fields": (
                    "allowed_tools",
                    "uses_tools",
                    "asks_before_web",
                    "language_model",
                    "tone",
                    "judge",
                    "is_strict",
                )
            },
        ),
        (
            _("How far it goes"),
            {
                "fields": ("most_steps", "most_tool_calls", "most_tokens", "most_seconds", "most_cost"),
                "classes": ("collapse",),
            },
        ),
    )

    @admin.display(description=_("description"))
    def about(self, profile: AgentProfile) -> str:
        return in_language(profile.description)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer the bases that this person governs and those already selected; the names of others stay hidden."""
        if db_field.name == "knowledge_bases":
            of_theirs = filter_governed_rows(KnowledgeBase, Principal.of(request.user)).values("pk")
            opened = request.resolver_match.kwargs.get("object_id") if request.resolver_match else None
            chosen = AgentProfile.objects.filter(pk=opened) if opened else AgentProfile.objects.none()
            bases = KnowledgeBase.unscoped.filter(Q(pk__in=of_theirs) | Q(pk__in=chosen.values("knowledge_bases")))
            kwargs["queryset"] = bases.order_by("name")
        if db_field.name == "groups":
            # label of the lists: the choices, not the field's purpose
            kwargs["widget"] = FilteredSelectMultiple(_("groups"), is_stacked=False)
        return super().formfield_for_manytomany(db_field, request, **kwargs)


@require_POST
@admin_page
def try_profile(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Answer `trial_question` as the form says, as `trial_person`, else as the current user; audited like every impersonation.

    Nothing is saved. Raises PermissionDenied without the right to change profiles, and for another person without the right to oversee.
    """
    if not request.user.has_perm("agent.change_agentprofile"):
        raise PermissionDenied(gettext("Only system administrators set up assistants."))
    asked_as, question = request.POST.get("trial_person", "").strip(), request.POST.get("trial_question", "")
    try:
        user = find_user_by_name(asked_as or principal.username)
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
        raise InvalidInput(find_first_fault(form))
    row, given = form.save(commit=False), form.cleaned_data
    profile = build_profile(row, [base.pk for base in given["knowledge_bases"]])
    with impersonate_user(principal, user, what="ask", text=question) as look:
        groups = given["groups"]
        may_use = not groups or groups.filter(pk__in=select_group_ids(look.sees)).exists()
        try:
            trial = dry_run_question(
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
