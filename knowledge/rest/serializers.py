"""What the API shows of documents."""

from typing import Any, cast
from uuid import UUID

from rest_framework import serializers

from knowledge.losses import LostParts
from knowledge.models import Chunk, Document, DocumentVersion, Folder, ParseStatus, Stage
from knowledge.services.uploads import Upload, UploadOutcome

LANGUAGES = ("en", "zh", "ja", "ko")  # what documents are filed under


class StageSerializer(serializers.ModelSerializer[Stage]):
    class Meta:
        model = Stage
        fields = ("name", "status", "items_done", "items_total", "started_at", "finished_at")
        read_only_fields = fields


class VersionSerializer(serializers.ModelSerializer[DocumentVersion]):
    """One stored file of a document and how far its ingestion is."""

    failure_code = serializers.CharField(source="failure.code", default="", read_only=True)
    failure_reason = serializers.CharField(read_only=True, help_text="A sentence in the reader's language.")
    is_current = serializers.SerializerMethodField(help_text="Whether this is the version that answers.")
    stages = StageSerializer(many=True, read_only=True)

    class Meta:
        model = DocumentVersion
        fields = (
            "id", "number", "is_current", "parse_status", "failure_code", "failure_reason", "stages", "attempts",
            "size_bytes", "mime_type", "page_count", "created_at", "published_at",
        )  # fmt: skip
        read_only_fields = fields

    def get_is_current(self, version: DocumentVersion) -> bool:
        return version.pk == version.document.current_version_id


class VisibleFolderField(serializers.UUIDField):
    """The id of a folder, null where the reader may not see it. The rows of a list are looked up together.

    context: `principal`, who reads.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **options)

    def to_representation(self, value: UUID) -> str | None:  # type: ignore[override]  # null is what this field is for
        known: dict[UUID, bool] = cast("dict[str, Any]", self.context).setdefault("visible_folders", {})
        if value not in known:
            rows = self.root.instance if isinstance(self.root, serializers.ListSerializer) else ()
            ids: set[UUID] = {value, *filter(None, (getattr(row, str(self.source), None) for row in rows or ()))}
            seen = Folder.objects.visible_to(self.context["principal"]).filter(pk__in=ids)
            visible = set(seen.values_list("pk", flat=True))
            known |= {one: one in visible for one in ids}
        return super().to_representation(value) if known[value] else None


class NotReadSerializer(serializers.Serializer[LostParts]):
    """Parts of one kind that the file holds and that were not read."""

    kind = serializers.CharField(read_only=True, help_text="Such as `charts`, `formulas`, `pictures`.")
    count = serializers.IntegerField(read_only=True)
    text = serializers.CharField(read_only=True, help_text="Number and kind in the reader's language.")


class DocumentSerializer(serializers.ModelSerializer[Document]):
    """A document; `parse_status` is that of its newest version, `current_version` the number of the one that answers."""

    folder = VisibleFolderField(source="folder_id", help_text="The folder it lies in, null where you may not see that.")
    parse_status = serializers.ChoiceField(choices=ParseStatus.choices, read_only=True)
    newest_version = serializers.IntegerField(read_only=True)
    current_version = serializers.IntegerField(source="current_version.number", default=None, read_only=True)

    metadata = serializers.DictField(
        read_only=True, help_text="Field of the knowledge base → value; dates as ISO 8601."
    )
    stated = serializers.DictField(
        source="current_version.stated",
        default=dict,
        child=serializers.CharField(),
        read_only=True,
        help_text="What the file says of itself (front matter), name → value.",
    )
    not_read = NotReadSerializer(
        source="current_version.not_read", default=list, many=True, read_only=True, help_text="What of it nobody read."
    )

    class Meta:
        model = Document
        fields = (
            "id", "knowledge_base", "folder", "filename", "title", "language", "metadata", "stated", "not_read", "parse_status",
            "newest_version", "current_version", "created_at", "updated_at",
        )  # fmt: skip
        read_only_fields = fields


class ChunkSerializer(serializers.ModelSerializer[Chunk]):
    """A passage; `start` and `end` are character offsets into the text of its version."""

    class Meta:
        model = Chunk
        fields = (
            "id", "version", "position", "kind", "heading_path", "text", "page_from", "page_to", "start", "end",
            "length_tokens",
        )  # fmt: skip
        read_only_fields = fields


class UploadSerializer(serializers.Serializer[Upload]):
    """What became of an uploaded file."""

    outcome = serializers.ChoiceField(choices=[outcome.value for outcome in UploadOutcome])
    document = DocumentSerializer()
    version = VersionSerializer()
