"""The tool catalogue, from the registry: available tools, their defaults, and why some cannot be used now."""

from typing import Any

from django.utils.translation import get_language
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agent.profile_choice import profile_of
from agent.profiles.settings import Options
from agent.providers.configured import model_names
from agent.tool_names import ALIASES
from agent.tools.base import default_names, in_order, outside_tools, why_closed
from authz.principal import Principal
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.http.openapi import operation


class AvailableTool(serializers.Serializer[dict[str, Any]]):
    """A tool for a person who chooses: its name for programs, a label and a description in the caller's language."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # fields leave the class
    description = serializers.CharField()
    is_default = serializers.BooleanField(help_text="On where a profile does not choose.")
    is_available = serializers.BooleanField(help_text="False: it exists and cannot be used by you now.")
    reason = serializers.CharField(help_text="Why it cannot be used now; empty where it can.")
    aliases = serializers.ListField(
        child=serializers.CharField(), help_text="Deprecated: names it had before. They keep working; use `name`."
    )


class AgentConfig(serializers.Serializer[dict[str, Any]]):
    available_tools = AvailableTool(many=True)
    allowed_tools = serializers.ListField(
        child=serializers.CharField(), help_text="Names that the default profile switches on."
    )
    max_iterations = serializers.IntegerField(help_text="Most steps of one run.")
    models = serializers.ListField(child=serializers.CharField(), help_text="Names of language models to choose from.")


class AgentConfigAnswer(serializers.Serializer[dict[str, Any]]):
    success = serializers.BooleanField()
    data = AgentConfig()  # type: ignore[assignment]


def catalogue(principal: Principal, language: str) -> list[dict[str, Any]]:
    """Return every registered tool in order, for people to choose from, and the tools of outside services.

    Planned tools are omitted.
    """
    rows = []
    for tool in (*in_order(), *outside_tools()):
        why = why_closed(tool, principal)
        rows.append(
            {
                "name": tool.name,
                "label": tool.label.within(language),
                "description": tool.description.within(language),
                "is_default": tool.is_default,
                "is_available": why is None,
                "reason": why.within(language) if why else "",
                "aliases": sorted(old for old, name in ALIASES.items() if name == tool.name),
            }
        )
    return rows


class AgentTools(PrincipalView):
    serializer_class = AvailableTool
    pagination_class = None
    token_scopes = {"get": (TokenScope.CHAT,)}

    @operation("List the agent's tools", answer=AvailableTool(many=True), problems=(401, 403))
    def get(self, request: Request) -> Response:
        return Response(self.get_serializer(catalogue(self.principal, get_language() or "en"), many=True).data)


class TenantAgentConfig(PrincipalView):
    serializer_class = AgentConfigAnswer
    token_scopes = {"get": (TokenScope.CHAT,)}

    @operation("Read how the agent is configured", answer=AgentConfigAnswer, problems=(401, 403))
    def get(self, request: Request) -> Response:
        profile = profile_of(self.principal, Options())
        names = default_names() if profile.tools is None else [tool.name for tool in in_order(profile.tools)]
        names += [tool.name for tool in profile.outside]
        data = {
            "available_tools": catalogue(self.principal, get_language() or "en"),
            "allowed_tools": names,
            "max_iterations": profile.budget.steps,
            "models": model_names(),
        }
        return Response(self.get_serializer({"success": True, "data": data}).data)
