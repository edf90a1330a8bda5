"""A second look, in the documents of the other language, where those of the question's own language confirm no answer. What it
brings is shown first among what comes closest, and confirms nothing.

The same search under the same rights, in documents of the other language alone; the same reader, to which a sentence says a word of
the question where a translation of it stands (`TermBridge`); a verdict of its own, for similarity and words weigh otherwise across
languages (docs/adr/0006-abstention.md). Sentences in the question's own language are never judged here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from agent.answerability.classifier import AbstainReason, Verdict, model_in
from agent.answerability.opposites import is_of_other_kind
from agent.cited_answer import CitedAnswer
from agent.extractive.candidates import MEASURES, Candidate, said_givens
from agent.extractive.identifiers import spelt_names
from agent.extractive.passages import Passage
from agent.extractive.questions import Question, analyse, is_of_other_days, lacks_amount
from agent.extractive.reader import Reading, read
from agent.extractive.term_bridge import TermBridge
from agent.extractive.wording import pattern
from agent.quotations.answers import cited, passages_of
from authz.principal import Principal
from knowledge.dictionary.cedict import DictionaryMissing
from knowledge.dictionary.words import dictionary
from knowledge.embedding.base import Embedder
from knowledge.retrieval.search import Found, Scope, search
from knowledge.retrieval.term_weights import matter_weights
from knowledge.text.terms import is_han, term_id, terms

OTHER: Final = {True: "en", False: "zh"}  # language of the documents, for a Chinese question and another
SIGNALS: Final = (
    "support",  # the reader's probability of what the best sentence says, among all it compared
    "similarity",  # of question and sentence
    "shortfall",  # what the passages together cover of the question, and the answer's passage does not
    "in_sentence",  # share of the question's words, by rarity, in the best sentence,
    "in_context",  # … with its neighbours and headings,
    "in_passage",  # … in its passage
    "givens",  # share of the question's names and numbers that the sentence repeats
)
MODEL: Final = model_in(Path(__file__).with_name("cross_lingual.json"), SIGNALS)
"""Fitted on xquad_en_zh by `tests.benchmarks.fit_cross_lingual`; at its threshold 3 % of the hidden questions pass, and 37 % of the
open ones.
"""
MOST_WORDS = (
    100  # of a question: each is looked for in each sentence, and a text with more of them asks for no one fact
)
LEAST_IN_CONTEXT = 0.5  # share of the question's words that the context says; this and what follows by hand
LEAST_OF_MATTER = 0.35  # … of those that are no names and numbers
FURTHER = 0.15  # MaxSim by which the other language's best passage may be less near than the best one in the question's own; by hand
FEWEST_WORDS = 2  # of the matter: one word alone (“Is it allowed?”) is said by any page
MOST_UNSAID = 1  # words of the question that tell something, and that the context does not say
TELLS_SOMETHING = {True: 4.6, False: 3.4}  # rarity from which a word does: of a Chinese question, of an English one
_PERIOD = pattern("across", "period")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class CrossLingualFallback:
    """What the documents of the other language gave. found: the first search with their hits behind it; answer: out of these."""

    found: Found
    answer: CitedAnswer
    verdict: Verdict


def look_across(
    principal: Principal, question: str, embedder: Embedder, *, first: Found, query: str, scope: Scope, top_k: int
) -> CrossLingualFallback | None:
    """What the documents of the other language say; None where a verdict of its own finds no answer in them, where those of the
    question's own come clearly nearer, without a dictionary, and for a question of more than MOST_WORDS words.

    question: as it is read; query: as it is searched; first: what that brought. Raises what `search` and the embedder raise.
    """
    asked = analyse(question)
    try:
        bridge = TermBridge(asked, dictionary(settings.HOME.models))
    except DictionaryMissing:  # `manage.py doctor` tells; the answer is the one of the first look
        return None
    if scope.language or len(bridge.weights) > MOST_WORDS:
        return None
    found = search(principal, query, scope=replace(scope, language=OTHER[asked.is_chinese]), top_k=top_k)
    passages = passages_of(found)
    own = [passage for passage in passages_of(first) if bridge.is_own(passage.text)]
    if nearest(passages) < nearest(own) - FURTHER:
        return None
    reading = read_across(question, passages, embedder, bridge)
    verdict = judge_across(reading, bridge)
    if not verdict.ok:
        return None
    known = {hit.passage.chunk_id for hit in first.hits}
    both = [*first.hits, *(hit for hit in found.hits if hit.passage.chunk_id not in known)]
    return CrossLingualFallback(replace(first, hits=both), cited(reading.quotes, found), verdict)


def nearest(passages: Sequence[Passage]) -> float:
    """MaxSim of the passage that comes closest, -1 … 1; -1 where none was judged by late interaction."""
    return max((passage.coverage for passage in passages if passage.coverage is not None), default=-1.0)


def read_across(question: str, passages: Sequence[Passage], embedder: Embedder, bridge: TermBridge) -> Reading:
    """The best sentences, before any verdict. The question's words weigh what ordinary texts make of them: the base's own
    frequencies are those of one language.
    """
    asked = dict.fromkeys(map(term_id, terms(question)), 0)
    return read(question, passages, embedder, shares=matter_weights(question, asked, 0), says=bridge.says)


def judge_across(reading: Reading, bridge: TermBridge) -> Verdict:
    """Whether the reading confirms an answer; never where no late interaction has judged the passages, for it was fitted with it."""
    if reading.best is None or not _are_covered(reading.passages):
        return Verdict(False, AbstainReason.NO_EVIDENCE, 0.0)
    score = MODEL.probability(signals(reading, bridge))
    if score < MODEL.threshold or not is_said(reading.question, reading.best, bridge):
        return Verdict(False, AbstainReason.UNCONFIRMED, score)
    sentence = reading.best.sentence.text
    if (
        reading.best.measures[MEASURES.index("lacks_kind")]
        or lacks_amount(reading.question, sentence)
        or is_of_other_kind(reading.question.text, sentence)
    ):
        return Verdict(False, AbstainReason.OTHER_NAMES, score)
    if is_of_other_days(reading.question, sentence):
        return Verdict(False, AbstainReason.OTHER_DAYS, score)
    return Verdict(True, None, score)


def _are_covered(passages: Sequence[Passage]) -> bool:
    """Whether late interaction has judged all of the passages; -1: it had no vectors."""
    return all(passage.coverage is not None and passage.coverage > -1 for passage in passages)


def signals(reading: Reading, bridge: TermBridge) -> NDArray[np.float64]:
    """The numbers the verdict rests on, in the order of SIGNALS. Raises ValueError where no sentence was read."""
    best = reading.best
    if best is None:
        raise ValueError("there is nothing to judge: no sentence was read")
    passage = reading.passages[best.passage]
    measure = dict(zip(MEASURES, best.measures.tolist(), strict=True))
    values = {
        "support": max(quote.support for quote in reading.quotes),
        "similarity": measure["similarity"],
        "shortfall": passage.shortfall,
        "in_sentence": bridge.share(best.terms),
        "in_context": bridge.share(best.context),
        "in_passage": bridge.share(bridge.says(passage.heading) | bridge.says(passage.text)),
        "givens": said_givens(reading.question, best.sentence.text),
    }
    return np.array([values[name] for name in SIGNALS], float)


def is_said(question: Question, best: Candidate, bridge: TermBridge) -> bool:
    """Whether the sentence in its context says what is asked: its numbers and periods, all of its words but one, and enough of its
    matter.
    """
    unsaid = bridge.unsaid(best.context)
    named = {term for name in spelt_names(question.text) for term in terms(name)}
    if question.is_chinese:
        named |= {word for word in bridge.weights if not is_han(word)}
    matter = [word for word in bridge.weights if word not in named]
    telling = [word for word in unsaid if bridge.weights[word] >= TELLS_SOMETHING[question.is_chinese]]
    return (
        sum(weight > 0 for weight in bridge.weights.values()) >= FEWEST_WORDS
        and not any(_must_be_said(word, question) for word in unsaid)
        and len(telling) <= MOST_UNSAID
        and bridge.share(best.context) >= LEAST_IN_CONTEXT
        and bridge.share(best.context, matter) >= LEAST_OF_MATTER
    )


def _must_be_said(word: str, question: Question) -> bool:
    """A number, a period, and in a Chinese question a word that is not."""
    is_foreign = question.is_chinese and not is_han(word)
    return is_foreign or _DIGIT.search(word) is not None or _PERIOD.fullmatch(word) is not None
