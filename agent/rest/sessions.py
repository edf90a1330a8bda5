"""The caller's conversations."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import get_language
from rest_framework import serializers, status
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from agent.conversations.feedback import COMMENT_LENGTH, rate_answer
from agent.conversations.sessions import (
    create_session,
    delete_session,
    get_session,
    list_sessions,
    read_message,
    read_messages,
)
from agent.models import Rating, Session
from agent.profiles.asked_in import MAX_TABLES
from agent.profiles.settings import Options
from agent.rest.serializers import MessageSerializer, SessionSerializer
from agent.rest.synchronous_answer import respond_with_answer, start_synchronous_run
from authz.rest.views import PrincipalView, PrincipalViewSet
from authz.scopes import TokenScope
from business.sources.data_scope import TableName
from copilot_site.lib.http.openapi import describe_operation
from copilot_site.lib.http.pagination import CappedCursor
from copilot_site.lib.http.strict_serializers import CursorFilters, EmptyBody, Filters, Input
from knowledge.rest.search import Within, build_ids_field, build_search_scope

INTERFACE_LANGUAGES = ("en", "zh-hans")


class TableInput(Input):
    source = serializers.CharField(  # type: ignore[assignment]  # fields leave the class
        max_length=50, help_text="Name of the data source."
    )
    table = serializers.CharField(max_length=63, help_text="Name of the table in its semantic layer.")


class Question(Within):
    query = serializers.CharField(help_text="The question, Chinese or English.")
    tables = serializers.ListField(
        child=TableInput(),
        default=list,
        allow_null=True,
        max_length=MAX_TABLES,
        help_text="Only these tables of data sources. With tables alone no document is looked at, with documents alone no database.",
    )
    attachment_ids = build_ids_field(
        "Files of the conversation that the question is asked with, instead of chosen places."
    )
    language = serializers.ChoiceField(
        choices=INTERFACE_LANGUAGES,
        required=False,
        help_text="Of the words that are not from documents; else the request's `Accept-Language`.",
    )


def read_table_names(given: Mapping[str, Any]) -> tuple[TableName, ...]:
    """Return the tables that a `Question` names."""
    return tuple(TableName(**item) for item in given["tables"])


class GivenFeedback(Input):
    message_id = serializers.UUIDField(help_text="The answer, as `assistant_message_id` names it.")
    rating = serializers.ChoiceField(choices=Rating.choices, allow_blank=True, help_text="Empty takes yours back.")
    comment = serializers.CharField(required=False, default="", allow_blank=True, max_length=COMMENT_LENGTH)
    is_shown_to_keepers = serializers.BooleanField(
        default=False,
        help_text="Whether those who manage a cited document may see the question, and this; not by whom.",
    )


class Sessions(ListModelMixin, PrincipalViewSet):
    token_scopes = dict.fromkeys(("list", "create", "retrieve", "destroy"), (TokenScope.CHAT,))
    serializer_class = SessionSerializer

    def get_queryset(self) -> QuerySet[Session]:
        return list_sessions(self.principal)

    @describe_operation(
        "List your conversations, latest first", answer=SessionSerializer(many=True), problems=(400, 401)
    )
    def list(self, request: Request) -> Response:
        Filters.checked(request.query_params)
        return super().list(request)

    @describe_operation("Begin a conversation", answer=SessionSerializer, status=201, problems=(400, 401))
    def create(self, request: Request) -> Response:
        EmptyBody.checked(request.data)
        return Response(self.get_serializer(create_session(self.principal)).data, status.HTTP_201_CREATED)

    @describe_operation("Read a conversation's facts", answer=SessionSerializer, problems=(401, 404))
    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(self.get_serializer(get_session(self.principal, pk)).data)

    @describe_operation("Delete a conversation", status=204, problems=(401, 404))
    def destroy(self, request: Request, pk: UUID) -> Response:
        delete_session(self.principal, pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Messages(PrincipalView):
    token_scopes = {"get": (TokenScope.CHAT,), "post": (TokenScope.CHAT,)}
    serializer_class = MessageSerializer
    pagination_class = CappedCursor

    @describe_operation("Read a conversation, in order", answer=MessageSerializer(many=True), problems=(400, 401, 404))
    def get(self, request: Request, pk: UUID) -> Response:
        CursorFilters.checked(request.query_params)
        session = get_session(self.principal, pk)
        rows = self.paginate_queryset(session.messages.prefetch_related("citations", "queries", "pages"))
        shown = self.get_serializer(read_messages(self.principal, session, rows or []), many=True)
        return self.get_paginated_response(shown.data)

    @describe_operation(
        "Ask a question; the answer comes when it is complete",
        body=Question,
        answer=MessageSerializer,
        status=201,
        problems=(400, 401, 404, 500),
    )
    def post(self, request: Request, pk: UUID) -> HttpResponse:
        given = Question.checked(request.data)
        language = given.get("language") or get_language() or "en"
        scope = build_search_scope(self.principal, given)
        options = Options(attachments=tuple(given["attachment_ids"]), tables=read_table_names(given))
        run = start_synchronous_run(self.principal, pk, given["query"], scope=scope, language=language, options=options)
        return respond_with_answer(self, request, run)


class Feedback(PrincipalView):
    token_scopes = {"post": (TokenScope.CHAT,)}
    serializer_class = MessageSerializer

    @describe_operation(
        "Say whether an answer helped", body=GivenFeedback, answer=MessageSerializer, problems=(400, 401, 404)
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        given = GivenFeedback.checked(request.data)
        rate_answer(self.principal, session_id=session_id, **given)
        answer = read_message(self.principal, get_session(self.principal, session_id), given["message_id"])
        return Response(self.get_serializer(answer).data)
