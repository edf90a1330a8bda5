"""What the API shows of conversations."""

from rest_framework import serializers

from agent.models import Role, Session, StopReason
from agent.sessions import ShownCitation, ShownMessage, ShownSentence
from authz.request_models import RequestState
from knowledge.services.access_requests import Offer


class SessionSerializer(serializers.ModelSerializer[Session]):
    class Meta:
        model = Session
        fields = ("id", "title", "created_at", "updated_at")
        read_only_fields = fields


class SentenceSerializer(serializers.Serializer[ShownSentence]):
    """A sentence of an answer. Masked: it stood on a passage that you may not see any more, and says nothing."""

    text = serializers.CharField()
    citations = serializers.ListField(child=serializers.IntegerField())
    is_masked = serializers.BooleanField()


class CitationSerializer(serializers.Serializer[ShownCitation]):
    """A numbered source. `start` and `end` are character offsets of the cited span into the passage."""

    number = serializers.IntegerField()
    evidence_id = serializers.CharField()
    knowledge_base_id = serializers.UUIDField(source="passage.knowledge_base_id")
    knowledge_id = serializers.UUIDField(source="passage.document_id")
    version_id = serializers.UUIDField(source="passage.version_id")
    chunk_id = serializers.UUIDField(source="passage.chunk_id")
    title = serializers.CharField(source="passage.title")
    heading_path = serializers.ListField(source="passage.heading_path", child=serializers.CharField())
    page = serializers.IntegerField(source="passage.page", allow_null=True)
    snippet = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    is_current = serializers.BooleanField(source="passage.is_current", help_text="False: a newer version answers now.")


class OfferSerializer(serializers.Serializer[Offer]):
    """A folder that you may not see and may be told of: its managers can let you in. `state`: of your last request, if any."""

    folder_id = serializers.UUIDField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=RequestState.choices, allow_blank=True)


class MessageSerializer(serializers.Serializer[ShownMessage]):
    """A question or an answer, under today's rights."""

    id = serializers.UUIDField()
    role = serializers.ChoiceField(choices=Role.choices)
    created_at = serializers.DateTimeField()
    content = serializers.CharField()
    stop_reason = serializers.ChoiceField(
        choices=StopReason.choices, allow_blank=True, help_text="How the run ended; empty for questions."
    )
    provider = serializers.CharField(help_text="Who wrote the answer; empty for questions and refusals.")
    is_complete = serializers.BooleanField()
    sentences = SentenceSerializer(many=True)
    citations = CitationSerializer(many=True)
    offers = OfferSerializer(many=True)
    notice = serializers.CharField(help_text="What was done differently from what one would expect; mostly empty.")
    understood = serializers.CharField(help_text="A follow-up as it was completed; empty where nothing was added.")
    readings = serializers.ListField(
        child=serializers.CharField(), help_text="Complete questions to choose from, where the answer asks back."
    )
