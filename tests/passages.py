"""Passages made by hand, for tests that need exact scores or many rows and no model."""

from collections.abc import Mapping
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from knowledge.ingestion.indexing import IndexRow, write_index_rows
from knowledge.models import Chunk, Document, EmbeddingSpace
from tests.factories import newest_version

DIMENSIONS = 4


def make_space(name: str = "by-hand") -> EmbeddingSpace:
    return EmbeddingSpace.objects.get_or_create(name=name, defaults={"dimensions": DIMENSIONS})[0]


def make_passage(
    document: Document,
    *spaces: EmbeddingSpace,
    vector: NDArray[np.float32] | None = None,
    lexical: Mapping[int, float] | None = None,
    language: str = "en",
    live: bool = True,
) -> Chunk:
    """A passage of the document's newest version, with its index row and token vectors in each space.

    vector: (DIMENSIONS,), the first axis when None. lexical: {term id: weight}, term 1 with weight 1 when None.
    """
    version = newest_version(document)
    chunk = Chunk.unscoped.create(
        id=uuid4(),
        knowledge_base_id=document.knowledge_base_id,
        document=document,
        version=version,
        position=Chunk.unscoped.filter(version=version).count(),
        text=f"Passage of {document.title}.",
        kind="paragraph",
        start=0,
        end=1,
        length_tokens=3,
    )
    axis = np.eye(1, DIMENSIONS, dtype=np.float32)[0]
    weights = {1: 1.0} if lexical is None else lexical
    write_index_rows(
        [
            IndexRow(
                knowledge_base_id=document.knowledge_base_id,
                chunk_id=chunk.id,
                space_id=space.pk,
                folder_id=document.access_id,
                document_id=document.pk,
                version_id=version.pk,
                language=language,
                live=live,
                term_total=len(weights),
                vector=axis if vector is None else vector,
                lexical=weights,
                packed=b"tokens",
            )
            for space in spaces
        ]
    )
    return chunk
