"""Fit the judgement whether an answer is confirmed, and print its curves.

    COPILOT_DATA=../shared/data python -m tests.benchmarks.fit_abstention

Three kinds of question: answerable ones whose documents may be read (open: to be answered), the same with the relevant
documents hidden (to be refused), and the unanswerable ones of squad2_dev (to be refused where they can be told). The
weights are fitted on open against hidden, those of verifying on open against unanswerable. Every printed figure is
cross-validated over five folds of articles; after the
curves follows the text of agent/grounding_weights.py.
"""

import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from agent.extractive.reader import read
from agent.grounding import COVERAGE_SIGNALS, SIGNALS, signals
from tests.benchmarks.answer_data import Collection, MemoEmbedder

SETS = {"squad2_dev": "other", "cmrc2018": "zh"}  # set → whose questions its model is for
RIDGE = 1.0  # on standardised signals; 10 and 30 change no figure by more than 0.5
AGAINST = frozenset(
    {"gap", "unknown", "lacks_kind", "unsaid_in_context", "unsaid_in_passage"}
    | {"negation_differs", "negation_unsaid", "opposite", "opposite_in_passage"}
)  # signals that may only lower the judgement
FREE = frozenset({"terms"})  # all others may only raise it: more evidence never makes an answer less believed
FOLDS = 5
REFUSED = (2, 5, 8, 10, 15, 20)  # percent of the open questions
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """One question asked once.

    kind: "open", "hidden" or "unanswerable". row: its signals. holds_gold: a gold answer is quoted, from whatever
    document: then even a hidden question is answered rightly, and the fit leaves it out.
    """

    set: str
    kind: str
    article: str
    row: Array
    holds_gold: bool


def cases_of(collection: Collection, *, covered: bool) -> list[Case]:
    """covered: with the score of late interaction, as with the default reranker."""
    corpus = collection.dataset.corpus
    found: list[Case] = []
    for number, query in enumerate(collection.dataset.queries):
        relevant = collection.relevant[number]
        for kind in ("unanswerable",) if query.answerable is False else ("open", "hidden"):
            ranked = collection.passages(number, hidden=kind == "hidden")
            passages = [passage if covered else replace(passage, coverage=None) for _, passage in ranked]
            reading = read(query.text, passages, collection.embedder, shares=collection.shares(query))
            article = corpus[min(relevant) if relevant else ranked[0][0]].title
            quoted = " ".join(quote.text for quote in reading.quotes).lower()
            holds_gold = any(answer.lower() in quoted for answer in query.answers)
            found.append(Case(collection.name, kind, article, signals(reading), holds_gold))
    return found


def fit(cases: Sequence[Case], kinds: tuple[str, str], *, without: Sequence[int] = ()) -> Array:
    """Logistic regression of the first kind against the second, both of equal weight: bias, then one weight a signal."""
    used = [case for case in cases if case.kind == kinds[0] or (case.kind == kinds[1] and not case.holds_gold)]
    counts = Counter(case.kind for case in used)
    rows = np.array([case.row for case in used])
    rows[:, list(without)] = 0
    centre, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    rows = np.c_[np.ones(len(rows)), (rows - centre) / scale]
    signs = np.array([1.0 if case.kind == kinds[0] else -1.0 for case in used])
    importance = np.array([1000 / counts[case.kind] for case in used])

    def loss(weights: Array) -> tuple[float, Array]:
        margin = signs * (rows @ weights)
        ridge = np.r_[0.0, weights[1:]]
        slope = -(importance * signs / (1 + np.exp(margin))) @ rows
        return float(importance @ np.logaddexp(0, -margin) + RIDGE / 2 * ridge @ ridge), slope + RIDGE * ridge

    bounds = [(None, None), *(_bounds(name) for name in SIGNALS)]
    found = np.asarray(minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds).x)
    weights = found[1:] / scale
    weights[list(without)] = 0
    return np.asarray(np.r_[found[0] - weights @ centre, weights])


def _bounds(signal: str) -> tuple[float | None, float | None]:
    if signal in FREE:
        return None, None
    return (None, 0.0) if signal in AGAINST else (0.0, None)


def held_out_scores(cases: Sequence[Case], kinds: tuple[str, str] = ("open", "hidden")) -> Array:
    """Probability of every case by a model of its set that has not seen its article."""
    articles = sorted({(case.set, case.article) for case in cases})
    random.Random(0).shuffle(articles)
    fold_of = {article: index % FOLDS for index, article in enumerate(articles)}
    scores = np.zeros(len(cases))
    for name in {case.set for case in cases}:
        for fold in range(FOLDS):
            seen = [case for case in cases if case.set == name and fold_of[name, case.article] != fold]
            weights = fit(seen, kinds)
            for index, case in enumerate(cases):
                if case.set == name and fold_of[name, case.article] == fold:
                    scores[index] = 1 / (1 + np.exp(-(weights[0] + case.row @ weights[1:])))
    return scores


def area(good: Array, bad: Array) -> float:
    """Area under the ROC curve: the chance that a good one scores above a bad one."""
    order = np.sort(bad)
    below = np.searchsorted(order, good, "left") + np.searchsorted(order, good, "right")
    return float(below.mean() / 2 / len(bad))


def report(cases: Sequence[Case], scores: Array) -> None:
    """AUC, and for each share of open questions refused: the threshold, and the share of the others that is refused.

    In brackets the share that is refused or quotes a gold answer from another document.
    """
    kinds, sets = (np.array([getattr(case, name) for case in cases]) for name in ("kind", "set"))
    gold = np.array([case.holds_gold for case in cases])
    for group in (*SETS, "both sets"):
        chosen = sets == group if group in SETS else np.full(len(cases), True)
        good = scores[chosen & (kinds == "open")]
        sys.stdout.write(
            f"# {group}: {100 * gold[chosen & (kinds == 'open')].mean():.1f} % of open quote a gold answer\n"
        )
        for kind in ("hidden", "unanswerable"):
            of_kind = chosen & (kinds == kind)
            if not of_kind.any():
                continue
            sys.stdout.write(f"# {group}, {kind}: AUC {area(good, scores[of_kind]):.3f}\n")
            for share in REFUSED:
                threshold = np.quantile(good, share / 100)
                no = scores[of_kind] < threshold
                sys.stdout.write(
                    f"#   {share:2} % of open refused at {threshold:.3f}: {100 * no.mean():.1f} %"
                    f" ({100 * (no | gold[of_kind]).mean():.1f} %)\n"
                )


def main() -> None:
    embedder = MemoEmbedder()
    collections = [Collection(name, embedder) for name in SETS]
    weights: dict[tuple[str, bool], Array] = {}
    verifying: dict[tuple[str, bool], Array] = {}
    for covered in (False, True):
        cases = [case for collection in collections for case in cases_of(collection, covered=covered)]
        embedder.save()
        sys.stdout.write(f"# === {'with' if covered else 'without'} late interaction\n")
        report(cases, held_out_scores(cases))
        without = () if covered else COVERAGE_SIGNALS
        for name, language in SETS.items():
            own = [case for case in cases if case.set == name]
            weights[language, covered] = fit(own, ("open", "hidden"), without=without)
        english = [case for case in cases if case.set == "squad2_dev"]
        verifying["other", covered] = fit(english, ("open", "unanswerable"), without=without)
    adversarial = [case for case in cases if case.set == "squad2_dev" and case.kind != "hidden"]
    sys.stdout.write("# === fitted on the unanswerable questions instead\n")
    report(adversarial, held_out_scores(adversarial, ("open", "unanswerable")))
    for title, models in (("WEIGHTS", weights), ("VERIFYING", verifying)):
        _print(title, models)


def _print(title: str, models: Mapping[tuple[str, bool], Array]) -> None:
    sys.stdout.write(f"{title} = {{\n")
    for key, values in models.items():
        lines = "".join(
            f"        {value:.3f},  # {name}\n" for name, value in zip(("bias", *SIGNALS), values, strict=True)
        )
        sys.stdout.write(f"    {key}: (\n{lines}    ),\n".replace("'", '"'))
    sys.stdout.write("}\n")


if __name__ == "__main__":
    main()
