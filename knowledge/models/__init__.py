from knowledge.models.bases import KnowledgeBase, Recognition
from knowledge.models.chunks import Chunk, ChunkIndex, ChunkTokens, EmbeddingSpace, TermFrequency
from knowledge.models.documents import Document, DocumentVersion, ParseStatus, Stage, StageName, StageStatus
from knowledge.models.folders import Folder, FolderKind, FolderLink

__all__ = [
    "Chunk",
    "ChunkIndex",
    "ChunkTokens",
    "Document",
    "DocumentVersion",
    "EmbeddingSpace",
    "Folder",
    "FolderKind",
    "FolderLink",
    "KnowledgeBase",
    "ParseStatus",
    "Recognition",
    "Stage",
    "StageName",
    "StageStatus",
    "TermFrequency",
]
