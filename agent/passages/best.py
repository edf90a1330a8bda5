"""The passages closest to a question, each with its most relevant sentences.

Nothing here is tuned to particular questions.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from agent.evidence.injection_filter import find_injections
from agent.text.sentences import Sentence, split_sentences
from agent.text.words import find_content_terms, find_identifiers, term_ids_of
from knowledge.embedding.base import Embedder
from knowledge.retrieval.search import FoundPassages, Hit
from knowledge.retrieval.term_weights import estimate_passage_share, weigh_subject_terms
from knowledge.text.normalise import normalise_text
from knowledge.text.terms import extract_terms, hash_term

MAX = 5  # passages: the best one, and those folded below it
MAX_SENTENCES = 3  # highlighted in a passage
SAID = 0.5  # weight of matching words besides similarity; chosen by hand
BEGINS = 0.5  # … and of beginning with the requested code or number; chosen by hand
MIN_LEFT = 0.2  # share of the question's matter below which what the headings leave open counts for less; by hand
MAX_ROWS = 12  # of a table that is highlighted as a whole; chosen by hand
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


def select_best_passages(
    question: str, found: FoundPassages, embedder: Embedder, *, any_word: bool = False
) -> list[Best]:
    """Return at most MAX relevant passages, best first; none where the best is below the threshold.

    any_word: one content word of the question suffices, for a search in documents that the conversation cites. Raises
    the embedder's errors.
    """
    hits = prefer_hits_with_codes(question, select_relevant_hits(question, found, any_word=any_word))
    chosen: list[Best] = []
    for hit in hits:
        if sentences := select_highlights(question, hit, found, embedder):
            chosen.append(Best(hit, sentences))
        if len(chosen) == MAX:
            break
    return chosen


def select_relevant_hits(question: str, found: FoundPassages, *, any_word: bool = False) -> list[Hit]:
    """Return the relevant hits, in their order."""
    matter = frozenset(map(hash_term, find_content_terms(question))) if any_word else frozenset[int]()
    return [
        hit
        for hit in found.hits
        if is_relevant_hit(hit) or contains_exact_name(question, hit, found) or term_ids_of(hit.passage.text) & matter
    ]


def _weigh_question_terms(question: str, found: FoundPassages) -> dict[int, float]:
    asked = found.asked
    return weigh_subject_terms(question, asked.frequencies, asked.corpus_chunks) if asked else {}


def is_relevant_hit(hit: Hit) -> bool:
    """Return whether a passage is relevant at all, rather than only the best of a search without a good hit."""
    score = hit.scores.rerank
    if score is None or (settings.RERANKER == "maxsim" and score <= -1):  # no token vectors were stored
        return hit.scores.dense >= NEAR["none"]
    return score >= NEAR.get(settings.RERANKER, NEAR["none"])


def select_highlights(question: str, hit: Hit, found: FoundPassages, embedder: Embedder) -> tuple[Sentence, ...]:
    """Return the one to three most relevant sentences of a passage, in reading order."""
    sentences = _list_sentences(hit)
    if not sentences:
        return ()
    scores = _score_sentences(question, hit, sentences, found, embedder)
    order = np.argsort(-scores, kind="stable")[:MAX_SENTENCES]
    near = [int(place) for place in order if scores[place] >= scores[order[0]] - CLOSE]
    return _complete_table(question, tuple(sentences[place][0] for place in sorted(near)), sentences)


def _complete_table(question: str, chosen: tuple[Sentence, ...], parts: Sequence[Told]) -> tuple[Sentence, ...]:
    """Return all rows of a short table where the question names none of the chosen ones: the row with the largest or worst
    value is often not the most similar one.
    """
    rows = tuple(item for item, _under in parts if item.kind == "row" and item.part == chosen[0].part)
    if len(rows) > MAX_ROWS or not set(chosen) <= set(rows):
        return chosen
    asked = frozenset(map(hash_term, find_content_terms(question)))
    terms = {row: term_ids_of(" ".join(row.cells)) for row in rows}
    common = frozenset.intersection(*terms.values())
    return chosen if any(asked & terms[row] - common for row in chosen) else rows


def _score_sentences(
    question: str, hit: Hit, parts: Sequence[Told], found: FoundPassages, embedder: Embedder
) -> NDArray[np.float64]:
    """Score each sentence: its similarity to the question, and its share of the matter that the headings leave open.

    The similarity is that of the sentence together with its headings. A heading inside the passage belongs to the text
    below it.
    """
    passage = hit.passage
    above = [part for part in (passage.title, *passage.heading_path) if part]
    texts = ["\n".join([" > ".join([*above, under] if under else above), item.text]) for item, under in parts]
    likeness = np.asarray(embedder.embed_passages(texts) @ embedder.embed_query(question), float)
    known = term_ids_of("\n".join(above))
    shares = {term: share for term, share in _weigh_question_terms(question, found).items() if term not in known}
    left = max(sum(shares.values()), MIN_LEFT)
    terms = [term_ids_of(f"{under}\n{item.text}") for item, under in parts]
    covered = [sum(share for term, share in shares.items() if term in one) / left for one in terms]
    begins = [begins_with_name(question, item) for item, _under in parts]
    return np.asarray(likeness + SAID * np.array(covered) + BEGINS * np.array(begins))


def _list_sentences(hit: Hit) -> list[Told]:
    """Return the parts that may be highlighted, each with its heading inside the passage.

    Headings and prompt injections are left out.
    """
    sentences: list[Told] = []
    under = ""
    for item in split_sentences(hit.passage.text, hit.passage.blocks)[:MAX_WEIGHED]:
        if item.kind == "heading":
            under = "" if item.text in (hit.passage.title, *hit.passage.heading_path) else item.text
        elif not find_injections(item.text):
            sentences.append((item, under))
    return sentences


_EXACT = re.compile(r"\w[\w@.+/-]*\w", re.ASCII)
_SPACED = re.compile(r"(?<![\w-])([A-Za-z]{1,5}) (\d{2,})(?![\w-])", re.ASCII)
_DIGIT = re.compile(r"\d")
_NO_NAME = re.compile(r"\d{1,3}|(?:19|20)\d\d")  # amounts and years
FEW, SHARE = 5, 0.01  # number or share of a base's passages up to which a name is rare; chosen by hand


def contains_exact_name(question: str, hit: Hit, found: FoundPassages) -> bool:
    """Return whether a passage has a rare name of the question that is no ordinary word, whatever its similarity."""
    if found.asked is None:
        return False
    names = _find_exact_names(question, found.asked.frequencies, found.asked.corpus_chunks)
    terms = term_ids_of(_join_passage_text(hit)) if names else frozenset[int]()
    return any(name <= terms for name in names)


def prefer_hits_with_codes(question: str, hits: list[Hit]) -> list[Hit]:
    """Return the hits with a code of the question, or a variant of it (KG-400-L); all hits where none has one.

    Those with a row or a clause that begins with it come first.
    """
    codes = _find_codes(question)
    naming = [
        hit for hit in hits if any(_is_code_variant(one, codes) for one in find_identifiers(_join_passage_text(hit)))
    ]
    return sorted(naming, key=lambda hit: not _has_matching_row(question, hit)) or hits


def _has_matching_row(question: str, hit: Hit) -> bool:
    return any(begins_with_name(question, item) for item in split_sentences(hit.passage.text, hit.passage.blocks))


def begins_with_name(question: str, sentence: Sentence) -> bool:
    """Return whether a sentence begins with a code or number of the question, like a row or clause about it."""
    first = sentence.cells[0] if sentence.cells else sentence.text
    named = {word.lower() for word in _EXACT.findall(normalise_text(question)) if _DIGIT.search(word)} | _find_codes(
        question
    )
    return any(re.match(rf"\W*{re.escape(name)}(?![\w.]\w)", first, re.IGNORECASE) for name in named)


def _find_codes(question: str) -> frozenset[str]:
    """Return the codes of a question, in lower case; one written with a space in all spellings used in documents."""
    spaced = [(letters.lower(), digits) for letters, digits in _SPACED.findall(normalise_text(question))]
    return find_identifiers(question) | {f"{letters}{dash}{digits}" for letters, digits in spaced for dash in ("", "-")}


def _is_code_variant(code: str, asked: frozenset[str]) -> bool:
    return any(code == one or code.startswith(f"{one}-") for one in asked)


def _find_exact_names(question: str, frequencies: Mapping[int, int], passages: int) -> list[frozenset[int]]:
    """Return the term ids of each exact name found in documents. frequencies: {term id: number of passages}."""
    most = max(FEW, SHARE * passages)
    found = []
    for word in dict.fromkeys(_EXACT.findall(normalise_text(question))):
        parts = extract_terms(word)
        ids = frozenset(map(hash_term, parts))
        is_rare = any(
            0 < frequencies.get(hash_term(part), 0) <= most and not estimate_passage_share(part) for part in parts
        )
        if is_rare and ids <= frequencies.keys() and not _NO_NAME.fullmatch(word):
            found.append(ids)
    return found


def _join_passage_text(hit: Hit) -> str:
    return "\n".join((hit.passage.title, *hit.passage.heading_path, hit.passage.text))
