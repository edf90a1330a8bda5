"""Files that scripts made for an answer, for whoever asked."""

from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from agent.conversations.sessions import made_file
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.files import Attachment
from copilot_site.lib.openapi import BINARY, operation


class FileOfAnswer(PrincipalView):
    token_scopes = {"get": (TokenScope.CHAT,)}

    @operation(
        "Download a file that a script made for an answer", answer=BINARY, problems=(401, 404),
        media_type="application/octet-stream",
    )  # fmt: skip
    def get(self, request: Request, pk: UUID, file_id: UUID) -> HttpResponse:
        found = made_file(self.principal, pk, file_id)
        return Attachment(bytes(found.content), found.name)
