"""Streamed answers: ask, resume an unfinished answer, stop it."""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from asgiref.sync import async_to_sync
from django.http import HttpResponseBase
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.plumbing import ResolvedComponent
from pydantic import TypeAdapter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agent.events import Event
from agent.models import Message
from agent.profiles.settings import Options
from agent.rest.sessions import Question, read_table_names
from agent.rest.sse import EVENT_STREAM, WhateverIsAccepted, resume_event_stream, start_event_stream
from agent.rest.synchronous_answer import start_synchronous_run
from agent.runs.follow import require_answer
from agent.runs.leases import request_stop
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.http.openapi import describe_operation
from copilot_site.lib.http.strict_serializers import Input
from knowledge.rest.search import build_search_scope

PREFIX = "Streamed"  # of component names, to avoid clashes with those of serializers
_REF = "#/components/schemas/"


class StreamedEvent:
    """Stands in an operation for what its stream consists of: one JSON object in each `data:` line."""


class StreamedEventExtension(OpenApiSerializerExtension):
    target_class = StreamedEvent

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return StreamedEvent.__name__

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """Return `oneOf` by `response_type`; each event becomes a component."""
        schema = TypeAdapter(Event).json_schema(ref_template=f"{_REF}{PREFIX}{{model}}")
        for name, part in schema.pop("$defs").items():
            if "response_type" in part.get("properties", {}):
                part["required"] = ["response_type", *part.get("required", [])]
            component: Any = ResolvedComponent(  # type: ignore[no-untyped-call]
                f"{PREFIX}{name}", ResolvedComponent.SCHEMA, convert_to_openapi_3_0(part), object=f"{PREFIX}{name}"
            )
            auto_schema.registry.register_on_missing(component)
        described: dict[str, Any] = convert_to_openapi_3_0(schema)
        return described | {"description": "One event: the JSON object of one `data:` line."}


def convert_to_openapi_3_0(part: Any) -> Any:
    """Convert a JSON Schema 2020-12, as pydantic writes it, to OpenAPI 3.0."""
    if isinstance(part, list):
        return [convert_to_openapi_3_0(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    given = dict(part)
    if "const" in given:
        given["enum"] = [given.pop("const")]
    if {"type": "null"} in given.get("anyOf", []):
        left = [item for item in given.pop("anyOf") if item != {"type": "null"}]
        given |= {"nullable": True} | (left[0] if len(left) == 1 and "$ref" not in left[0] else {"anyOf": left})
    choices = given.pop("enum", None)
    plain = {name: convert_to_openapi_3_0(value) for name, value in given.items()}
    if choices:  # one level down, where drf-spectacular makes no component of its own of it
        plain["allOf"] = [{"type": plain.pop("type", "string"), "enum": choices}]
    return plain


class ChatRequest(Question):
    """A question with everything that can be chosen for it."""

    agent_id = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        allow_null=True,
        max_length=80,
        help_text="An agent profile; else the default one.",
    )
    web_search_enabled = serializers.BooleanField(
        required=False,
        default=None,
        allow_null=True,
        help_text="False: nothing is asked outside. True: refused where the agent profile does not switch it on. Else the profile decides.",
    )
    summary_model_id = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        allow_null=True,
        max_length=80,
        help_text="Name of a language model to write with.",
    )
    disable_title = serializers.BooleanField(
        required=False,
        default=False,
        allow_null=True,
        help_text="The conversation keeps its title, or goes without one.",
    )


class KnowledgeChatRequest(ChatRequest):
    agent_enabled = serializers.BooleanField(
        required=False,
        default=False,
        allow_null=True,
        help_text="True: the model chooses tools. False: search once, and write.",
    )


class AgentChatRequest(ChatRequest):
    agent_enabled = serializers.BooleanField(
        required=False, default=None, allow_null=True, help_text="The agent's profile decides where it is left out."
    )

    def validate_agent_enabled(self, value: bool | None) -> bool | None:
        if value is False:
            raise serializers.ValidationError(_("This address is for agents. Without one, use knowledge-chat."))
        return value


class Place(Input):
    message_id = serializers.UUIDField(help_text="The answer, as `assistant_message_id` names it.")
    offset = serializers.IntegerField(
        required=False,
        min_value=0,
        help_text="The first `seq` to send; the header `Last-Event-ID` (the last one seen) takes precedence.",
    )


class WhichAnswer(Input):
    message_id = serializers.UUIDField(help_text="The answer, as `assistant_message_id` names it.")


class Stopping(serializers.Serializer[Any]):
    message_id = serializers.UUIDField()
    is_stopping = serializers.BooleanField(help_text="False: it was complete already.")


class StreamView(PrincipalView):
    """Answer with server-sent events."""

    content_negotiation_class = WhateverIsAccepted


class Chat(StreamView):
    token_scopes = {"post": (TokenScope.CHAT,)}
    request_class: ClassVar[type[ChatRequest]]

    def post(self, request: Request, session_id: UUID) -> HttpResponseBase:
        given = self.request_class.checked(request.data)
        options = Options(
            profile_id=given["agent_id"],
            model=given["summary_model_id"],
            uses_tools=given["agent_enabled"],
            searches_web=given["web_search_enabled"],
            disable_title=given["disable_title"],
            attachments=tuple(given["attachment_ids"]),
            tables=read_table_names(given),
        )
        language = given.get("language") or get_language() or "en"
        scope = build_search_scope(self.principal, given)
        run = start_synchronous_run(
            self.principal, session_id, given["query"], scope=scope, language=language, options=options
        )
        return start_event_stream(self.principal, run)


class KnowledgeChat(Chat):
    request_class = KnowledgeChatRequest

    @describe_operation(
        "Ask a question and receive the answer as events",
        body=KnowledgeChatRequest,
        answer=StreamedEvent,
        problems=(400, 401, 403, 404),
        media_type=EVENT_STREAM,
    )
    def post(self, request: Request, session_id: UUID) -> HttpResponseBase:
        return super().post(request, session_id)


class AgentChat(Chat):
    request_class = AgentChatRequest

    @describe_operation(
        "Ask an agent that chooses tools, and receive its work and answer as events",
        body=AgentChatRequest,
        answer=StreamedEvent,
        problems=(400, 401, 403, 404),
        media_type=EVENT_STREAM,
    )
    def post(self, request: Request, session_id: UUID) -> HttpResponseBase:
        return super().post(request, session_id)


class ContinueStream(StreamView):
    token_scopes = {"get": (TokenScope.CHAT,)}

    @describe_operation(
        "Come back to an answer: its events from where you left it",
        answer=StreamedEvent,
        query=Place,
        problems=(400, 401, 403, 404),
        media_type=EVENT_STREAM,
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponseBase:
        given = Place.checked(request.query_params)
        require_answer(self.principal, session_id, given["message_id"])
        after = _parse_last_event_id(request.headers.get("Last-Event-ID"))
        if after is None:
            after = given.get("offset", 0) - 1
        return resume_event_stream(self.principal, session_id, given["message_id"], after=after)


class StopSession(PrincipalView):
    token_scopes = {"post": (TokenScope.CHAT,)}
    serializer_class = Stopping

    @describe_operation("Stop an answer; what was written of it stays", body=WhichAnswer, answer=Stopping)
    def post(self, request: Request, session_id: UUID) -> Response:
        message_id = WhichAnswer.checked(request.data)["message_id"]
        require_answer(self.principal, session_id, message_id)
        is_running = Message.objects.filter(pk=message_id, is_complete=False).exists()
        if is_running:
            async_to_sync(request_stop)(message_id)
        return Response(self.get_serializer({"message_id": message_id, "is_stopping": is_running}).data)


def _parse_last_event_id(header: str | None) -> int | None:
    """Parse the Last-Event-ID header; None for none. Raises ValidationError for an invalid `seq`."""
    if not header:
        return None
    if not header.isascii() or not header.isdecimal() or len(header) > 9:
        raise serializers.ValidationError({"Last-Event-ID": _("It must be the `id` of an event, a number from 0.")})
    return int(header)
