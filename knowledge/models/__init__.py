from knowledge.models.bases import ATTACHMENTS, GraphMode, KnowledgeBase, Language, Recognition
from knowledge.models.chunks import Chunk, ChunkIndex, ChunkTokens, EmbeddingSpace, TermFrequency
from knowledge.models.documents import (
    Document,
    DocumentField,
    DocumentVersion,
    FieldKind,
    ParseStatus,
    Stage,
    StageName,
    StageStatus,
)
from knowledge.models.folders import Folder, FolderKind, FolderLink
from knowledge.models.graph import GraphEntity, GraphMention, GraphMerge, GraphReading, GraphRelation
from knowledge.models.sources import Every, Source, SourceItem, SourceRun, SourceRunState, Trigger
from knowledge.models.webhooks import DeliveryState, Webhook, WebhookDelivery, WebhookEvent

__all__ = [
    "ATTACHMENTS",
    "Chunk",
    "ChunkIndex",
    "ChunkTokens",
    "DeliveryState",
    "Document",
    "DocumentField",
    "DocumentVersion",
    "EmbeddingSpace",
    "Every",
    "FieldKind",
    "Folder",
    "FolderKind",
    "FolderLink",
    "GraphEntity",
    "GraphMention",
    "GraphMerge",
    "GraphMode",
    "GraphReading",
    "GraphRelation",
    "KnowledgeBase",
    "Language",
    "ParseStatus",
    "Recognition",
    "Source",
    "SourceItem",
    "SourceRun",
    "SourceRunState",
    "Stage",
    "StageName",
    "StageStatus",
    "TermFrequency",
    "Trigger",
    "Webhook",
    "WebhookDelivery",
    "WebhookEvent",
]
