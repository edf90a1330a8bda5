"""The folder tree of a knowledge base."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from authz.principal import Principal
from authz.rest.views import PrincipalViewSet
from authz.rights.checks import get_visible
from authz.scopes import TokenScope
from copilot_site.lib.http.openapi import describe_operation
from copilot_site.lib.http.strict_serializers import Filters, Input
from knowledge.models import Folder
from knowledge.rest.serializers import VisibleFolderField
from knowledge.services.folders import NAME_LENGTH, create_folder, delete_folder, move_folder, rename_folder

READ, WRITE = (TokenScope.SEARCH, TokenScope.INGEST), (TokenScope.INGEST,)  # what a token must be for: one of them


class FolderFilters(Filters):
    knowledge_base = serializers.UUIDField(required=False, help_text="Only folders of this knowledge base.")
    parent = serializers.UUIDField(  # type: ignore[assignment]  # a declared field leaves the class
        required=False, help_text="Only folders directly below this one."
    )


class FolderName(Input):
    name = serializers.CharField(max_length=NAME_LENGTH)


class FolderPlace(Input):
    parent = serializers.UUIDField(  # type: ignore[assignment]  # a declared field leaves the class
        help_text="The folder it hangs below, in the same knowledge base."
    )


class NewFolder(FolderName, FolderPlace):
    pass


class FolderSerializer(serializers.ModelSerializer[Folder]):
    parent = VisibleFolderField(  # type: ignore[assignment]  # a declared field leaves the class
        source="parent_id", help_text="The folder it hangs below, null where you may not see that."
    )

    class Meta:
        model = Folder
        fields = ("id", "knowledge_base", "parent", "name", "created_at")
        read_only_fields = fields


def filter_visible_folders(principal: Principal, chosen: Mapping[str, Any]) -> QuerySet[Folder]:
    """Return the visible folders, by name. chosen: checked by `FolderFilters`; there is nothing below an invisible folder."""
    visible = Folder.objects.visible_to(principal)
    if "parent" in chosen:
        chosen = {**chosen, "parent__in": visible.filter(pk=chosen["parent"])}
    return visible.filter(**chosen).order_by("name", "id")


class Folders(ListModelMixin, PrincipalViewSet):
    token_scopes = {"list": READ, "retrieve": READ} | dict.fromkeys(("create", "destroy", "rename", "move"), WRITE)
    serializer_class = FolderSerializer

    def get_queryset(self) -> QuerySet[Folder]:
        chosen = FolderFilters.checked(self.request.query_params)
        return filter_visible_folders(self.principal, chosen)

    @describe_operation(
        "List the folders you may see", answer=FolderSerializer(many=True), query=FolderFilters, problems=(400, 401)
    )
    def list(self, request: Request) -> Response:
        return super().list(request)

    @describe_operation(
        "Create a folder below another one",
        body=NewFolder,
        answer=FolderSerializer,
        status=201,
        problems=(400, 401, 403, 404, 409),
    )
    def create(self, request: Request) -> Response:
        given = NewFolder.checked(request.data)
        folder = create_folder(self.principal, parent_id=given["parent"], name=given["name"])
        return Response(self.get_serializer(folder).data, status.HTTP_201_CREATED)

    @describe_operation("Read a folder", answer=FolderSerializer, problems=(401, 404))
    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(self.get_serializer(get_visible(Folder, self.principal, pk=pk)).data)

    @describe_operation("Delete an empty folder", status=204)
    def destroy(self, request: Request, pk: UUID) -> Response:
        delete_folder(self.principal, folder_id=pk)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @describe_operation("Rename a folder", body=FolderName, answer=FolderSerializer, problems=(400, 401, 403, 404, 409))
    @action(detail=True, methods=["post"])
    def rename(self, request: Request, pk: UUID) -> Response:
        folder = rename_folder(self.principal, folder_id=pk, **FolderName.checked(request.data))
        return Response(self.get_serializer(folder).data)

    @describe_operation(
        "Move a folder with everything below it",
        body=FolderPlace,
        answer=FolderSerializer,
        problems=(400, 401, 403, 404, 409),
    )
    @action(detail=True, methods=["post"])
    def move(self, request: Request, pk: UUID) -> Response:
        parent_id = FolderPlace.checked(request.data)["parent"]
        folder = move_folder(self.principal, folder_id=pk, parent_id=parent_id)
        return Response(self.get_serializer(folder).data)
