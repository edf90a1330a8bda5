"""The fields of a base and their values: what they are, and what a document says in them."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from authz.rest.views import PrincipalView
from authz.rights.checks import get_visible
from authz.scopes import TokenScope
from copilot_site.lib.http.openapi import operation
from copilot_site.lib.http.strict_serializers import Input
from knowledge.models import DocumentField, FieldKind, KnowledgeBase
from knowledge.rest.documents import READ, shown_document
from knowledge.rest.serializers import DocumentSerializer
from knowledge.services.fields import MAX_FIELDS, FieldSpec, change_metadata, fields_of, set_fields


class FieldInput(Input):
    name = serializers.CharField(help_text="How it is known; another name is another field.")
    kind = serializers.ChoiceField(choices=FieldKind.choices, default=FieldKind.TEXT)
    choices = serializers.ListField(child=serializers.CharField(), default=list, help_text="Of the kind `choice`.")


class FieldsInput(Input):
    """All of them, in order. A field that is not there any more is forgotten with its values."""

    fields = serializers.ListField(child=FieldInput(), max_length=MAX_FIELDS)  # type: ignore[assignment]  # fields leave the class


class ValuesInput(Input):
    metadata = serializers.DictField(
        child=serializers.JSONField(allow_null=True), help_text="Field → value, dates as ISO 8601; null takes it away."
    )


class FieldSerializer(serializers.ModelSerializer[DocumentField]):
    class Meta:
        model = DocumentField
        fields = ("name", "kind", "choices")
        read_only_fields = fields


class KnowledgeBaseFields(PrincipalView):
    token_scopes = {"get": READ, "put": (TokenScope.INGEST,)}
    serializer_class = FieldSerializer
    pagination_class = None

    @operation(
        "List the fields of a knowledge base's documents", answer=FieldSerializer(many=True), problems=(401, 404)
    )
    def get(self, request: Request, pk: UUID) -> Response:
        base = get_visible(KnowledgeBase, self.principal, pk=pk)
        return Response(self.get_serializer(fields_of(self.principal, base.pk), many=True).data)

    @operation(
        "Set the fields of a knowledge base's documents; for whoever manages it", body=FieldsInput,
        answer=FieldSerializer(many=True),
    )  # fmt: skip
    def put(self, request: Request, pk: UUID) -> Response:
        given: list[dict[str, Any]] = FieldsInput.checked(request.data)["fields"]
        specs = [FieldSpec(item["name"], FieldKind(item["kind"]), tuple(item["choices"])) for item in given]
        return Response(self.get_serializer(set_fields(self.principal, pk, specs), many=True).data)


class DocumentMetadata(PrincipalView):
    token_scopes = {"patch": (TokenScope.INGEST,)}
    serializer_class = DocumentSerializer

    @operation("Set fields of a document; others stay", body=ValuesInput, answer=DocumentSerializer)
    def patch(self, request: Request, pk: UUID) -> Response:
        change_metadata(self.principal, document_id=pk, values=ValuesInput.checked(request.data)["metadata"])
        return Response(self.get_serializer(shown_document(self.principal, pk)).data)
