"""Rank the same passages with bm25s: the peer beside our lexical stage in `evaluate_retrieval --peer`.

Nothing of ours is in its tokens: words in lower case without their endings, Chinese in characters and neighbouring pairs.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import Stemmer
from django.db.models import F

from authz.principal import Principal
from evals.search.corpus import LoadedCorpus
from knowledge.models import Chunk
from knowledge.selectors import SHOWN_WITH, shown

NAME = "bm25s"
DEPTH = 100  # passages, as many as our own stage gives
_RUN = re.compile(r"(?P<han>[\u3400-\u9fff]+)|(?P<word>[^\W_\u3400-\u9fff]+)")
_STEMMER = Stemmer.Stemmer("english")


class LexicalPeer:
    """Indexes the passages of a corpus by bm25s, with its own constants (k1 1.5, b 0.75)."""

    def __init__(self, corpus: LoadedCorpus, reader: Principal) -> None:
        import bm25s  # part of the development requirements

        rows = Chunk.objects.visible_to(reader).filter(
            knowledge_base=corpus.base, version_id=F("document__current_version_id"), is_retired=False
        )
        passages = [shown(row) for row in rows.select_related(*SHOWN_WITH)]
        self.documents = np.array([corpus.external_ids[passage.document_id] for passage in passages])
        self.languages = np.array([passage.language for passage in passages])
        self.index = bm25s.BM25()
        self.index.index([list(tokens(passage.embedded_text)) for passage in passages], show_progress=False)

    def rank(self, question: str, language: str) -> list[tuple[str, float]]:
        """Return (document, score) of the best passages, best first. language: "" for all."""
        asked = [token for token in tokens(question) if token in self.index.vocab_dict]
        if not asked:
            return []
        scores = self.index.get_scores(asked)
        if language:
            scores = np.where(self.languages == language, scores, 0.0)
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        return [(str(self.documents[place]), float(scores[place])) for place in best if scores[place] > 0]


def tokens(text: str) -> Iterator[str]:
    """Split a text into stems of words, and into the characters and neighbouring pairs of Chinese."""
    for run in _RUN.finditer(text.lower()):
        if han := run["han"]:
            yield from han
            yield from map("".join, pairwise(han))
        else:
            yield _STEMMER.stemWord(run["word"])
