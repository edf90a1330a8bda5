"""Passages into the index of one embedding space: vectors, term weights and token vectors, a batch at a time."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from knowledge.engine import Engine
from knowledge.ingestion.rows import IndexRow, write_index_rows
from knowledge.models import Chunk, ChunkIndex, Document, DocumentVersion
from knowledge.retrieval.terms import document_terms, lexical_weights
from knowledge.selectors import passage_text

Report = Callable[[int, int], None]

BATCH = 32  # passages in one write: a second or two of work


def index_missing(
    version: DocumentVersion,
    engine: Engine,
    *,
    writing: Callable[[], AbstractContextManager[None]],
    report: Report,
    live: bool,
) -> int:
    """Write the index rows of a version that the engine's space lacks; returns how many.

    writing: opens the transaction of each batch. report: is told (done, total) after each. live: the rows answer at once.
    """
    chunks = list(Chunk.unscoped.filter(version=version).order_by("position"))
    there = set(
        ChunkIndex.unscoped.filter(version=version, space_id=engine.space_id).values_list("chunk_id", flat=True)
    )
    missing = [chunk for chunk in chunks if chunk.id not in there]
    done = len(chunks) - len(missing)
    report(done, len(chunks))
    for batch in _batches(missing):
        rows = _rows(version.document, batch, engine, live=live)
        with writing():
            write_index_rows(rows)
        done += len(batch)
        report(done, len(chunks))
    return len(missing)


def _rows(document: Document, chunks: list[Chunk], engine: Engine, *, live: bool) -> list[IndexRow]:
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
                folder_id=document.folder_id,
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


def _batches(chunks: list[Chunk]) -> Iterator[list[Chunk]]:
    for start in range(0, len(chunks), BATCH):
        yield chunks[start : start + BATCH]
