"""The tool catalogue, from the registry; and two reading tools for programs, called as a model calls them.

Arguments, results, rights and audit are those of a model's call.
"""

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.utils.translation import get_language
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agent.profile_choice import find_requested_profile
from agent.profiles.settings import Options
from agent.providers.configured import list_model_names
from agent.tool_names import ALIASES
from agent.tools.base import ToolContext, explain_closed_tool, list_enabled_tools, list_outside_tools, list_tools
from agent.tools.calling import call_tool
from agent.tools.get_document_info import InfoArgs
from agent.tools.list_knowledge_chunks import ListArgs
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.errors import InvalidInput, NotFound
from copilot_site.lib.http.openapi import describe_operation
from knowledge.models import ParseStatus
from knowledge.retrieval.search import Scope


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


def list_tool_catalogue(principal: Principal, language: str) -> list[dict[str, Any]]:
    """Return every registered tool in order, for people to choose from, and the tools of outside services.

    Planned tools are omitted.
    """
    rows = []
    for tool in (*list_tools(), *list_outside_tools()):
        why = explain_closed_tool(tool, principal)
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

    @describe_operation("List the agent's tools", answer=AvailableTool(many=True), problems=(401, 403))
    def get(self, request: Request) -> Response:
        return Response(
            self.get_serializer(list_tool_catalogue(self.principal, get_language() or "en"), many=True).data
        )


class TenantAgentConfig(PrincipalView):
    serializer_class = AgentConfigAnswer
    token_scopes = {"get": (TokenScope.CHAT,)}

    @describe_operation("Read how the agent is configured", answer=AgentConfigAnswer, problems=(401, 403))
    def get(self, request: Request) -> Response:
        profile = find_requested_profile(self.principal, Options())
        names = [*list_enabled_tools(profile.tools), *(tool.name for tool in profile.outside)]
        data = {
            "available_tools": list_tool_catalogue(self.principal, get_language() or "en"),
            "allowed_tools": names,
            "max_iterations": profile.budget.steps,
            "models": list_model_names(),
        }
        return Response(self.get_serializer({"success": True, "data": data}).data)


Data = serializers.Serializer[dict[str, Any]]


class Progress(Data):
    done = serializers.IntegerField(help_text="Passages indexed so far.")
    total = serializers.IntegerField(allow_null=True)


class CatalogueCard(Data):
    """The facts of a document; with `fields`, only those asked for."""

    knowledge_id = serializers.CharField()
    title = serializers.CharField(required=False)
    type = serializers.CharField(required=False)
    file_name = serializers.CharField(required=False)
    file_type = serializers.CharField(required=False)
    file_size = serializers.IntegerField(required=False, help_text="Bytes.")
    language = serializers.CharField(required=False)
    parse_status = serializers.ChoiceField(choices=ParseStatus.choices, required=False)
    progress = Progress(required=False)
    chunk_count = serializers.IntegerField(required=False)
    metadata = serializers.DictField(required=False, help_text="Base, version, pages, upload; `fields`: of the base.")
    error_message = serializers.CharField(required=False)


class NotAvailable(Data):
    knowledge_id = serializers.CharField()
    error = serializers.CharField()


class InfoAnswer(Data):
    documents = CatalogueCard(many=True)
    total_docs = serializers.IntegerField()
    requested = serializers.IntegerField()
    total_chunks = serializers.IntegerField()
    errors = NotAvailable(many=True, help_text="Missing or not visible to you: the same.")  # type: ignore[assignment]  # fields leave the class


class PageImage(Data):
    url = serializers.CharField()
    caption = serializers.CharField()
    ocr_text = serializers.CharField()


class ChunkOfPage(Data):
    seq = serializers.IntegerField()
    chunk_id = serializers.CharField()
    chunk_index = serializers.IntegerField()
    content = serializers.CharField()
    chunk_type = serializers.CharField()
    heading_path = serializers.ListField(child=serializers.CharField())
    page = serializers.IntegerField(allow_null=True)
    images = PageImage(many=True)


class ChunkPage(Data):
    knowledge_id = serializers.CharField()
    knowledge_title = serializers.CharField()
    total_chunks = serializers.IntegerField()
    fetched_chunks = serializers.IntegerField()
    offset = serializers.IntegerField()
    page = serializers.IntegerField()
    page_size = serializers.IntegerField()
    chunks = ChunkOfPage(many=True)


class _ByTool(PrincipalView):
    token_scopes = {"post": (TokenScope.SEARCH,)}
    tool: str

    def _call_tool(self, request: Request) -> Response:
        """Return the response of the tool. Raises NotFound, InvalidInput."""
        context = ToolContext(self.principal, Scope(), get_language() or "en")
        called = async_to_sync(call_tool)(self.tool, json.dumps(request.data), allowed=[self.tool], ctx=context)
        if called.problem:
            raise (NotFound if called.problem == NotFound.__name__ else InvalidInput)(called.result.error)
        shown = [finding.item.evidence_id for finding in called.result.findings]
        record_action(self.principal, Action.EVIDENCE_SHOWN, detail={"tool": self.tool, "evidence": shown})
        return Response(self.get_serializer(called.result.data).data)


class DocumentInfo(_ByTool):
    serializer_class = InfoAnswer
    tool = "get_document_info"

    @describe_operation(
        "Get the facts of several documents", body=InfoArgs, answer=InfoAnswer, problems=(400, 401, 403)
    )
    def post(self, request: Request) -> Response:
        return self._call_tool(request)


class KnowledgeChunks(_ByTool):
    serializer_class = ChunkPage
    tool = "list_knowledge_chunks"

    @describe_operation(
        "Read a document passage by passage, or what stands around one", body=ListArgs, answer=ChunkPage
    )
    def post(self, request: Request) -> Response:
        return self._call_tool(request)
