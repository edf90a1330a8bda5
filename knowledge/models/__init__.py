from knowledge.models.bases import ATTACHMENTS, Graph, KnowledgeBase, Language, Recognition
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
from knowledge.models.sources import Every, RunState, Source, SourceItem, SourceRun, Trigger
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
    "Graph",
    "GraphEntity",
    "GraphMention",
    "GraphMerge",
    "GraphReading",
    "GraphRelation",
    "KnowledgeBase",
    "Language",
    "ParseStatus",
    "Recognition",
    "RunState",
    "Source",
    "SourceItem",
    "SourceRun",
    "Stage",
    "StageName",
    "StageStatus",
    "TermFrequency",
    "Trigger",
    "Webhook",
    "WebhookDelivery",
    "WebhookEvent",
]
