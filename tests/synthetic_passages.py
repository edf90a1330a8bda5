"""Synthetic passages spread over the folders of a base, and people who see shares of them."""

import random
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import grant_rights
from evals.rights_world import make_member, make_tree
from knowledge.ingestion.indexing import IndexRow, write_index_rows
from knowledge.models import Document, DocumentVersion, EmbeddingSpace, Folder

DIMENSIONS = 384
TOPICS = 200  # centres that the vectors lie around
SPREAD = 0.8  # length of the noise beside a centre of length 1
TERMS = 500
BATCH = 2_000  # index rows in one COPY


class Collection:
    """Passages spread evenly over the leaves of a tree, and people who see shares of them."""

    def __init__(self, passages: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.random = np.random.default_rng(seed)
        self.centres = self._unit(self.random.standard_normal((TOPICS, DIMENSIONS)))
        self.space = EmbeddingSpace.objects.create(name=f"benchmark {uuid4()}", dimensions=DIMENSIONS)
        self.base, folders = make_tree(1_112)
        self.leaves = folders[112:]  # a thousand
        self._fill(passages // len(self.leaves))

    def reader(self, share: float) -> Principal:
        """A person who sees a share of the passages: through grants on leaves, or on the base when it is all."""
        user, (group,) = make_member(1)
        if share == 1:
            grant_rights(None, [Right.VIEW], self.base, to=group)
        else:
            for leaf in self.chance.sample(self.leaves, max(1, round(share * len(self.leaves)))):
                grant_rights(None, [Right.VIEW], leaf, to=group)
        return Principal.of(user)

    def question(self) -> tuple[NDArray[np.float32], int]:
        """A vector near a topic and a term."""
        return self._near(1)[0], self.chance.randrange(1, TERMS)

    def _fill(self, in_each: int) -> None:
        documents = [
            Document(knowledge_base=self.base, folder=leaf, access=leaf, filename="a.md", title="a")
            for leaf in self.leaves
        ]
        Document.unscoped.bulk_create(documents)
        versions = [DocumentVersion(document=document, number=1, size_bytes=1) for document in documents]
        DocumentVersion.unscoped.bulk_create(versions)
        Folder.unscoped.filter(pk__in=[leaf.pk for leaf in self.leaves]).update(chunk_count=in_each)
        rows: list[IndexRow] = []
        for version in versions:
            rows += [self._row(version, vector) for vector in self._near(in_each)]
            if len(rows) >= BATCH:
                write_index_rows(rows)
                rows = []
        write_index_rows(rows)

    def _row(self, version: DocumentVersion, vector: NDArray[np.float32]) -> IndexRow:
        document = version.document
        return IndexRow(
            knowledge_base_id=self.base.pk, chunk_id=uuid4(), space_id=self.space.pk, folder_id=document.folder_id,
            document_id=document.pk, version_id=version.pk, language="en", live=True, term_total=1, vector=vector,
            lexical={self.chance.randrange(1, TERMS): 1.0}, packed=None,
        )  # fmt: skip

    def _near(self, count: int) -> NDArray[np.float32]:
        noise = self._unit(self.random.standard_normal((count, DIMENSIONS))) * SPREAD
        return self._unit(self.centres[self.random.integers(0, TOPICS, count)] + noise)

    @staticmethod
    def _unit(rows: NDArray[np.float64] | NDArray[np.float32]) -> NDArray[np.float32]:
        unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit
