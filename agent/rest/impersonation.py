"""Read as another person: the lists, a search and a question with their rights of now, read only and audited.

For those who may do so on the page. Each answer names the person in `as`. A token needs the scope `audit`, and the
scope that the same request needs for oneself.
"""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from agent.events import StopReason
from agent.oversight.dry_run import DryRun, dry_run_question
from agent.oversight.impersonation import Impersonation, impersonate_user
from agent.rest.serializers import ResultSerializer
from agent.rest.sessions import INTERFACE_LANGUAGES
from authz.principal import Principal
from authz.rest.views import PrincipalView
from authz.rights.governing import NEEDS_OVERSIGHT, may_oversee
from authz.scopes import TokenScope
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.http.openapi import describe_operation
from copilot_site.lib.http.pagination import MAX_ROWS
from copilot_site.lib.http.strict_serializers import Filters, Input
from knowledge.governance.parameters import find_user_by_name
from knowledge.models import Document, Folder, KnowledgeBase
from knowledge.rest.bases import KnowledgeBaseSerializer
from knowledge.rest.documents import DocumentFilters, filter_visible_documents
from knowledge.rest.folders import FolderFilters, FolderSerializer, filter_visible_folders
from knowledge.rest.search import SearchAnswer, SearchRequest, build_search_scope, translate_embedding_errors
from knowledge.rest.serializers import DocumentSerializer

LOOKS = (400, 401, 403)


class MayOversee(BasePermission):
    """Allows staff with the right to oversee, as the page does; refuses a token restricted to one folder."""

    message = NEEDS_OVERSIGHT

    def has_permission(self, request: Request, view: Any) -> bool:
        return view.principal.folder_id is None and request.user.is_staff and may_oversee(request.user)


class WhoseEyes(Input):
    user = serializers.CharField(help_text="The sign-in name of the person to see as.")


class SeenPage(WhoseEyes, Filters):
    page = serializers.IntegerField(required=False, min_value=1)
    page_size = serializers.IntegerField(required=False, min_value=1, max_value=MAX_ROWS)


class FoldersSeenBy(SeenPage, FolderFilters):
    pass


class DocumentsSeenBy(SeenPage, DocumentFilters):
    pass


class SearchAs(WhoseEyes, SearchRequest):
    pass


class QuestionAs(WhoseEyes):
    query = serializers.CharField(help_text="The question, Chinese or English.")
    language = serializers.ChoiceField(
        choices=INTERFACE_LANGUAGES,
        required=False,
        help_text="Of the words that are not from documents; else the request's `Accept-Language`.",
    )


class ImpersonationSerializer(serializers.Serializer[Impersonation]):
    """Whose eyes an answer was seen through. A disabled account sees nothing and has no snapshot of rights."""

    username = serializers.CharField(source="user.username")
    is_active = serializers.BooleanField(source="user.is_active")
    perm_snapshot_id = serializers.CharField(help_text="Of the rights it was seen with; empty for none.")


class SeenAs(serializers.Serializer[Any]):
    def get_fields(self) -> dict[str, Any]:
        return {"as": ImpersonationSerializer(), **super().get_fields()}


class _ListSeenAs(SeenAs):
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)


class KnowledgeBasesSeen(_ListSeenAs):
    results = KnowledgeBaseSerializer(many=True)


class FoldersSeen(_ListSeenAs):
    results = FolderSerializer(many=True)


class DocumentsSeen(_ListSeenAs):
    results = DocumentSerializer(many=True)


class SearchSeen(SeenAs, SearchAnswer):
    pass


class TriedReference(serializers.Serializer[Any]):
    """A numbered passage that the answer cites."""

    number = serializers.IntegerField()
    evidence_id = serializers.CharField()
    knowledge_base_id = serializers.UUIDField()
    knowledge_id = serializers.UUIDField()
    chunk_id = serializers.UUIDField()
    title = serializers.CharField()
    heading_path = serializers.ListField(child=serializers.CharField())
    page = serializers.IntegerField(allow_null=True)
    snippet = serializers.CharField()
    score = serializers.FloatField()


class TriedAnswer(serializers.Serializer[DryRun]):
    """What they would get. `results`: of data sources; only a token with the scope `sql` has them asked."""

    content = serializers.CharField(source="text")
    stop_reason = serializers.ChoiceField(choices=StopReason.choices)
    provider = serializers.CharField(source="answer.provider", default="", help_text="Empty for refusals.")
    references = TriedReference(many=True)
    results = ResultSerializer(many=True)


class AnswerSeen(SeenAs, TriedAnswer):
    pass


def build_impersonation_response(look: Impersonation, data: Mapping[str, Any]) -> Response:
    return Response({"as": ImpersonationSerializer(look).data, **data})


class _SeeAs(PrincipalView):
    permission_classes = [IsAuthenticated, MayOversee]
    besides = (TokenScope.AUDIT,)


class _SeenList(_SeeAs):
    token_scopes = {"get": (TokenScope.SEARCH, TokenScope.INGEST)}
    filters: type[SeenPage] = SeenPage

    def rows(self, person: Principal, chosen: Mapping[str, Any]) -> QuerySet[Any]:
        raise NotImplementedError

    def _list_seen_rows(self, request: Request) -> Response:
        given = self.filters.checked(request.query_params)
        user = find_user_by_name(given.pop("user"))
        chosen = {name: value for name, value in given.items() if name not in {"page", "page_size"}}
        with impersonate_user(self.principal, user, what="tree") as look:
            rows = self.paginate_queryset(self.rows(look.sees, chosen))
            context = self.get_serializer_context() | {"principal": look.sees}
            page = self.get_paginated_response(self.get_serializer(rows, many=True, context=context).data)
        return build_impersonation_response(look, page.data)


class KnowledgeBasesAs(_SeenList):
    serializer_class = KnowledgeBaseSerializer

    def rows(self, person: Principal, chosen: Mapping[str, Any]) -> QuerySet[KnowledgeBase]:
        return KnowledgeBase.objects.visible_to(person)

    @describe_operation(
        "List the knowledge bases somebody else sees", query=SeenPage, answer=KnowledgeBasesSeen, problems=LOOKS
    )
    def get(self, request: Request) -> Response:
        return self._list_seen_rows(request)


class FoldersAs(_SeenList):
    serializer_class = FolderSerializer
    filters = FoldersSeenBy

    def rows(self, person: Principal, chosen: Mapping[str, Any]) -> QuerySet[Folder]:
        return filter_visible_folders(person, chosen)

    @describe_operation("List the folders somebody else sees", query=FoldersSeenBy, answer=FoldersSeen, problems=LOOKS)
    def get(self, request: Request) -> Response:
        return self._list_seen_rows(request)


class DocumentsAs(_SeenList):
    serializer_class = DocumentSerializer
    filters = DocumentsSeenBy

    def rows(self, person: Principal, chosen: Mapping[str, Any]) -> QuerySet[Document]:
        return filter_visible_documents(person, chosen)

    @describe_operation(
        "List the documents somebody else sees", query=DocumentsSeenBy, answer=DocumentsSeen, problems=LOOKS
    )
    def get(self, request: Request) -> Response:
        return self._list_seen_rows(request)


class KnowledgeSearchAs(_SeeAs):
    token_scopes = {"post": (TokenScope.SEARCH,)}

    @describe_operation("Search as somebody else would find it", body=SearchAs, answer=SearchSeen, problems=LOOKS)
    def post(self, request: Request) -> Response:
        given = SearchAs.checked(request.data)
        query = given["query"]
        with (
            impersonate_user(self.principal, find_user_by_name(given["user"]), what="search", text=query) as look,
            translate_embedding_errors(),
        ):
            scope = build_search_scope(look.sees, given, language=given["language"])
            found = look.search(query, scope=scope, top_k=given["top_k"])
            return build_impersonation_response(look, SearchAnswer(found).data)


class AnswerAs(_SeeAs):
    token_scopes = {"post": (TokenScope.CHAT,)}

    @describe_operation(
        "Answer one question as somebody else would get it", body=QuestionAs, answer=AnswerSeen, problems=LOOKS
    )
    def post(self, request: Request) -> Response:
        given = QuestionAs.checked(request.data)
        query, language = given["query"], given.get("language") or get_language() or "en"
        user = find_user_by_name(given["user"])
        with impersonate_user(self.principal, user, what="ask", text=query) as look:
            if look.sees.is_nobody:
                raise InvalidInput(_("The account is disabled: it would get no answer."))
            trial = dry_run_question(look.sees, query, language=language, withheld=look.withheld, by=self.principal)
            return build_impersonation_response(look, TriedAnswer(trial).data)
