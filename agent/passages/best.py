"""The passages closest to a question, each with its most relevant sentences.

Nothing here is tuned to particular questions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from agent.evidence.injection_filter import injections_in
from agent.passages.exact_names import begins_with_name, codes_first, names_exactly
from agent.text.sentences import Sentence, split
from agent.text.words import matter_terms, term_ids
from knowledge.embedding.base import Embedder
from knowledge.retrieval.search import Found, Hit
from knowledge.retrieval.term_weights import matter_weights
from knowledge.text.terms import term_id

MAX = 5  # passages: the best one, and those folded below it
MAX_SENTENCES = 3  # highlighted in a passage
SAID = 0.5  # weight of matching words besides similarity; chosen by hand
BEGINS = 0.5  # … and of beginning with the requested code or number; chosen by hand
MIN_LEFT = 0.2  # share of the question's matter below which what the headings leave open counts for less; by hand
CLOSE = 0.15  # score distance from the best sentence up to which others are highlighted too
MAX_WEIGHED = 40  # sentences of a passage
# The threshold from which a passage is relevant at all, on the ranker's scale.
NEAR = {"maxsim": 0.4, "cross_encoder": 0.1, "none": 0.82}


Told = tuple[Sentence, str]
"""A sentence, and the heading inside its passage that it stands under; "" for none."""


@dataclass(frozen=True)
class Best:
    """A passage of an answer and its highlighted sentences, in reading order."""

    hit: Hit
    sentences: tuple[Sentence, ...]

    @property
    def start(self) -> int:
        """Return the offset of the first highlighted sentence."""
        return self.sentences[0].start

    @property
    def end(self) -> int:
        """Return the end offset of the last highlighted sentence."""
        return self.sentences[-1].end


def best_passages(question: str, found: Found, embedder: Embedder, *, any_word: bool = False) -> list[Best]:
    """Return at most MAX relevant passages, best first; none where the best is below the threshold.

    any_word: one content word of the question suffices, for a search in documents that the conversation cites. Raises
    the embedder's errors.
    """
    hits = codes_first(question, speaking(question, found, any_word=any_word))
    chosen: list[Best] = []
    for hit in hits:
        if sentences := highlighted(question, hit, found, embedder):
            chosen.append(Best(hit, sentences))
        if len(chosen) == MAX:
            break
    return chosen


def speaking(question: str, found: Found, *, any_word: bool = False) -> list[Hit]:
    """Return the relevant hits, in their order."""
    matter = frozenset(map(term_id, matter_terms(question))) if any_word else frozenset[int]()
    return [
        hit
        for hit in found.hits
        if is_near(hit) or names_exactly(question, hit, found) or term_ids(hit.passage.text) & matter
    ]


def _matter(question: str, found: Found) -> dict[int, float]:
    asked = found.asked
    return matter_weights(question, asked.frequencies, asked.corpus_chunks) if asked else {}


def is_near(hit: Hit) -> bool:
    """Return whether a passage is relevant at all, rather than only the best of a search without a good hit."""
    score = hit.scores.rerank
    if score is None or (settings.RERANKER == "maxsim" and score <= -1):  # no token vectors were stored
        return hit.scores.dense >= NEAR["none"]
    return score >= NEAR.get(settings.RERANKER, NEAR["none"])


def highlighted(question: str, hit: Hit, found: Found, embedder: Embedder) -> tuple[Sentence, ...]:
    """Return the one to three most relevant sentences of a passage, in reading order."""
    sentences = _sentences_of(hit)
    if not sentences:
        return ()
    scores = _weighed(question, hit, sentences, found, embedder)
    order = np.argsort(-scores, kind="stable")[:MAX_SENTENCES]
    near = [int(place) for place in order if scores[place] >= scores[order[0]] - CLOSE]
    return tuple(sentences[place][0] for place in sorted(near))


def _weighed(question: str, hit: Hit, parts: Sequence[Told], found: Found, embedder: Embedder) -> NDArray[np.float64]:
    """Score each sentence: its similarity to the question, and its share of the matter that the headings leave open.

    The similarity is that of the sentence together with its headings. A heading inside the passage belongs to the text
    below it.
    """
    passage = hit.passage
    above = [part for part in (passage.title, *passage.heading_path) if part]
    texts = ["\n".join([" > ".join([*above, under] if under else above), item.text]) for item, under in parts]
    likeness = np.asarray(embedder.embed_passages(texts) @ embedder.embed_query(question), float)
    known = term_ids("\n".join(above))
    shares = {term: share for term, share in _matter(question, found).items() if term not in known}
    left = max(sum(shares.values()), MIN_LEFT)
    terms = [term_ids(f"{under}\n{item.text}") for item, under in parts]
    covered = [sum(share for term, share in shares.items() if term in one) / left for one in terms]
    begins = [begins_with_name(question, item) for item, _under in parts]
    return np.asarray(likeness + SAID * np.array(covered) + BEGINS * np.array(begins))


def _sentences_of(hit: Hit) -> list[Told]:
    """Return the parts that may be highlighted, each with its heading inside the passage.

    Headings and prompt injections are left out.
    """
    sentences: list[Told] = []
    under = ""
    for item in split(hit.passage.text, hit.passage.blocks)[:MAX_WEIGHED]:
        if item.kind == "heading":
            under = "" if item.text in (hit.passage.title, *hit.passage.heading_path) else item.text
        elif not injections_in(item.text):
            sentences.append((item, under))
    return sentences
