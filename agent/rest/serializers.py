"""Serializers of conversations."""

from rest_framework import serializers

from agent.conversations.presentation.attachments import Attachment, ReadingProgress
from agent.conversations.presentation.message import (
    ShownCitation,
    ShownMessage,
    ShownPage,
    ShownQuery,
    ShownSentence,
    ShownToolCall,
    ShownVerified,
)
from agent.events import StopReason
from agent.models import MadeFile, MessageRole, Rating, Session
from agent.run_state.outside import AskedOutside
from authz.models import RequestState
from business.results.shown_query import ChartSpec, QueryShown, ResultMeaning, ResultTable
from knowledge.services.access_requests import AccessOffer


class SessionSerializer(serializers.ModelSerializer[Session]):
    class Meta:
        model = Session
        fields = ("id", "title", "created_at", "updated_at")
        read_only_fields = fields


class SentenceSerializer(serializers.Serializer[ShownSentence]):
    """A sentence of an answer. Masked: without text, because you may no longer see its source."""

    text = serializers.CharField()
    citations = serializers.ListField(child=serializers.IntegerField())
    is_masked = serializers.BooleanField()
    is_checked = serializers.BooleanField(help_text="False: it was not checked against its source.")
    is_outside = serializers.BooleanField(help_text="True: its source is a web page.")


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
    page = serializers.IntegerField(allow_null=True)
    snippet = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    is_current = serializers.BooleanField(source="passage.is_current", help_text="False: a newer version answers now.")


class OfferSerializer(serializers.Serializer[AccessOffer]):
    """A hidden folder to which you can request access. `state`: of your last request, if any."""

    folder_id = serializers.UUIDField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=RequestState.choices, allow_blank=True)


class MeaningSerializer(serializers.Serializer[ResultMeaning]):
    """What the result says, in words of the question's language."""

    headline = serializers.CharField(help_text="The result in one sentence.")
    note = serializers.CharField(help_text="What limits it: rows left out, the source's own filters, your org units.")
    figure = serializers.CharField(help_text="What the number is; empty for lists.")
    window = serializers.ListField(child=serializers.CharField(), help_text="The time it is about.")
    time_zone = serializers.CharField(help_text="Whose days that time counts; empty where there is none.")
    conditions = serializers.ListField(child=serializers.CharField(), help_text="Other conditions of the question.")
    definitions = serializers.ListField(child=serializers.CharField(), help_text="What the words mean in this source.")
    units = serializers.ListField(
        child=serializers.CharField(), help_text="Org units whose rows you may see: the filter added for you."
    )


class TableSerializer(serializers.Serializer[ResultTable]):
    columns = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=serializers.ListField(), help_text="At most 50.")
    total = serializers.IntegerField(allow_null=True, help_text="How many rows there are, where these are not all.")
    is_cut = serializers.BooleanField(help_text="Rows were left out because the answer was too long.")
    elapsed_ms = serializers.IntegerField()


class ChartSerializer(serializers.Serializer[ChartSpec]):
    """How the table can be drawn. Columns are counted from 0."""

    type = serializers.ChoiceField(choices=("bar", "line"))
    label = serializers.IntegerField(help_text="Column that names the points.")  # type: ignore[assignment]
    series = serializers.ListField(child=serializers.IntegerField())


class ResultSerializer(serializers.Serializer[QueryShown]):
    """A query that ran, with its table and what they mean."""

    query_id = serializers.CharField()
    question = serializers.CharField()
    statement = serializers.CharField(help_text="As it was written.")
    sql = serializers.CharField(help_text="What ran: filtered to your rights, at most 50 rows.")
    sha256 = serializers.CharField(help_text="Of columns and rows.")
    tables = serializers.ListField(child=serializers.CharField())
    meaning = MeaningSerializer()
    table = TableSerializer()
    chart = ChartSerializer(allow_null=True)


class QuerySerializer(serializers.Serializer[ShownQuery]):
    """A numbered source that is no passage: the result of a query on a data source."""

    number = serializers.IntegerField()
    evidence_id = serializers.CharField()
    source = serializers.CharField(help_text="The data source's name.")  # type: ignore[assignment]
    title = serializers.CharField()
    result = ResultSerializer(allow_null=True)


class PageSerializer(serializers.Serializer[ShownPage]):
    """A numbered source from outside: a page of the web. What it says now may differ from what was read."""

    number = serializers.IntegerField()
    evidence_id = serializers.CharField()
    url = serializers.CharField()
    title = serializers.CharField()
    snippet = serializers.CharField(help_text="The words that were cited.")
    read_at = serializers.DateTimeField()


class VerifiedSerializer(serializers.Serializer[ShownVerified]):
    """A numbered source that somebody verified: the answer to a question."""

    number = serializers.IntegerField()
    evidence_id = serializers.CharField()
    answer_id = serializers.UUIDField()
    question = serializers.CharField()
    by = serializers.CharField(help_text="Who verified it; empty for a person who is gone.")
    verified_on = serializers.DateField()


class AskedOutsideSerializer(serializers.Serializer[AskedOutside]):
    """A question that left the house, word for word."""

    query = serializers.CharField()
    provider = serializers.CharField(help_text="The service, as it is called here.")
    to = serializers.CharField(help_text="The host that it was sent to.")


class FileSerializer(serializers.Serializer[MadeFile]):
    """A file that a script made; who asked can download it for seven days."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    size_bytes = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class AttachmentSerializer(serializers.Serializer[Attachment]):
    """A file of a conversation; only its person can read it, only in that conversation."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    size_bytes = serializers.IntegerField()
    reading = serializers.ChoiceField(
        choices=[item.value for item in ReadingProgress], help_text="A question takes files that are `ready`."
    )
    said = serializers.CharField(source="state", help_text="How far the reading is, or why it failed.")


class ToolCallSerializer(serializers.Serializer[ShownToolCall]):
    """A tool call of an answer. Its arguments and result are streamed, not stored."""

    name = serializers.CharField()
    success = serializers.BooleanField()
    duration_ms = serializers.IntegerField()
    evidence_added = serializers.IntegerField(help_text="New pieces of evidence.")
    problem = serializers.CharField(help_text="Kind of what went wrong; empty where it worked.")


class MessageSerializer(serializers.Serializer[ShownMessage]):
    """A question or an answer, under today's rights."""

    id = serializers.UUIDField()
    parent_id = serializers.UUIDField(
        allow_null=True,
        help_text="What it follows: of an answer its question, of a question an answer. Two that follow the same are branches.",
    )
    role = serializers.ChoiceField(choices=MessageRole.choices)
    created_at = serializers.DateTimeField()
    content = serializers.CharField()
    stop_reason = serializers.ChoiceField(
        choices=StopReason.choices, allow_blank=True, help_text="How the run ended; empty for questions."
    )
    data = serializers.DictField(  # type: ignore[assignment]  # a field of this name
        help_text="Empty for most answers; `kind` is `passages` where the best passages are shown, not verified."
    )
    provider = serializers.CharField(help_text="Who wrote the answer; empty for questions and refusals.")
    is_complete = serializers.BooleanField()
    sentences = SentenceSerializer(many=True)
    citations = CitationSerializer(many=True)
    offers = OfferSerializer(many=True)
    queries = QuerySerializer(many=True)
    pages = PageSerializer(many=True)
    verified = VerifiedSerializer(many=True)
    asked_outside = AskedOutsideSerializer(many=True)
    files = FileSerializer(many=True)
    attachments = AttachmentSerializer(many=True, help_text="Files that the question was asked with.")
    notice = serializers.CharField(help_text="What the run did differently, and why; mostly empty.")
    understood = serializers.CharField(help_text="A follow-up as it was completed; empty where nothing was added.")
    readings = serializers.ListField(
        child=serializers.CharField(), help_text="Complete questions to choose from, where the answer asks back."
    )
    tool_calls = ToolCallSerializer(many=True)
    duration_ms = serializers.IntegerField(allow_null=True, help_text="Of the whole run; null for questions.")
    rating = serializers.ChoiceField(choices=Rating.choices, allow_blank=True, help_text="Yours; empty for none.")
    comment = serializers.CharField(help_text="Yours, with the rating.")
    is_shown_to_keepers = serializers.BooleanField(
        help_text="Whether you let those who manage a cited document see it."
    )
