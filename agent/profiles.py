"""What an agent may do: the tools it has, the model it speaks with, where it looks and what it may cost."""

from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from agent.budget import Budget
from agent.model_settings import AgentProfile
from copilot_site.lib.errors import NotFound


@dataclass(frozen=True)
class Profile:
    """tools: names; None means those that are on by default. model: name of a configured one, "" for the default.

    uses_tools: False means search once and write, without choosing tools. knowledge_base_ids: empty does not narrow.
    """

    name: str = ""
    tools: tuple[str, ...] | None = None
    model: str = ""
    uses_tools: bool = True
    knowledge_base_ids: tuple[UUID, ...] = ()
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True)
class Options:
    """What a person may choose for one question. profile_id, model: "" for the default ones. uses_tools: None: the profile's.

    asked_as: what the client calls the question; the same again in a conversation is the same question.
    """

    profile_id: str = ""
    model: str = ""
    uses_tools: bool | None = None
    disable_title: bool = False
    asked_as: UUID | None = None


def profile_of(options: Options) -> Profile:
    """The profile that was asked for, or the default one. Raises NotFound for one that is not there."""
    profile = _stored(options.profile_id)
    if options.model:
        profile = replace(profile, model=options.model)
    if options.uses_tools is not None:
        profile = replace(profile, uses_tools=options.uses_tools)
    return profile


def _stored(profile_id: str) -> Profile:
    row = AgentProfile.objects.filter(is_default=True).first()
    if profile_id:
        try:
            row = AgentProfile.objects.filter(pk=profile_id).first()
        except (ValidationError, ValueError):  # no UUID
            row = None
        if row is None:
            raise NotFound(_("There is no agent profile “%(id)s”.") % {"id": profile_id[:80]})
    common = Budget(cost=settings.LLM["run_cost"])
    if row is None:
        return Profile(budget=common)
    limits: dict[str, Any] = {
        "steps": row.most_steps,
        "tool_calls": row.most_tool_calls,
        "tokens": row.most_tokens,
        "seconds": row.most_seconds,
        "cost": row.most_cost,
    }
    return Profile(
        name=row.name,
        tools=None if row.allowed_tools is None else tuple(row.allowed_tools),
        model=row.language_model.name if row.language_model else "",
        uses_tools=row.uses_tools,
        knowledge_base_ids=tuple(
            row.knowledge_bases.through.objects.filter(agentprofile=row).values_list("knowledgebase_id", flat=True)
        ),
        budget=replace(common, **{name: limit for name, limit in limits.items() if limit is not None}),
    )
