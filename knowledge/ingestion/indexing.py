"""Passages into the index of one embedding space: vectors, term weights and token vectors, a batch at a time."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

from knowledge.ingestion.rows import IndexRow, write_index_rows
from knowledge.models import Chunk, ChunkIndex, Document, DocumentVersion
from knowledge.retrieval.engine import Engine
from knowledge.selectors import passage_text
from knowledge.text.terms import document_terms, lexical_weights

BATCH = 32  # passages in one write: a second or two of work


def passages_to_index(version: DocumentVersion, engine: Engine) -> tuple[int, list[Chunk]]:
    """Return how many passages of a version are in the engine's space, and the missing ones in order."""
    chunks = list(Chunk.unscoped.filter(version=version, is_retired=False).order_by("position"))
    there = set(
        ChunkIndex.unscoped.filter(version=version, space_id=engine.space_id).values_list("chunk_id", flat=True)
    )
    missing = [chunk for chunk in chunks if chunk.id not in there]
    return len(chunks) - len(missing), missing


def batches(chunks: list[Chunk]) -> Iterator[list[Chunk]]:
    """Yield the passages in order, BATCH at a time."""
    for start in range(0, len(chunks), BATCH):
        yield chunks[start : start + BATCH]


def index_rows(document: Document, chunks: list[Chunk], engine: Engine, *, live: bool) -> list[IndexRow]:
    """Return the index rows of some passages of a document, made by the engine. live: they answer as soon as they are written."""
    texts = [passage_text(document.title, chunk.heading_path, chunk.text) for chunk in chunks]
    vectors, packed = engine.encode(texts)
    average = document.knowledge_base.average_terms
    rows = []
    for chunk, text, vector, tokens in zip(chunks, texts, vectors, packed, strict=True):
        tf = document_terms(text)
        length = sum(tf.values())
        rows.append(
            IndexRow(
                knowledge_base_id=document.knowledge_base_id,
                chunk_id=chunk.id,
                space_id=engine.space_id,
                folder_id=document.access_id,
                document_id=document.pk,
                version_id=chunk.version_id,
                language=document.language,
                live=live,
                term_total=length,
                vector=vector,
                lexical=lexical_weights(tf, length, average),
                packed=tokens,
            )
        )
    return rows


def write_placed(document: Document, rows: list[IndexRow]) -> None:
    """Write index rows of a document into the caller's transaction, at the node that its rights are read from by then."""
    if rows:
        place = _place_of(document)
        write_index_rows([replace(row, folder_id=place) for row in rows])


def _place_of(document: Document) -> UUID:
    """Return the node that the document's rights are read from, locked until the transaction ends."""
    rows = Document.unscoped.select_for_update(no_key=True).filter(pk=document.pk)
    return rows.values_list("access_id", flat=True).get()
