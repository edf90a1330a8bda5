"""Search without an answer: the passages themselves, each with how it came to its place."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import structlog
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from authz.principal import Principal
from authz.rest.views import PrincipalView
from authz.scopes import TokenScope
from copilot_site.lib.http.openapi import describe_operation
from copilot_site.lib.http.strict_serializers import Input
from knowledge.embedding.base import EmbeddingError
from knowledge.rest.serializers import LANGUAGES
from knowledge.retrieval.conditions import MAX_CONDITIONS
from knowledge.retrieval.search import FoundPassages, Hit, Scope, Scores, search_knowledge
from knowledge.services.fields import parse_conditions

log = structlog.get_logger(__name__)

TOP_K, MAX_TOP_K = 10, 50
MAX_IDS = 100


class SearchUnavailable(APIException):
    status_code = 503
    default_code = "unavailable"


def build_ids_field(help_text: str) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.UUIDField(),
        default=list,
        allow_null=True,
        max_length=MAX_IDS,
        help_text=f"{help_text} Empty: no limit.",
    )


class ConditionInput(Input):
    """What a field of the documents must say; every part of it holds."""

    field = serializers.CharField(help_text="Name of a field of a knowledge base that you see.")
    equals = serializers.CharField(required=False, help_text="Numbers and dates (ISO 8601) are read as such.")
    contains = serializers.CharField(required=False, help_text="A part of the text, whatever its case.")
    at_least = serializers.CharField(required=False)
    at_most = serializers.CharField(required=False)


class Within(Input):
    """Narrows to a part of what the caller may see. null in a field is the field left out: so many clients write it."""

    knowledge_base_ids = build_ids_field("Only these knowledge bases.")
    knowledge_ids = build_ids_field("Only these documents.")
    folder_ids = build_ids_field("Only these folders, with everything below them.")
    metadata = serializers.ListField(
        child=ConditionInput(),
        default=list,
        allow_null=True,
        max_length=MAX_CONDITIONS,
        help_text="Only documents whose fields say this; all conditions hold.",
    )

    def to_internal_value(self, data: Any) -> Any:
        given = super().to_internal_value(data)
        left_out = {name: self.fields[name] for name, value in given.items() if value is None}
        defaults = {name: field.get_default() for name, field in left_out.items() if not field.required}
        return {**given, **defaults}


class SearchRequest(Within):
    query = serializers.CharField(help_text="A question or words, Chinese or English.")
    language = serializers.ChoiceField(
        choices=LANGUAGES, default="", allow_blank=True, allow_null=True, help_text="Only documents in this language."
    )
    top_k = serializers.IntegerField(default=TOP_K, min_value=1, max_value=MAX_TOP_K, allow_null=True)


class ScoresSerializer(serializers.Serializer[Scores]):
    """Score (higher is better) and rank (from 1) of each stage; null where a stage did not see the passage."""

    dense = serializers.FloatField()
    dense_rank = serializers.IntegerField(allow_null=True)
    lexical = serializers.FloatField()
    lexical_rank = serializers.IntegerField(allow_null=True)
    fused = serializers.FloatField()
    fused_rank = serializers.IntegerField(allow_null=True)
    rerank = serializers.FloatField(allow_null=True)
    rerank_rank = serializers.IntegerField(allow_null=True)


class HitSerializer(serializers.Serializer[Hit]):
    """A passage. `knowledge_id` is its document; `start` and `end` are character offsets into the version's text."""

    chunk_id = serializers.UUIDField(source="passage.chunk_id")
    knowledge_base_id = serializers.UUIDField(source="passage.knowledge_base_id")
    knowledge_id = serializers.UUIDField(source="passage.document_id")
    version_id = serializers.UUIDField(source="passage.version_id")
    title = serializers.CharField(source="passage.title")
    filename = serializers.CharField(source="passage.filename")
    heading_path = serializers.ListField(source="passage.heading_path", child=serializers.CharField())
    content = serializers.CharField(source="passage.text")
    page = serializers.IntegerField(source="passage.page", allow_null=True)
    start = serializers.IntegerField(source="passage.start")
    end = serializers.IntegerField(source="passage.end")
    language = serializers.CharField(source="passage.language")
    score = serializers.FloatField(source="scores.final", help_text="What the order follows.")
    scores = ScoresSerializer()


class SearchAnswer(serializers.Serializer[FoundPassages]):
    hits = HitSerializer(many=True)
    visible = serializers.IntegerField(help_text="Passages the caller could have been answered from.")


def build_search_scope(principal: Principal, given: Mapping[str, Any], *, language: str = "") -> Scope:
    """Return the scope of a `Within` for this person, among documents of one language or, if empty, of all.

    Raises InvalidInput.
    """
    bases = tuple(given["knowledge_base_ids"])
    return Scope(
        knowledge_base_ids=bases,
        folder_ids=tuple(given["folder_ids"]),
        document_ids=tuple(given["knowledge_ids"]),
        language=language,
        metadata=parse_conditions(principal, given["metadata"], bases),
    )


@contextmanager
def translate_embedding_errors() -> Iterator[None]:
    """Turn a silent embedding model into Unavailable while the block runs."""
    try:
        yield
    except EmbeddingError as error:
        log.warning("search.without_model", exc_info=True)
        raise SearchUnavailable(
            _("Search is not working right now. Try again in a moment, or tell your administrator.")
        ) from error


class KnowledgeSearchView(PrincipalView):
    token_scopes = {"post": (TokenScope.SEARCH,)}
    serializer_class = SearchAnswer

    @describe_operation(
        "Search the passages you may read", body=SearchRequest, answer=SearchAnswer, problems=(400, 401)
    )
    def post(self, request: Request) -> Response:
        given = SearchRequest.checked(request.data)
        with translate_embedding_errors():
            scope = build_search_scope(self.principal, given, language=given["language"])
            found = search_knowledge(self.principal, given["query"], scope=scope, top_k=given["top_k"])
        return Response(self.get_serializer(found).data)
