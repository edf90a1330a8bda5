"""Knowledge bases, and the fields of their documents."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers, status
from rest_framework.mixins import ListModelMixin
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from authz.rest.authentication import WrittenBySuperusers
from authz.rest.views import PrincipalView, PrincipalViewSet
from authz.rights.checks import get_visible
from authz.scopes import TokenScope
from copilot_site.lib.http.openapi import describe_operation
from copilot_site.lib.http.strict_serializers import Filters, Input
from knowledge.models import DocumentField, FieldKind, KnowledgeBase, Recognition
from knowledge.rest.serializers import LANGUAGES
from knowledge.services.fields import MAX_FIELDS, FieldSpec, list_fields, set_fields
from knowledge.services.folders import NAME_LENGTH, create_knowledge_base
from knowledge.services.passages import Cutting

READ = (TokenScope.SEARCH, TokenScope.INGEST)  # what a token must be for: either


class NewKnowledgeBase(Input):
    name = serializers.CharField(max_length=NAME_LENGTH)
    description = serializers.CharField(default="", allow_blank=True, max_length=2_000)
    is_hidden_text_indexed = serializers.BooleanField(
        default=False, help_text="Whether text that people do not see in the original answers like the rest."
    )
    recognition = serializers.ChoiceField(
        choices=Recognition.choices,
        default=Recognition.BARE,
        help_text="Which pictures of documents are read (OCR): off, bare (only where there is no text), all.",
    )
    chunk_tokens = serializers.IntegerField(
        allow_null=True, default=None, help_text="Tokens that a passage should have; null as the system is set."
    )
    chunk_max_tokens = serializers.IntegerField(
        allow_null=True, default=None, help_text="Tokens that a passage has at most; null as the system is set."
    )
    language = serializers.ChoiceField(
        choices=LANGUAGES, default="", allow_blank=True, help_text="Of all its documents; empty: recognised."
    )


class KnowledgeBaseSerializer(serializers.ModelSerializer[KnowledgeBase]):
    language = serializers.CharField(read_only=True, help_text="Of all its documents; empty: recognised in each.")

    class Meta:
        model = KnowledgeBase
        fields = (
            "id",
            "name",
            "description",
            "is_hidden_text_indexed",
            "recognition",
            "chunk_tokens",
            "chunk_max_tokens",
            "language",
            "created_at",
        )
        read_only_fields = fields


class KnowledgeBases(ListModelMixin, PrincipalViewSet):
    token_scopes = {"list": READ, "retrieve": READ, "create": (TokenScope.INGEST,)}
    serializer_class = KnowledgeBaseSerializer
    permission_classes = [IsAuthenticated, WrittenBySuperusers]

    def get_queryset(self) -> QuerySet[KnowledgeBase]:
        return KnowledgeBase.objects.visible_to(self.principal)

    @describe_operation(
        "List the knowledge bases you may see", answer=KnowledgeBaseSerializer(many=True), problems=(400, 401)
    )
    def list(self, request: Request) -> Response:
        Filters.checked(request.query_params)
        return super().list(request)

    @describe_operation(
        "Create a knowledge base; for administrators of the system",
        body=NewKnowledgeBase,
        answer=KnowledgeBaseSerializer,
        status=201,
        problems=(400, 401, 403, 409),
    )
    def create(self, request: Request) -> Response:
        given = NewKnowledgeBase.checked(request.data)
        cutting = Cutting(given.pop("chunk_tokens"), given.pop("chunk_max_tokens"), given.pop("language"))
        base = create_knowledge_base(self.principal, cutting=cutting, **given)
        return Response(self.get_serializer(base).data, status.HTTP_201_CREATED)

    @describe_operation("Read a knowledge base", answer=KnowledgeBaseSerializer, problems=(401, 404))
    def retrieve(self, request: Request, pk: UUID) -> Response:
        return Response(self.get_serializer(get_visible(KnowledgeBase, self.principal, pk=pk)).data)


class FieldInput(Input):
    name = serializers.CharField(help_text="How it is known; another name is another field.")
    kind = serializers.ChoiceField(choices=FieldKind.choices, default=FieldKind.TEXT)
    choices = serializers.ListField(child=serializers.CharField(), default=list, help_text="Of the kind `choice`.")


class FieldsInput(Input):
    """All of them, in order. A field that is not there any more is forgotten with its values."""

    fields = serializers.ListField(child=FieldInput(), max_length=MAX_FIELDS)  # type: ignore[assignment]  # fields leave the class


class FieldSerializer(serializers.ModelSerializer[DocumentField]):
    class Meta:
        model = DocumentField
        fields = ("name", "kind", "choices")
        read_only_fields = fields


class KnowledgeBaseFields(PrincipalView):
    token_scopes = {"get": READ, "put": (TokenScope.INGEST,)}
    serializer_class = FieldSerializer
    pagination_class = None

    @describe_operation(
        "List the fields of a knowledge base's documents", answer=FieldSerializer(many=True), problems=(401, 404)
    )
    def get(self, request: Request, pk: UUID) -> Response:
        base = get_visible(KnowledgeBase, self.principal, pk=pk)
        return Response(self.get_serializer(list_fields(self.principal, base.pk), many=True).data)

    @describe_operation(
        "Set the fields of a knowledge base's documents; for whoever manages it", body=FieldsInput,
        answer=FieldSerializer(many=True),
    )  # fmt: skip
    def put(self, request: Request, pk: UUID) -> Response:
        given: list[dict[str, Any]] = FieldsInput.checked(request.data)["fields"]
        specs = [FieldSpec(item["name"], FieldKind(item["kind"]), tuple(item["choices"])) for item in given]
        return Response(self.get_serializer(set_fields(self.principal, pk, specs), many=True).data)
