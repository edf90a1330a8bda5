"""`/scim/v2/…`: identity providers with a token of their own; the protocol is scim2-server's."""

import json
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import transaction
from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from authz.directory.accounts import may_provision
from authz.rest.authentication import TokenAuthentication
from authz.rest.parsers import parse_body
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.errors import InvalidInput

MEDIA_TYPE = "application/scim+json"
READ = ("accept", "content-type", "if-match", "if-none-match")


class Scim(PrincipalView):
    """Base of all SCIM views: only programs whose account may manage people and groups."""

    schema = None  # it describes itself, at /scim/v2/Schemas
    authentication_classes = [TokenAuthentication]
    token_scopes = dict.fromkeys(("get", "post", "put", "patch", "delete"), (TokenScope.PROVISION,))

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        if not may_provision(self.principal):
            raise PermissionDenied(
                _("The account of this token may not keep accounts and groups. Ask an administrator.")
            )

    def get(self, request: Request, path: str) -> HttpResponse:
        return self._build_response(request, path)

    def post(self, request: Request, path: str) -> HttpResponse:
        return self._build_response(request, path)

    def put(self, request: Request, path: str) -> HttpResponse:
        return self._build_response(request, path)

    def patch(self, request: Request, path: str) -> HttpResponse:
        return self._build_response(request, path)

    def delete(self, request: Request, path: str) -> HttpResponse:
        return self._build_response(request, path)

    def handle_exception(self, exc: Exception) -> Response:
        refused: Response = super().handle_exception(exc)
        body = _build_scim_error(refused.status_code, refused.data)
        return Response(body, refused.status_code, headers=dict(refused.headers), content_type=MEDIA_TYPE)

    @transaction.atomic
    def _build_response(self, request: Request, path: str) -> HttpResponse:
        from authz.scim.service import answer_request

        given = request._request
        try:
            body = given.body
        except RequestDataTooBig:
            raise InvalidInput(_("This is too much for one request: send fewer members at once.")) from None
        if body:
            parse_body(body)  # the protocol's own reader has no such limits
        if b"\\u0000" in body:
            raise InvalidInput(_("A text of this request holds a character that cannot be kept."))
        made = answer_request(
            self.principal,
            request.method or "",
            given.build_absolute_uri("/scim/v2"),
            path,
            query=given.GET.dict(),
            headers={name: value for name, value in given.headers.items() if name.lower() in READ},
            body=body,
        )
        if made.status >= 400:
            transaction.set_rollback(True)
        content = b"" if made.body is None else json.dumps(made.body).encode()
        return HttpResponse(content, status=int(made.status), headers={"Content-Type": MEDIA_TYPE} | dict(made.headers))


def _build_scim_error(status: int, problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return a problem document in SCIM's error format."""
    schemas = ["urn:ietf:params:scim:api:messages:2.0:Error"]
    return {"schemas": schemas, "status": str(status), "detail": str(problem.get("detail", ""))}
