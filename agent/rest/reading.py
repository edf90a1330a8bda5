"""The agent's reading tools for programs: the specification's `get_document_info` and `list_knowledge_chunks`.

Arguments and results are those of a model's call, under the caller's rights, and audited alike.
"""

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.utils.translation import get_language
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agent.tools.base import ToolContext
from agent.tools.calling import call_tool
from agent.tools.get_document_info import InfoArgs
from agent.tools.list_knowledge_chunks import ListArgs
from audit.actions import Action
from audit.record import record
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.errors import InvalidInput, NotFound
from copilot_site.lib.http.openapi import operation
from knowledge.models import ParseStatus
from knowledge.retrieval.search import Scope

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

    def _called(self, request: Request) -> Response:
        """Return the response of the tool. Raises NotFound, InvalidInput."""
        context = ToolContext(self.principal, Scope(), get_language() or "en")
        called = async_to_sync(call_tool)(self.tool, json.dumps(request.data), allowed=[self.tool], ctx=context)
        if called.problem:
            raise (NotFound if called.problem == NotFound.__name__ else InvalidInput)(called.result.error)
        shown = [finding.item.evidence_id for finding in called.result.findings]
        record(self.principal, Action.EVIDENCE_SHOWN, detail={"tool": self.tool, "evidence": shown})
        return Response(self.get_serializer(called.result.data).data)


class DocumentInfo(_ByTool):
    serializer_class = InfoAnswer
    tool = "get_document_info"

    @operation("Get the facts of several documents", body=InfoArgs, answer=InfoAnswer, problems=(400, 401, 403))
    def post(self, request: Request) -> Response:
        return self._called(request)


class KnowledgeChunks(_ByTool):
    serializer_class = ChunkPage
    tool = "list_knowledge_chunks"

    @operation("Read a document passage by passage, or what stands around one", body=ListArgs, answer=ChunkPage)
    def post(self, request: Request) -> Response:
        return self._called(request)
