"""Make a large synthetic collection: mixtures of real passages, in batches that an interruption does not undo."""

import random
from dataclasses import dataclass
from uuid import uuid4

import numpy as np
from django.db import connection, transaction
from django.utils import timezone
from numpy.typing import NDArray

from authz.principal import Principal
from copilot_site.lib.database import hold_process_lock
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.progress import show_progress_bar
from evals.rights_world import make_tree
from knowledge.ingestion.indexing import IndexRow, write_index_rows
from knowledge.models import Chunk, ChunkIndex, Document, DocumentVersion, Folder, KnowledgeBase, ParseStatus
from knowledge.retrieval.engine import load_engine
from knowledge.services.indexes import build_search_indexes, drop_indexes

FOLDERS = 2_223  # with ten in each, 2,000 of them are leaves, which hold the documents
IN_DOCUMENT = 20  # passages
BATCH = 1_000  # passages in one transaction
SEED = 1  # of everything that is chosen by chance
SKEW = 1.0  # standard deviation of the logarithm of a folder's share
TOPIC = 100  # neighbouring passages, out of which a folder with a topic is filled; every other folder has one
FAR_APART = 7_919  # passages between the topics of two folders; a prime, so that they meet late

# What publishing counts for each document, once for all of them.
_COUNTS = (
    "DELETE FROM knowledge_termfrequency WHERE knowledge_base_id = %(base)s",
    """
    INSERT INTO knowledge_termfrequency (knowledge_base_id, term_id, chunks)
    SELECT i.knowledge_base_id, t.term_id, count(*)
    FROM knowledge_chunkindex i CROSS JOIN LATERAL unnest(i.term_ids) AS t(term_id)
    WHERE i.knowledge_base_id = %(base)s GROUP BY 1, 2""",
    """
    UPDATE knowledge_folder f SET chunk_count = c.chunks, term_count = c.terms
    FROM (
        SELECT folder_id, count(*) AS chunks, sum(term_total) AS terms FROM knowledge_chunkindex
        WHERE knowledge_base_id = %(base)s GROUP BY 1
    ) c
    WHERE f.id = c.folder_id""",
)
_TABLES = (
    "knowledge_chunkindex, knowledge_chunk, knowledge_document, knowledge_documentversion, knowledge_folder,"
    " knowledge_folderlink, knowledge_termfrequency"
)


@dataclass(frozen=True)
class RealPassage:
    """A real passage. vector: (dimensions,), unit length. lexical: {term id: weight}. terms: its length."""

    title: str
    heading_path: list[str]
    text: str
    language: str
    vector: NDArray[np.float32]
    lexical: dict[int, float]
    terms: int

    @property
    def question(self) -> str:
        """Return a question about the passage: its document's title and the heading above it."""
        return " ".join([self.title, *self.heading_path[-1:]])


def read_sources(principal: Principal, base: KnowledgeBase) -> list[RealPassage]:
    """Read the passages of a base in the order of their documents. Raises InvalidInput where there are none."""
    rows = ChunkIndex.objects.visible_to(principal).filter(
        knowledge_base=base, space_id=load_engine().space_id, live=True
    )
    indexed = {row.chunk_id: row for row in rows}
    chunks = Chunk.objects.visible_to(principal).filter(knowledge_base=base).select_related("document")
    found = [
        RealPassage(
            title=chunk.document.title,
            heading_path=chunk.heading_path,
            text=chunk.text,
            language=chunk.document.language,
            vector=np.array(indexed[chunk.id].vector, np.float32),
            lexical=dict(zip(indexed[chunk.id].lexical.indices(), indexed[chunk.id].lexical.values(), strict=True)),
            terms=indexed[chunk.id].term_total,
        )
        for chunk in chunks.order_by("document__filename", "document_id", "position")
        if chunk.id in indexed
    ]
    if not found:
        raise InvalidInput(f"“{base.name}” has no passages that you may see; import documents first.")
    return found


class Scale:
    """A knowledge base of its own that grows to as many passages as are asked for, the same ones in each run."""

    def __init__(self, sources: list[RealPassage]) -> None:
        self.sources = sources
        self.space_id = load_engine().space_id  # a look-up, so once
        self.base = self._base()
        self.leaves = list(Folder.unscoped.filter(knowledge_base=self.base, children=None).order_by("name"))
        shares = np.random.default_rng(SEED).lognormal(sigma=SKEW, size=len(self.leaves))
        self.shares = shares / shares.sum()

    @property
    def passages(self) -> int:
        return ChunkIndex.unscoped.filter(knowledge_base=self.base).count()

    def grow(self, passages: int) -> None:
        """Write the missing passages, a batch in a transaction; then count, build the indexes, and gather statistics."""
        there, wanted = self.passages // BATCH, -(-passages // BATCH)
        if there > wanted:
            raise InvalidInput(
                f"“{self.base.name}” has {there * BATCH} passages already; ask for as many, or delete it."
            )
        if there < wanted:
            drop_indexes(self.space_id)  # inserting into them takes many times longer than building them
            with hold_process_lock("tend indexes"):  # a worker of this home would build them meanwhile, row by row
                for number in show_progress_bar(range(there, wanted), desc="passages", unit=f"{BATCH}"):
                    with transaction.atomic():
                        self._write(number)
        folders = Folder.unscoped.filter(knowledge_base=self.base)
        with connection.cursor() as cursor:
            if sum(folders.values_list("chunk_count", flat=True)) != self.passages:
                with transaction.atomic():
                    for statement in _COUNTS:
                        cursor.execute(statement, {"base": self.base.pk})
            build_search_indexes(patience_s=3_600)  # a worker of this home may build them already
            cursor.execute(f"VACUUM (ANALYZE) {_TABLES}")

    def questions(self, count: int) -> list[str]:
        """Return questions about passages anywhere in the collection, the same ones in each run."""
        chance = random.Random(SEED)  # noqa: S311 - repeats a run, hides nothing
        return [chance.choice(self.sources).question for _ in range(count)]

    def _base(self) -> KnowledgeBase:
        name = f"Benchmark scale {SEED}"
        if base := KnowledgeBase.unscoped.filter(name=name).first():
            return base
        with transaction.atomic():
            base, _folders = make_tree(FOLDERS, name)
            base.average_terms = float(np.mean([source.terms for source in self.sources]))
            base.save(update_fields=["average_terms"])
            return base

    def _write(self, number: int) -> None:
        """Write one batch of documents, each in a folder chosen by its share."""
        chance = np.random.default_rng([SEED, number])
        documents, chunks, rows = list[Document](), list[Chunk](), list[IndexRow]()
        for place in chance.choice(len(self.leaves), BATCH // IN_DOCUMENT, p=self.shares).tolist():
            leaf = self.leaves[place]
            document = Document(
                knowledge_base=self.base, folder=leaf, access=leaf, filename=f"{number}-{len(documents)}.md",
                current_version_id=uuid4(),
            )  # fmt: skip
            for position in range(IN_DOCUMENT):
                first, second = self._pair(place, chance)
                document.title, document.language = first.title, first.language
                row = self._row(document, first, second, chance)
                rows.append(row)
                chunks.append(
                    Chunk(
                        knowledge_base=self.base, id=row.chunk_id, document=document, version_id=row.version_id,
                        position=position, text=first.text, heading_path=first.heading_path, kind="text", start=0,
                        end=len(first.text), length_tokens=first.terms,
                    )
                )  # fmt: skip
            documents.append(document)
        Document.unscoped.bulk_create(documents)
        DocumentVersion.unscoped.bulk_create(
            DocumentVersion(
                id=document.current_version_id, document=document, number=1, size_bytes=1,
                published_at=timezone.now(), parse_status=ParseStatus.COMPLETED,
            )
            for document in documents
        )  # fmt: skip
        Chunk.unscoped.bulk_create(chunks)
        write_index_rows(rows)

    def _pair(self, place: int, chance: np.random.Generator) -> tuple[RealPassage, RealPassage]:
        """Choose two real passages; neighbours for a folder with a topic."""
        count = len(self.sources)
        begin, reach = (place * FAR_APART, TOPIC) if place % 2 else (0, count)
        one, other = (begin + chance.integers(0, reach, 2)).tolist()
        return self.sources[one % count], self.sources[other % count]

    def _row(
        self, document: Document, first: RealPassage, second: RealPassage, chance: np.random.Generator
    ) -> IndexRow:
        """Mix two passages, more of the first: their vectors, and a share of the words of each."""
        share = chance.uniform(0.5, 1.0)
        vector = share * first.vector + (1 - share) * second.vector
        lexical = dict[int, float]()
        for source, part in ((second, 1 - share), (first, share)):
            is_kept = chance.random(len(source.lexical)) < part
            lexical |= {
                term: weight for (term, weight), kept in zip(source.lexical.items(), is_kept, strict=True) if kept
            }
        assert document.current_version_id is not None  # a new document's is chosen with it
        return IndexRow(
            knowledge_base_id=self.base.pk, chunk_id=uuid4(), space_id=self.space_id, folder_id=document.access_id,
            document_id=document.pk, version_id=document.current_version_id, language=document.language, live=True,
            term_total=first.terms, vector=vector / np.linalg.norm(vector), lexical=lexical, packed=None,
        )  # fmt: skip
