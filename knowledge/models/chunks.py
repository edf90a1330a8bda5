import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField, SparseVectorField

from authz.rights.managers import Guarded
from copilot_site.lib.text.line_fields import LineField, LongLineField
from knowledge.models.bases import KnowledgeBase
from knowledge.models.documents import Document, DocumentVersion
from knowledge.models.folders import Folder


class EmbeddingSpace(models.Model):
    """A vector space that chunks are embedded in; spaces live side by side, one of them answers."""

    id = models.SmallAutoField(primary_key=True)
    name = LineField(_("name"), max_length=200, unique=True)
    dimensions = models.PositiveIntegerField(_("dimensions"))
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Chunk(Guarded):
    """A passage of one version of a document, as it is shown and cited.

    `start` and `end` are character offsets into the version's text. The id is made from version and position, so that doing a
    stage again writes the same rows. The knowledge base is part of the key: the table can be partitioned or distributed by it.
    blocks: the blocks that it is made of, in order; [] for one that was cut before blocks were kept.
    is_retired: its version is cut otherwise by now; it is not indexed any more, and stays for the answers that cite it.

    The version implies document, base and folder: the database checks the version's key alone, here and in the index rows, and
    keeps no index that begins like another one. Every check is a look-up for every row of an import.
    """

    RIGHTS_AT = "document__access_id"

    pk = models.CompositePrimaryKey("knowledge_base_id", "id")
    id = models.UUIDField(default=uuid.uuid4, editable=False)
    knowledge_base = models.ForeignKey(
        KnowledgeBase, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    document = models.ForeignKey(Document, models.CASCADE, related_name="+", db_constraint=False)
    version = models.ForeignKey(DocumentVersion, models.CASCADE, related_name="+", db_index=False)
    position = models.PositiveIntegerField()
    text = models.TextField()
    heading_path = ArrayField(LongLineField(), default=list)
    blocks = models.JSONField(default=list, db_default=models.Value([], models.JSONField()), blank=True, editable=False)
    kind = models.CharField(max_length=16)
    page_from = models.PositiveIntegerField(null=True)
    page_to = models.PositiveIntegerField(null=True)
    page_starts = ArrayField(models.IntegerField(), default=list)  # where in the text each page after page_from begins
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    length_tokens = models.PositiveIntegerField()
    is_retired = models.BooleanField(default=False, db_default=False, editable=False)

    class Meta(Guarded.Meta):
        verbose_name = _("passage")
        verbose_name_plural = _("passages")
        ordering = ("position",)
        indexes = [models.Index("version", "position", name="chunk_in_version")]

    def __str__(self) -> str:
        return f"{self.document_id} #{self.position}"


class ChunkIndex(Guarded):
    """The index row of a chunk: its vector, its term weights, and its place.

    `live` is set by the flip that publishes a version. Language and folder are copied here so that the filter and the order
    are one scan of one table; `folder` is the document's `access`, and the flip corrects it.
    """

    RIGHTS_AT = "folder_id"

    pk = models.CompositePrimaryKey("knowledge_base_id", "chunk_id", "space_id")
    knowledge_base = models.ForeignKey(
        KnowledgeBase, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    chunk_id = models.UUIDField()
    space = models.ForeignKey(EmbeddingSpace, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    folder = models.ForeignKey(Folder, models.CASCADE, related_name="+", db_index=False, db_constraint=False)
    document = models.ForeignKey(Document, models.CASCADE, related_name="+", db_constraint=False)
    version = models.ForeignKey(DocumentVersion, models.CASCADE, related_name="+")
    language = models.CharField(max_length=8, blank=True)
    live = models.BooleanField(default=False)
    term_total = models.PositiveIntegerField()
    vector = HalfVectorField()
    lexical = SparseVectorField()
    term_ids = ArrayField(models.IntegerField())

    class Meta(Guarded.Meta):
        indexes = [models.Index("folder", "space", name="chunks_of_folder")]


class ChunkTokens(Guarded):
    """Packed token vectors of a chunk, for late interaction; a table of its own, so that scans of the index stay small."""

    RIGHTS_AT = "version__document__access_id"

    pk = models.CompositePrimaryKey("knowledge_base_id", "chunk_id", "space_id")
    knowledge_base = models.ForeignKey(
        KnowledgeBase, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    chunk_id = models.UUIDField()
    space = models.ForeignKey(EmbeddingSpace, models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    version = models.ForeignKey(DocumentVersion, models.CASCADE, related_name="+")
    packed = models.BinaryField()


class TermFrequency(models.Model):
    """The number of live chunks of a knowledge base that hold a term: the idf of exact BM25."""

    pk = models.CompositePrimaryKey("knowledge_base_id", "term_id")
    knowledge_base = models.ForeignKey(
        KnowledgeBase, models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    term_id = models.IntegerField()
    chunks = models.IntegerField()

    unscoped = models.Manager()

    class Meta:
        default_manager_name = "unscoped"
        base_manager_name = "unscoped"
