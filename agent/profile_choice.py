"""The assistants a person may use, and the profile of the chosen one. Every channel uses this module."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from agent.budget import Budget
from agent.models import AgentProfile
from agent.profiles.settings import Options, Profile
from agent.tools.base import find_tool, list_enabled_tools, list_outside_tools
from authz.principal import Principal
from authz.rights.folders import select_group_ids
from copilot_site.lib.errors import InvalidInput, NotFound

MAX_OPENINGS = 6
# Tools allowed in group chats: they read through `visible_to`, or only their arguments. New tools are excluded by default.
FOR_ALL = frozenset(
    {
        "thinking", "todo_write", "grep_chunks", "knowledge_search", "list_knowledge_chunks", "query_knowledge_graph",
        "get_document_info", "database_query", "data_analysis", "data_schema", "calculate",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Assistant:
    """One of the assistants to choose from. openings: suggested questions in the language of the page."""

    id: UUID
    name: str
    description: str
    icon: str
    openings: tuple[str, ...]
    is_default: bool


def usable_profiles(principal: Principal) -> QuerySet[AgentProfile]:
    """Return the profiles for everybody, and those of this person's groups and units, by name; none for nobody."""
    if principal.is_nobody:
        return AgentProfile.objects.none()
    mine = AgentProfile.groups.through.objects.filter(group_id__in=select_group_ids(principal)).values(
        "agentprofile_id"
    )
    return AgentProfile.objects.filter(Q(groups=None) | Q(pk__in=mine))


def list_assistants(principal: Principal, language: str) -> list[Assistant]:
    """Return the assistants that this person can choose, the default one first."""
    rows = sorted(usable_profiles(principal), key=lambda row: not row.is_default)
    return [
        Assistant(row.pk, row.name, row.description, row.icon, list_opening_questions(row, language), row.is_default)
        for row in rows
    ]


def list_opening_questions(row: AgentProfile, language: str) -> tuple[str, ...]:
    """Return the suggested questions in a language (`zh…`, any other for English), else in the one available."""
    own, other = (
        (row.questions_zh, row.questions_en) if language.startswith("zh") else (row.questions_en, row.questions_zh)
    )
    return tuple(list_text_lines(own or other)[:MAX_OPENINGS])


def list_text_lines(text: str) -> list[str]:
    """Return the non-blank lines of a text."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def find_requested_profile(principal: Principal, options: Options) -> Profile:
    """Return the requested profile, or the default one.

    Raises NotFound, in the same words for a missing one and one not theirs; InvalidInput for options that it does not
    allow.
    """
    profile = _find_stored_profile(principal, options.profile_id)
    if principal.audience:
        profile = _restrict_to_group_tools(profile)
    elif profile.tools is not None:
        profile = replace(profile, outside=tuple(list_outside_tools(profile.tools)))
    if options.model:
        profile = replace(profile, model=options.model)
    if options.uses_tools is not None:
        profile = replace(profile, uses_tools=options.uses_tools)
    if options.searches_web is not None:
        profile = _set_web_search(profile, searches=options.searches_web)
    return profile


def _restrict_to_group_tools(profile: Profile) -> Profile:
    """Return the profile for a group chat: only tools that read under the rights of all.

    Nothing outside, no scripts, nothing personal.
    """
    names = list_enabled_tools(profile.tools)
    return replace(profile, tools=tuple(name for name in names if name in FOR_ALL))


def _set_web_search(profile: Profile, *, searches: bool) -> Profile:
    """Return the profile with or without web search. Raises InvalidInput where the profile does not enable it."""
    names = list_enabled_tools(profile.tools)
    if not searches:
        return replace(profile, tools=tuple(name for name in names if find_tool(name).brings != "outside"))
    if "web_search" not in names:
        raise InvalidInput(_("This assistant does not search the web. Choose another one, or leave it out."))
    return replace(profile, uses_tools=True)


def _find_stored_profile(principal: Principal, profile_id: str) -> Profile:
    usable = usable_profiles(principal)
    row = usable.filter(is_default=True).first()
    if profile_id:
        try:
            row = usable.filter(pk=profile_id).first()
        except (ValidationError, ValueError):  # no UUID
            row = None
        if row is None:
            raise NotFound(_("There is no assistant “%(id)s”.") % {"id": profile_id[:80]})
    if row is None:
        return Profile()
    bases = row.knowledge_bases.through.objects.filter(agentprofile=row).values_list("knowledgebase_id", flat=True)
    return build_profile(row, bases)


def build_profile(row: AgentProfile, knowledge_base_ids: Iterable[UUID]) -> Profile:
    """Return the profile of a row, saved or not; its bases are passed separately, because an unsaved row has none."""
    limits: dict[str, Any] = {
        "steps": row.most_steps,
        "tool_calls": row.most_tool_calls,
        "tokens": row.most_tokens,
        "seconds": row.most_seconds,
        "cost": row.most_cost,
    }
    return Profile(
        id=row.pk,
        name=row.name,
        tone=row.tone,
        tools=None if row.allowed_tools is None else tuple(row.allowed_tools),
        model=row.language_model.name if row.language_model else "",
        uses_tools=row.uses_tools,
        judge=row.judge.name if row.judge else "",
        is_strict=row.is_strict,
        asks_before_web=row.asks_before_web,
        knowledge_base_ids=tuple(knowledge_base_ids),
        budget=Budget(**{name: limit for name, limit in limits.items() if limit is not None}),
    )
