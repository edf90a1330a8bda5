"""Requests for access: asked for a folder that an answer offered, and followed by whoever asked. They are decided at the page."""

from typing import Any

from rest_framework import serializers, status
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from authz.models import AccessRequest, RequestState
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.openapi import operation
from copilot_site.lib.strict_serializers import Filters, Input
from knowledge.services.access_requests import REASON_LENGTH, named_folders, request_access, requests_of


class NewRequest(Input):
    folder = serializers.UUIDField(help_text="One of the `offers` of an answer, as `folder_id`.")
    reason = serializers.CharField(default="", allow_blank=True, max_length=REASON_LENGTH)


class AccessRequestSerializer(serializers.ModelSerializer[AccessRequest]):
    """`folder_name` is empty once its name may not be told any more. `ends_at`: of what was granted, if it ends."""

    folder_name = serializers.SerializerMethodField()
    state = serializers.ChoiceField(choices=RequestState.choices, read_only=True)

    class Meta:
        model = AccessRequest
        fields = ("id", "folder", "folder_name", "reason", "state", "asked_at", "decided_at", "answer", "ends_at")
        read_only_fields = fields

    def get_folder_name(self, asked: AccessRequest) -> str:
        return asked.folder.name if asked.folder_id in self.context["named"] else ""


class AccessRequests(ListModelMixin, PrincipalView):
    token_scopes = {"get": (TokenScope.CHAT,), "post": (TokenScope.CHAT,)}
    serializer_class = AccessRequestSerializer

    def get_queryset(self) -> Any:
        Filters.checked(self.request.query_params)
        return requests_of(self.principal).order_by("-asked_at", "-id")

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "named": named_folders(self.principal)}

    @operation(
        "List what you have asked to be let into", answer=AccessRequestSerializer(many=True), problems=(400, 401)
    )
    def get(self, request: Request) -> Response:
        return self.list(request)

    @operation(
        "Ask the managers of a folder to let you view it",
        body=NewRequest,
        answer=AccessRequestSerializer,
        status=201,
        problems=(400, 401, 403, 404, 409),
    )
    def post(self, request: Request) -> Response:
        given = NewRequest.checked(request.data)
        asked = request_access(self.principal, folder_id=given["folder"], reason=given["reason"])
        return Response(self.get_serializer(asked).data, status.HTTP_201_CREATED)
