"""Fit the weights of the extractive reader on the dev halves and say how it does on questions it was not fitted on.

    COPILOT_DATA=../shared/data python -m tests.benchmarks.fit_answers [--every N] [--write]

Prints the share of questions whose answer (1, 2, 3 sentences) holds a gold answer in a sentence of the passage it is in,
cross-validated over five folds of articles; with --write, agent/extractive/weights.json is made anew.
--every: of each set every Nth question alone, which takes minutes instead of an hour.
"""

import json
import random
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from agent.extractive import reader
from agent.extractive import weights as weights_in_use
from agent.extractive.candidates import MEASURES, SIMILARITY, Candidate, candidates_in, of_the_matter
from agent.extractive.questions import analyse
from tests.benchmarks.answer_data import Collection, MemoEmbedder

SETS = ("squad2_dev", "cmrc2018")
RIDGE = 1.0  # on standardised measures; 0.1 and 10 change no figure by more than 0.4
AGAINST = frozenset({"lacks_kind", "position", "is_question"})  # may only lower a score; all others only raise it
FOLDS = 5
Array = NDArray[np.float64]


@dataclass
class Case:
    """One answerable question. rows: the measures of its candidates; right: those that hold a gold answer."""

    set: str
    article: str
    candidates: list[Candidate]
    right: NDArray[np.bool_]

    @property
    def rows(self) -> Array:
        return np.array([candidate.measures for candidate in self.candidates], float)


def plain(text: str) -> str:
    return " ".join(text.split()).lower()


def cases_of(collection: Collection, *, similar: bool, every: int) -> list[Case]:
    """similar: with the similarity of the sentences that the reader would embed, and those alone."""
    cases = []
    for number, query in enumerate(collection.dataset.queries):
        if number % every or query.answerable is False:
            continue
        found = collection.passages(number)
        passages, asked = [passage for _, passage in found], analyse(query.text)
        shares = of_the_matter(query.text, collection.shares(query))
        candidates = candidates_in(asked, passages, shares)
        if similar:
            candidates = reader.compared(asked, passages, candidates, collection.embedder)
        gold = [plain(answer) for answer in query.answers]
        relevant = collection.relevant[number]
        right = [
            found[c.passage][0] in relevant and any(answer in plain(c.sentence.text) for answer in gold)
            for c in candidates
        ]
        article = collection.dataset.corpus[min(relevant)].title
        cases.append(Case(collection.name, article, candidates, np.array(right)))
    return cases


def fit(cases: Sequence[Case], measures: Sequence[int]) -> Array:
    """Weights that maximise the probability (softmax over a question's candidates) of the right ones."""
    usable = [case for case in cases if case.right.any()]
    rows = np.vstack([case.rows for case in usable])
    scale = rows.std(axis=0) + 1e-9
    used = np.isin(np.arange(rows.shape[1]), measures)
    rows = rows / scale * used
    right = np.concatenate([case.right for case in usable]).astype(float)
    sizes = [len(case.right) for case in usable]
    starts, owner = np.r_[0, np.cumsum(sizes)[:-1]], np.repeat(np.arange(len(usable)), sizes)

    def loss(weights: Array) -> tuple[float, Array]:
        scores = rows @ weights
        odds = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        everything, good = np.add.reduceat(odds, starts), np.add.reduceat(odds * right, starts)
        slope = (odds * right / good[owner] - odds / everything[owner]) @ rows
        return float(RIDGE / 2 * weights @ weights - np.log(good / everything).sum()), RIDGE * weights - slope

    bounds = [(None, 0.0) if name in AGAINST else (0.0, None) for name in MEASURES]
    found = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds).x
    return np.asarray(found / scale * used)


def is_right(case: Case, weights: Array, sentences: int) -> bool:
    return bool(case.right[np.argsort(-(case.rows @ weights), kind="stable")[:sentences]].any())


def cross_validated(cases: Sequence[Case], measures: Sequence[int]) -> dict[str, list[float]]:
    """{set: share right with 1, 2 and 3 sentences}; no article is in both halves of a fold."""
    articles = sorted({case.article for case in cases})
    random.Random(0).shuffle(articles)
    right: dict[str, list[list[bool]]] = {}
    for fold in range(FOLDS):
        held_out = set(articles[fold::FOLDS])
        weights = fit([case for case in cases if case.article not in held_out], measures)
        for case in cases:
            if case.article in held_out:
                right.setdefault(case.set, []).append([is_right(case, weights, count) for count in (1, 2, 3)])
    return {name: [round(float(100 * share), 1) for share in np.mean(rows, axis=0)] for name, rows in right.items()}


def main(*, writes: bool, every: int) -> None:
    embedder = MemoEmbedder()
    collections = [Collection(name, embedder) for name in SETS]
    everything = list(range(len(MEASURES)))
    words = [measure for measure in everything if measure != SIMILARITY]
    cases = [case for collection in collections for case in cases_of(collection, similar=False, every=every)]
    sys.stdout.write(f"# by words alone       {cross_validated(cases, words)}\n")
    weights_in_use.LEXICAL_WEIGHTS = fit(cases, words)
    cases = [case for collection in collections for case in cases_of(collection, similar=True, every=every)]
    embedder.save()
    sys.stdout.write(f"# with all measures    {cross_validated(cases, everything)}\n")
    fitted = {"by_words": weights_in_use.LEXICAL_WEIGHTS, "sentence": fit(cases, everything)}
    if writes:
        named = {
            name: {measure: round(float(value), 2) for measure, value in zip(MEASURES, weights, strict=True)}
            for name, weights in fitted.items()
        }
        weights_in_use.FILE.write_text(json.dumps(named, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    main(writes=options.write, every=options.every)
