"""Fit the judgement whether an answer is confirmed, and print its curves.

    python manage.py evaluate_answers DIR --as USER --hide-relevant --signals squad2_dev.jsonl     (so for each set)
    python -m tests.benchmarks.fit_abstention squad2_dev.jsonl cmrc2018.jsonl

The first writes what the product's own search and reader gave for three kinds of question: answerable ones whose documents may be
read (open: to be answered), the same with the relevant documents hidden (to be refused), and the unanswerable ones of squad2_dev
(to be refused where they can be told). The weights are fitted on open against hidden, those of verifying on open against
unanswerable. Every printed figure is cross-validated over five folds of articles; after the curves follows the text of
agent/grounding/weights.py.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from agent.grounding.answerability import COVERAGE_SIGNALS, SIGNALS, is_off_topic

SETS = {"squad2_dev": "other", "cmrc2018": "zh"}  # set → whose questions its model is for
VERIFIED_ON = "squad2_dev"  # the only set with unanswerable questions
RIDGE = 1.0  # on standardised signals; 10 and 30 change no figure by more than 0.5
AGAINST = frozenset(
    {
        "gap",
        "gap_in_sentence",
        "unknown",
        "lacks_kind",
        "unsaid_in_context",
        "unsaid_in_passage",
        "shortfall",
        "shortfall_near",
    }
    | {"negation_differs", "negation_unsaid", "opposite", "opposite_in_passage"}
)  # signals that may only lower the judgement
FREE = frozenset({"terms"})  # all others may only raise it: more evidence never makes an answer less believed
FOLDS = 5
REFUSED = (2, 5, 8, 10, 15, 20)  # percent of the open questions
AIM = 0.1  # share of the open questions that may be refused
TURNED = 0.005  # share of the open questions of VERIFIED_ON that verifying may refuse
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


def cases_in(file: Path) -> list[Case]:
    """What `evaluate_answers --signals` wrote; a question for which nothing was read teaches nothing."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        Case(
            row["set"],
            row["kind"],
            row["article"],
            np.array([row["signals"][name] for name in SIGNALS], float),
            row["quoted"],
        )
        for row in rows
        if row["signals"]
    ]


def fit(
    cases: Sequence[Case], kinds: tuple[str, str], *, without: Sequence[int] = (), names: Sequence[str] = SIGNALS
) -> Array:
    """Logistic regression of the first kind against the second, both of equal weight: bias, then one weight a signal.

    names: of the signals of the cases, which say what each may do.
    """
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

    bounds = [(None, None), *(_bounds(name) for name in names)]
    found = np.asarray(minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds).x)
    weights = found[1:] / scale
    weights[list(without)] = 0
    return np.asarray(np.r_[found[0] - weights @ centre, weights])


def _bounds(signal: str) -> tuple[float | None, float | None]:
    if signal in FREE:
        return None, None
    return (None, 0.0) if signal in AGAINST else (0.0, None)


def held_out_scores(
    cases: Sequence[Case],
    kinds: tuple[str, str] = ("open", "hidden"),
    *,
    without: Sequence[int] = (),
    names: Sequence[str] = SIGNALS,
) -> Array:
    """Probability of every case by a model of its set that has not seen its article."""
    articles = sorted({(case.set, case.article) for case in cases})
    random.Random(0).shuffle(articles)
    fold_of = {article: index % FOLDS for index, article in enumerate(articles)}
    scores = np.zeros(len(cases))
    for name in {case.set for case in cases}:
        for fold in range(FOLDS):
            seen = [case for case in cases if case.set == name and fold_of[name, case.article] != fold]
            weights = fit(seen, kinds, without=without, names=names)
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
    present = sorted(set(sets.tolist()))
    for group in (*present, *(["both sets"] if len(present) > 1 else [])):
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


def choose(cases: Sequence[Case], scores: Array, verified: Array) -> None:
    """Print the two thresholds that refuse AIM of the open questions together, and what they refuse of every kind."""
    kinds, sets = (np.array([getattr(case, name) for case in cases]) for name in ("kind", "set"))
    gold, is_open = np.array([case.holds_gold for case in cases]), kinds == "open"
    turned = float(np.quantile(verified[is_open & (sets == VERIFIED_ON)], TURNED))
    another = np.array([is_off_topic(case.row, sure) for case, sure in zip(cases, verified, strict=True)])
    passing = np.where((verified >= turned) & ~another, scores, 0.0)
    threshold = float(np.quantile(passing[is_open], AIM))
    sys.stdout.write(f"# THRESHOLD = {threshold:.3f}, VERIFIED = {turned:.3f}\n")
    for group in (*SETS, "both sets"):
        for kind in ("open", "hidden", "unanswerable"):
            chosen = (kinds == kind) & ((sets == group) | (group not in SETS))
            if chosen.any():
                no = passing[chosen] < threshold
                sys.stdout.write(
                    f"#   {group}, {kind}: {100 * no.mean():.1f} % refused ({100 * (no | gold[chosen]).mean():.1f} %)\n"
                )


def main(files: Sequence[Path]) -> None:
    cases = [case for file in files for case in cases_in(file)]
    weights: dict[tuple[str, bool], Array] = {}
    for covered in (False, True):
        without = () if covered else COVERAGE_SIGNALS
        sys.stdout.write(f"# === {'with' if covered else 'without'} late interaction\n")
        scores = held_out_scores(cases, without=without)
        report(cases, scores)
        for name, language in SETS.items():
            own = [case for case in cases if case.set == name]
            weights[language, covered] = fit(own, ("open", "hidden"), without=without)
    adversarial = [case for case in cases if case.set == VERIFIED_ON]
    sys.stdout.write("# === fitted on the unanswerable questions instead\n")
    verified = held_out_scores(adversarial, ("open", "unanswerable"), without=COVERAGE_SIGNALS)
    report(adversarial, verified)
    of_all = np.ones(len(cases))
    of_all[[place for place, case in enumerate(cases) if case.set == VERIFIED_ON]] = verified
    choose(cases, scores, of_all)
    verifying = {SETS[VERIFIED_ON]: fit(adversarial, ("open", "unanswerable"), without=COVERAGE_SIGNALS)}
    _print("WEIGHTS: dict[tuple[str, bool], tuple[float, ...]]", weights.items())
    _print("VERIFYING: dict[str, tuple[float, ...]]", verifying.items())


def _print(title: str, models: Iterable[tuple[object, Array]]) -> None:
    sys.stdout.write(f"{title} = {{\n")
    for key, values in models:
        lines = "".join(
            f"        {value:.3f},  # {name}\n" for name, value in zip(("bias", *SIGNALS), values, strict=True)
        )
        sys.stdout.write(f"    {key!r}: (\n{lines}    ),\n".replace("'", '"'))
    sys.stdout.write("}\n")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit("Name the files that `evaluate_answers --hide-relevant --signals FILE` wrote, one for each set.")
    main([Path(name) for name in sys.argv[1:]])
