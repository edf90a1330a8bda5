"""The question sets as the extractive reader meets them: passages in the order of the product's own ranking.

Vectors are kept in the folder COPILOT_BENCH_CACHE (default: .copilot/bench), because embedding takes minutes.
"""

import os
import pickle
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.extractive.passages import Passage
from knowledge.embedding.base import EmbedderOptions, embedders
from knowledge.evaluation.datasets import Dataset, Query, load_dataset
from knowledge.retrieval.fusion import POOLED_WEIGHT, fuse, supported
from knowledge.retrieval.rerank.base import Candidate, Question
from knowledge.retrieval.rerank.maxsim import MaxSimReranker, pack
from knowledge.retrieval.token_vectors import SENTENCE_SCALE, pooled
from knowledge.text.terms import document_terms, lexical_weights, query_weights, term_id, terms

DATA = Path(os.environ.get("COPILOT_DATA", "../shared/data"))
CACHE = Path(os.environ.get("COPILOT_BENCH_CACHE", ".copilot/bench"))
MODELS = Path(os.environ.get("COPILOT_MODELS", ".copilot/models"))
KEPT = 8  # passages that the reader is given, as in the product


class MemoEmbedder:
    """The bundled embedder, which remembers every text it has seen; `save` keeps them for the next run."""

    def __init__(self) -> None:
        import knowledge.embedding.bundled  # noqa: F401  (registers itself)

        self.embedder: Any = embedders.get("bundled")(EmbedderOptions(cache_dir=MODELS, threads=2))
        self.space, self.dimensions, self.max_tokens = self.embedder.space, 384, 512
        self._file = CACHE / f"{self.space}.texts.pkl"
        self._seen: dict[str, NDArray[np.float16]] = (
            pickle.loads(self._file.read_bytes()) if self._file.exists() else {}
        )

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._seen]
        if new:
            self._seen.update(zip(new, self.embedder.embed_passages(new).astype(np.float16), strict=True))
        return np.array([self._seen[text] for text in texts], np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        key = f"query: {text}"
        if key not in self._seen:
            self._seen[key] = self.embedder.embed_query(text).astype(np.float16)
        return self._seen[key].astype(np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return list(self.embedder.count_tokens(texts))

    def save(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_bytes(pickle.dumps(self._seen))


@dataclass
class Collection:
    """One set with its ranking."""

    name: str
    embedder: MemoEmbedder
    _found: dict[int, list[tuple[int, Passage]]] = field(default_factory=dict)

    @cached_property
    def dataset(self) -> Dataset:
        return load_dataset(DATA / self.name)

    @cached_property
    def texts(self) -> list[str]:
        return [f"{document.title}\n{document.text}" for document in self.dataset.corpus]

    @cached_property
    def relevant(self) -> list[set[int]]:
        place = {document.id: index for index, document in enumerate(self.dataset.corpus)}
        qrels = self.dataset.qrels
        return [{place[d] for d, grade in qrels.get(q.id, {}).items() if grade > 0} for q in self.dataset.queries]

    @cached_property
    def vectors(self) -> dict[str, Any]:
        """passages, questions: (n, d); packed: bytes a passage; question_tokens: (tokens, d) each; cached in a file."""
        file = CACHE / f"{self.name}.{self.embedder.space}.pooled.pkl"
        if not file.exists():
            model = self.embedder.embedder
            tokens = model.passage_tokens(self.texts)
            weights = model.token_weights(self.texts)
            asked = [model.query_tokens(query.text) for query in self.dataset.queries]
            heavy = [
                self._query_weights(query.text, rows) for query, rows in zip(self.dataset.queries, asked, strict=True)
            ]
            found = {
                "passages": np.array([pooled(rows, w) for rows, w in zip(tokens, weights, strict=True)]),
                "packed": [pack(rows) for rows in tokens],
                "questions": np.array([pooled(rows, w) for rows, w in zip(asked, heavy, strict=True)]),
                "question_tokens": asked,
            }
            CACHE.mkdir(parents=True, exist_ok=True)
            file.write_bytes(pickle.dumps(found))
        return dict(pickle.loads(file.read_bytes()))

    @cached_property
    def term_counts(self) -> list[dict[int, int]]:
        return [document_terms(text) for text in self.texts]

    @cached_property
    def frequencies(self) -> Counter[int]:
        return Counter(term for counts in self.term_counts for term in counts)

    @cached_property
    def postings(self) -> dict[int, list[tuple[int, float]]]:
        average = sum(sum(counts.values()) for counts in self.term_counts) / len(self.texts)
        found: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for number, counts in enumerate(self.term_counts):
            for term, weight in lexical_weights(counts, sum(counts.values()), average).items():
                found[term].append((number, weight))
        return found

    def shares(self, query: Query) -> dict[int, float]:
        return query_weights([term_id(term) for term in terms(query.text)], self.frequencies, len(self.texts))

    def passages(self, number: int) -> list[tuple[int, Passage]]:
        """(document, passage) for question `number`, best first."""
        if number not in self._found:
            self._found[number] = self._passages(number)
        return self._found[number]

    def _passages(self, number: int) -> list[tuple[int, Passage]]:
        lexical = np.zeros(len(self.texts))
        for term, share in self.shares(self.dataset.queries[number]).items():
            for document, weight in self.postings[term]:
                lexical[document] += share * weight
        vectors = self.vectors
        dense = vectors["passages"] @ vectors["questions"][number]
        fused = fuse(dense, lexical.astype(np.float32), weight=POOLED_WEIGHT)
        finalists = np.argsort(-fused)[: MaxSimReranker.depth].tolist()
        text, tokens = self.dataset.queries[number].text, vectors["question_tokens"][number]
        question = Question(text, tokens, self._query_weights(text, tokens))
        candidates = [Candidate(float(fused[i]), float(lexical[i]), tokens=vectors["packed"][i]) for i in finalists]
        coverage = MaxSimReranker().rerank(question, candidates)
        offset, slope = SENTENCE_SCALE
        order = np.argsort(-(coverage + supported(finalists, coverage)))[:KEPT]
        found = [(finalists[place], float(coverage[place])) for place in order]
        corpus = self.dataset.corpus
        return [
            (i, Passage(corpus[i].text, corpus[i].title, (), offset + slope * float(dense[i]), covered))
            for i, covered in found
        ]

    def _query_weights(self, text: str, tokens: NDArray[np.float32]) -> NDArray[np.float32]:
        weights: NDArray[np.float32] = self.embedder.embedder.token_weights([text])[0][: len(tokens)]
        return weights
