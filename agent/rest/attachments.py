"""Files of a conversation: attached, followed while they are read, taken away, filed into a folder."""

from uuid import UUID

from django.http import HttpResponse
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from agent.conversations.attachments import (
    attach_to_conversation,
    copy_attachment_to_folder,
    delete_attachment,
    list_attachments,
)
from agent.conversations.sessions import download_made_file, get_session
from agent.rest.serializers import AttachmentSerializer
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.http.openapi import BINARY, describe_operation
from copilot_site.lib.http.strict_serializers import Filters, Input
from copilot_site.lib.storage.files import DownloadResponse
from knowledge.rest.documents import UPLOAD_STATUS, find_visible_document, list_visible_versions
from knowledge.rest.serializers import UploadSerializer


class NewAttachment(Input):
    file = serializers.FileField(allow_empty_file=True)  # an empty one is refused in our own words


class Where(Input):
    folder = serializers.UUIDField(help_text="A folder that you may add documents to.")


class Attachments(PrincipalView):
    token_scopes = {"get": (TokenScope.CHAT,), "post": (TokenScope.CHAT,)}
    serializer_class = AttachmentSerializer
    parser_classes = [MultiPartParser]

    @describe_operation(
        "List the files of a conversation", answer=AttachmentSerializer(many=True), problems=(400, 401, 404)
    )
    def get(self, request: Request, pk: UUID) -> Response:
        Filters.checked(request.query_params)
        found = list_attachments(self.principal, get_session(self.principal, pk))
        return Response(self.get_serializer(found, many=True).data)

    @describe_operation(
        "Attach a file to a conversation; it is read for this conversation alone",
        body={"multipart/form-data": NewAttachment},
        answer=AttachmentSerializer,
        status=201,
    )
    def post(self, request: Request, pk: UUID) -> Response:
        session = get_session(self.principal, pk)
        file = NewAttachment.checked(request.data)["file"]
        upload = attach_to_conversation(self.principal, pk, filename=file.name, file=file)
        (made,) = (item for item in list_attachments(self.principal, session) if item.id == upload.document.pk)
        return Response(self.get_serializer(made).data, status.HTTP_201_CREATED)


class OneAttachment(PrincipalView):
    token_scopes = {"delete": (TokenScope.CHAT,)}

    @describe_operation("Delete a file of a conversation", status=204, problems=(401, 404))
    def delete(self, request: Request, pk: UUID, document_id: UUID) -> Response:
        delete_attachment(self.principal, pk, document_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class FileAttachment(PrincipalView):
    token_scopes = {"post": (TokenScope.CHAT,)}
    besides = (TokenScope.INGEST,)
    serializer_class = UploadSerializer

    @describe_operation(
        "Add a copy of a file of a conversation to a folder",
        body=Where,
        answer=UploadSerializer,
        status=201,
        also=(200,),
    )
    def post(self, request: Request, pk: UUID, document_id: UUID) -> Response:
        folder_id = Where.checked(request.data)["folder"]
        upload = copy_attachment_to_folder(self.principal, pk, document_id, folder_id=folder_id)
        shown = {
            "outcome": upload.outcome,
            "document": find_visible_document(self.principal, upload.document.pk),
            "version": list_visible_versions(self.principal, upload.document.pk)[0],
        }
        return Response(self.get_serializer(shown).data, UPLOAD_STATUS[upload.outcome])


class FileOfAnswer(PrincipalView):
    token_scopes = {"get": (TokenScope.CHAT,)}

    @describe_operation(
        "Download a file that a script made for an answer", answer=BINARY, problems=(401, 404),
        media_type="application/octet-stream",
    )  # fmt: skip
    def get(self, request: Request, pk: UUID, file_id: UUID) -> HttpResponse:
        found = download_made_file(self.principal, pk, file_id)
        return DownloadResponse(bytes(found.content), found.name)
