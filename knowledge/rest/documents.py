"""Documents, their versions, passages and fields."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, QuerySet, Subquery
from rest_framework import serializers, status
from rest_framework.mixins import ListModelMixin
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import MultiPartParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from authz.principal import Principal
from authz.rest.views import PrincipalView, PrincipalViewSet
from authz.rights.checks import get_visible
from authz.scopes import TokenScope
from copilot_site.lib.http.openapi import BINARY, describe_operation
from copilot_site.lib.http.pagination import CappedOffsets
from copilot_site.lib.http.strict_serializers import Filters, Input, OffsetFilters
from copilot_site.lib.storage.files import StreamedFile
from knowledge.documents.text import record_shown_passages
from knowledge.models import Chunk, Document, DocumentVersion, Folder, ParseStatus
from knowledge.rest.serializers import (
    LANGUAGES,
    ChunkSerializer,
    DocumentSerializer,
    UploadSerializer,
    VersionSerializer,
)
from knowledge.services.documents import delete_document, move_document, open_original, retry_document
from knowledge.services.fields import change_metadata
from knowledge.services.uploads import UploadOutcome, upload_document

READ = (TokenScope.SEARCH, TokenScope.INGEST)  # what a token must be for: either
UPLOAD_STATUS = {
    UploadOutcome.CREATED: status.HTTP_201_CREATED,
    UploadOutcome.NEW_VERSION: status.HTTP_201_CREATED,
    UploadOutcome.UNCHANGED: status.HTTP_200_OK,
}


class DocumentFilters(Filters):
    knowledge_base = serializers.UUIDField(required=False, help_text="Only documents of this knowledge base.")
    folder = serializers.UUIDField(required=False, help_text="Only documents directly in this folder.")
    parse_status = serializers.ChoiceField(
        choices=ParseStatus.choices, required=False, help_text="Only documents whose newest version has this status."
    )


class ChunkFilters(OffsetFilters):
    version = serializers.IntegerField(
        required=False,
        min_value=1,
        source="number",
        help_text="A version's number; else the one that answers.",
    )


class DocumentPlace(Input):
    folder = serializers.UUIDField(help_text="The folder it comes to lie in, in the same knowledge base.")


class NewDocument(Input):
    file = serializers.FileField(allow_empty_file=True)  # an empty one is refused in our own words
    title = serializers.CharField(default="", allow_blank=True, max_length=300, help_text="Else from the document.")
    language = serializers.ChoiceField(
        choices=LANGUAGES,
        default="",
        allow_blank=True,
        help_text="Else found out from the text. A base that has a language gives it to all its documents.",
    )


def list_visible_documents(principal: Principal) -> QuerySet[Document]:
    """Return the visible documents with number and status of their newest version."""
    newest = DocumentVersion.objects.visible_to(principal).filter(document=OuterRef("pk")).order_by("-number")[:1]
    return (
        Document.objects.visible_to(principal)
        .select_related("current_version__document__knowledge_base")
        .annotate(
            newest_version=Subquery(newest.values("number")), parse_status=Subquery(newest.values("parse_status"))
        )
        .order_by("filename", "id")
    )


def filter_visible_documents(principal: Principal, chosen: Mapping[str, Any]) -> QuerySet[Document]:
    """Return the `list_visible_documents` that match the filters; none in an invisible folder."""
    if "folder" in chosen:
        chosen = {**chosen, "folder__in": Folder.objects.visible_to(principal).filter(pk=chosen["folder"])}
    return list_visible_documents(principal).filter(**chosen)


def find_visible_document(principal: Principal, pk: UUID) -> Document:
    """Return a visible document. Raises NotFound."""
    return list_visible_documents(principal).get(pk=get_visible(Document, principal, pk=pk).pk)


def list_visible_versions(principal: Principal, pk: UUID) -> QuerySet[DocumentVersion]:
    """Return the versions of a document, newest first. Raises NotFound."""
    document = get_visible(Document, principal, pk=pk)
    versions = DocumentVersion.objects.visible_to(principal).filter(document=document)
    return versions.select_related("document").prefetch_related("stages").order_by("-number")


class Documents(ListModelMixin, PrincipalViewSet):
    token_scopes = {"list": READ, "retrieve": READ, "destroy": (TokenScope.INGEST,)}
    serializer_class = DocumentSerializer

    def get_queryset(self) -> QuerySet[Document]:
        chosen = DocumentFilters.checked(self.request.query_params)
        return filter_visible_documents(self.principal, chosen)

    @describe_operation(
        "List the documents you may see",
        answer=DocumentSerializer(many=True),
        query=DocumentFilters,
        problems=(400, 401),
    )
    def list(self, request: Request) -> Response:
        return super().list(request)

    @describe_operation("Read a document's facts", answer=DocumentSerializer, problems=(401, 404))
    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(self.get_serializer(find_visible_document(self.principal, pk)).data)

    @describe_operation("Delete a document with all its versions", status=204, problems=(401, 403, 404))
    def destroy(self, request: Request, pk: UUID) -> Response:
        delete_document(self.principal, document_id=pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


class FolderDocuments(PrincipalView):
    token_scopes = {"post": (TokenScope.INGEST,)}
    serializer_class = UploadSerializer
    parser_classes = [MultiPartParser]

    @describe_operation(
        "Upload a document; the same file name makes a new version",
        body={"multipart/form-data": NewDocument},
        answer=UploadSerializer,
        status=201,
        also=(200,),
    )
    def post(self, request: Request, pk: UUID) -> Response:
        given = NewDocument.checked(request.data)
        file = given.pop("file")
        upload = upload_document(self.principal, folder_id=pk, filename=file.name, file=file, **given)
        shown = {
            "outcome": upload.outcome,
            "document": find_visible_document(self.principal, upload.document.pk),
            "version": list_visible_versions(self.principal, upload.document.pk)[0],
        }
        return Response(self.get_serializer(shown).data, UPLOAD_STATUS[upload.outcome])


class DocumentMove(PrincipalView):
    token_scopes = {"post": (TokenScope.INGEST,)}
    serializer_class = DocumentSerializer

    @describe_operation(
        "Move a document, with the rights of its own, into another folder",
        body=DocumentPlace,
        answer=DocumentSerializer,
        problems=(400, 401, 403, 404, 409),
    )
    def post(self, request: Request, pk: UUID) -> Response:
        folder_id = DocumentPlace.checked(request.data)["folder"]
        move_document(self.principal, document_id=pk, folder_id=folder_id)
        return Response(self.get_serializer(find_visible_document(self.principal, pk)).data)


class DocumentStatus(PrincipalView):
    token_scopes = {"get": (TokenScope.SEARCH, TokenScope.INGEST)}
    serializer_class = VersionSerializer

    @describe_operation("Follow the ingestion of the newest version", answer=VersionSerializer, problems=(401, 404))
    def get(self, request: Request, pk: UUID) -> Response:
        return Response(self.get_serializer(list_visible_versions(self.principal, pk)[0]).data)


class DocumentVersions(ListModelMixin, PrincipalView):
    token_scopes = {"get": (TokenScope.SEARCH, TokenScope.INGEST)}
    serializer_class = VersionSerializer

    def get_queryset(self) -> QuerySet[DocumentVersion]:
        Filters.checked(self.request.query_params)
        return list_visible_versions(self.principal, self.kwargs["pk"])

    @describe_operation("List the versions of a document, newest first", answer=VersionSerializer(many=True))
    def get(self, request: Request, pk: UUID) -> Response:
        return self.list(request)


class DocumentChunks(PrincipalView):
    token_scopes = {"get": (TokenScope.SEARCH,)}
    serializer_class = ChunkSerializer
    pagination_class = CappedOffsets

    def get_queryset(self) -> QuerySet[Chunk]:
        document = get_visible(Document, self.principal, pk=self.kwargs["pk"])
        chosen = ChunkFilters.checked(self.request.query_params)
        version = (
            get_visible(DocumentVersion, self.principal, document=document, **chosen)
            if chosen
            else F("document__current_version")
        )
        chunks = Chunk.objects.visible_to(self.principal).filter(document=document, version=version, is_retired=False)
        return chunks.select_related("document", "version").order_by("position")

    @describe_operation(
        "List the passages of a document, in order", answer=ChunkSerializer(many=True), query=ChunkFilters
    )
    def get(self, request: Request, pk: UUID) -> Response:
        passages = self.paginate_queryset(self.get_queryset()) or []
        record_shown_passages(self.principal, passages)
        return self.get_paginated_response(self.get_serializer(passages, many=True).data)


class AnyType(BaseContentNegotiation):
    """A download is of the type it is: what the caller would rather have does not matter."""

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


class DocumentDownload(PrincipalView):
    token_scopes = {"get": (TokenScope.SEARCH,)}
    content_negotiation_class = AnyType

    @describe_operation(
        "Download the original of the version that answers",
        answer=BINARY,
        media_type="application/octet-stream",
        problems=(401, 403, 404),
    )
    def get(self, request: Request, pk: UUID) -> StreamedFile:
        version = open_original(self.principal, document_id=pk)
        return StreamedFile(
            version.file.open("rb"),
            as_attachment=True,
            filename=version.document.filename,
            content_type=version.mime_type or "application/octet-stream",
        )


class DocumentRetry(PrincipalView):
    token_scopes = {"post": (TokenScope.INGEST,)}
    serializer_class = VersionSerializer

    @describe_operation("Start a failed ingestion again", answer=VersionSerializer, status=202)
    def post(self, request: Request, pk: UUID) -> Response:
        retry_document(self.principal, document_id=pk)
        return Response(
            self.get_serializer(list_visible_versions(self.principal, pk)[0]).data, status=status.HTTP_202_ACCEPTED
        )


class ValuesInput(Input):
    metadata = serializers.DictField(
        child=serializers.JSONField(allow_null=True), help_text="Field → value, dates as ISO 8601; null takes it away."
    )


class DocumentMetadata(PrincipalView):
    token_scopes = {"patch": (TokenScope.INGEST,)}
    serializer_class = DocumentSerializer

    @describe_operation("Set fields of a document; others stay", body=ValuesInput, answer=DocumentSerializer)
    def patch(self, request: Request, pk: UUID) -> Response:
        change_metadata(self.principal, document_id=pk, values=ValuesInput.checked(request.data)["metadata"])
        return Response(self.get_serializer(find_visible_document(self.principal, pk)).data)
