"""`POST /mcp`: authentication, scopes, seats and limits as in the rest of the API.

Everything else follows the protocol.
"""

from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from django.db import close_old_connections, connection
from django.http import HttpResponse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from agent.mcp_server.oauth import McpAuthentication
from agent.mcp_server.own_tools import Caller
from agent.mcp_server.protocol import asks_question, exchange_message
from agent.rest.sse import WhateverIsAccepted
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.http.deferred_response import Later
from copilot_site.lib.http.openapi import describe_operation

# headers that the protocol reads; the token is read only here
HEADERS = ("Accept", "Content-Type", "Host")
PREFIX = "mcp-"


class McpServer(PrincipalView):
    """For programs only: sessions of the site do not sign in here, and pages of other origins are refused."""

    authentication_classes = [McpAuthentication]
    token_scopes = {"post": (TokenScope.SEARCH, TokenScope.CHAT, TokenScope.SQL)}
    content_negotiation_class = WhateverIsAccepted

    @describe_operation(
        "Exchange one message of the Model Context Protocol (streamable HTTP, stateless)",
        body=OpenApiTypes.OBJECT,
        answer=OpenApiTypes.OBJECT,
        also=(202,),
        problems=(400, 401, 403),
    )
    def post(self, request: Request) -> HttpResponse:
        _require_own_origin(request)
        body = request._request.body
        message = request.data  # refuses what is no JSON, or nested without end
        caller = Caller(self.principal, get_language() or "en", request.build_absolute_uri("/").rstrip("/"))
        answered = partial(_answer_exchange, caller, body, _select_protocol_headers(request))
        if asks_question(message) and hasattr(request._request, "seat"):
            return Later(answered)  # a run has its own queue; waiting for it holds no seat
        if not connection.in_atomic_block:
            close_old_connections()
        return async_to_sync(answered)()


async def _answer_exchange(caller: Caller, body: bytes, headers: list[tuple[str, str]]) -> HttpResponse:
    made = await exchange_message(caller, body, headers)
    kind = made.headers.get("content-type", "application/json")
    return HttpResponse(made.content, status=made.status_code, content_type=kind)


def _select_protocol_headers(request: Request) -> list[tuple[str, str]]:
    given: dict[str, Any] = dict(request.headers)
    return [(name, value) for name, value in given.items() if name in HEADERS or name.lower().startswith(PREFIX)]


def _require_own_origin(request: Request) -> None:
    """Refuse a page of another site with PermissionDenied, as the protocol requires of servers."""
    origin = request.headers.get("Origin")
    if origin is not None and origin != f"{request.scheme}://{request.get_host()}":
        raise PermissionDenied(_("Pages of other sites may not call this address."))
