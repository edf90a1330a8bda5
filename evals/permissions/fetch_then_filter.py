"""The common baseline: fetch the nearest passages of everybody, then drop those that the person may not read."""

from collections.abc import Callable, Sequence

from django.db import connection
from pgvector import HalfVector

from evals.permissions.adapter import Shown
from evals.permissions.copilot import Copilot
from evals.permissions.world import PermissionsWorld
from knowledge.retrieval.engine import engine

FETCHED = 50  # passages, before the filter
SHOWN = 8  # passages, as many as an answer of ours has at most
_NEAREST = """
SELECT c.document_id, c.text, d.title
FROM knowledge_chunkindex i JOIN knowledge_chunk c ON c.id = i.chunk_id JOIN knowledge_document d ON d.id = c.document_id
WHERE i.knowledge_base_id = %s
ORDER BY i.vector::halfvec({dimensions}) <#> %s::halfvec({dimensions}) LIMIT %s
"""


class FetchThenFilter:
    """Searches the same vectors in the same PostgreSQL. Rights are read when the request begins, as a session usually has them."""

    name = "fetch then filter"

    def __init__(self, loaded: Copilot) -> None:
        """Search in what `loaded` brought in; its rights stay untouched."""
        self._loaded = loaded
        self._rights: dict[str, set[str]] = {}

    def load(self, world: PermissionsWorld) -> None:
        self._rights = {person: set() for person in world.people}

    def grant(self, person: str, documents: Sequence[str]) -> None:
        self._rights[person] |= set(documents)

    def revoke(self, person: str, documents: Sequence[str]) -> None:
        self._rights[person] -= set(documents)

    def ask(self, person: str, question: str, meanwhile: Callable[[], None] | None = None) -> Shown:
        rights = set(self._rights[person])
        vector = engine().embedder.embed_query(question)
        with connection.cursor() as cursor:
            statement = _NEAREST.format(dimensions=len(vector))
            cursor.execute(statement, [self._loaded.corpus.base.pk, HalfVector(vector).to_text(), FETCHED])
            fetched = [(self._loaded.names[document], text, title) for document, text, title in cursor.fetchall()]
        if meanwhile:
            meanwhile()
        kept = [row for row in fetched if row[0] in rights][:SHOWN]
        return Shown(
            {"answer": "\n".join(text for _id, text, _title in kept), "titles": "\n".join(title for *_, title in kept)},
            [document for document, *_ in kept],
        )
