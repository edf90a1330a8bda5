"""Measures the answers of the product on questions with gold answers: are they right, are they cited, is "no" said when due."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agent.providers import extractive
from authz.principal import Principal
from knowledge.engine import engine
from knowledge.evaluation.corpus import LoadedCorpus, granted_one_by_one, hidden
from knowledge.evaluation.datasets import Dataset, Query
from knowledge.evaluation.metrics import mean
from knowledge.evaluation.runs import Languages, scope_of
from knowledge.ingestion.normalise import normalise
from knowledge.retrieval.search import search

TOP_K = 8
CURVE_POINTS = 21
Asking = Callable[[Sequence[Query]], Iterable[Query]]


@dataclass(frozen=True)
class Judged:
    """What became of one question. confidence, verified: of the verdict, 0 … 1; quoted and cited: of the answer, given or
    withheld.
    """

    answerable: bool
    confidence: float
    verified: float
    answered: bool
    quoted: bool
    cited: bool


def evaluate_answers(
    dataset: Dataset,
    corpus: LoadedCorpus,
    reader: Principal,
    *,
    hide_relevant: bool,
    languages: Languages,
    asking: Asking,
) -> dict[str, Any]:
    """The report, shares in 0 … 1.

    contains_gold, cites_gold: of the answerable questions, whatever the verdict, the share whose text and whose cited
    passage hold a gold answer; answered: the share that is answered at all; abstained: of the unanswerable ones, the share
    that is not; auc and curve: how well the verification tells them apart; auc_confidence: how well the judgement does.
    With `hide_relevant` every question is also asked while the reader may not read the documents that answer it:
    abstained_hidden, and right_elsewhere_hidden, the share that quotes a gold answer from another document.
    """
    shown = [_ask(query, dataset, corpus, reader, languages=languages) for query in asking(dataset.queries)]
    answerable = [judged for judged in shown if judged.answerable]
    impossible = [judged for judged in shown if not judged.answerable]
    report: dict[str, Any] = {
        "dataset": dataset.name,
        "queries": len(shown),
        "answerable": len(answerable),
        "contains_gold": _share(judged.quoted for judged in answerable),
        "cites_gold": _share(judged.quoted and judged.cited for judged in answerable),
        "answered": _share(judged.answered for judged in answerable),
    }
    if impossible:
        report["abstained"] = _share(not judged.answered for judged in impossible)
        report["auc"] = area([j.verified for j in answerable], [j.verified for j in impossible])
        report["auc_confidence"] = area([j.confidence for j in answerable], [j.confidence for j in impossible])
        report["curve"] = curve(answerable, impossible, by="verified")
    if hide_relevant:
        unread = _ask_hidden(dataset, corpus, reader, languages=languages, asking=asking)
        report["abstained_hidden"] = _share(not judged.answered for judged in unread)
        report["right_elsewhere_hidden"] = _share(judged.answered and judged.quoted for judged in unread)
        report["auc_hidden"] = area([j.confidence for j in answerable], [j.confidence for j in unread])
        report["curve_hidden"] = curve(answerable, unread)
    return report


def _ask_hidden(
    dataset: Dataset, corpus: LoadedCorpus, reader: Principal, *, languages: Languages, asking: Asking
) -> list[Judged]:
    """Every question that has an answer, asked by the reader while they hold no right on the documents that answer it."""
    relevant = {query.id: sorted(dataset.qrels.get(query.id, {})) for query in dataset.queries if query.answers}
    judgeable = [query for query in dataset.queries if relevant.get(query.id)]
    found = []
    with granted_one_by_one(corpus, reader):
        for query in asking(judgeable):
            with hidden(corpus, reader, relevant[query.id]):
                found.append(_ask(query, dataset, corpus, reader, languages=languages))
    return found


def _ask(query: Query, dataset: Dataset, corpus: LoadedCorpus, reader: Principal, *, languages: Languages) -> Judged:
    """One question through the real search and the real provider; one without a word is not answered."""
    answerable = query.answerable is not False
    if not query.text.strip():
        return Judged(answerable, confidence=0.0, verified=0.0, answered=False, quoted=False, cited=False)
    found = search(reader, query.text, scope=scope_of(query, dataset, corpus, languages), top_k=TOP_K)
    quotes, verdict = extractive.read_and_judge(query.text, found, engine().embedder)
    gold = [plain(answer) for answer in query.answers]
    text = plain(" ".join(quote.text for quote in quotes))
    cited = [plain(found.hits[quote.passage].passage.text) for quote in quotes]
    return Judged(
        answerable=answerable,
        confidence=verdict.score,
        verified=verdict.verified,
        answered=verdict.ok,
        quoted=any(answer in text for answer in gold),
        cited=any(answer in passage for answer in gold for passage in cited),
    )


def plain(text: str) -> str:
    """For comparing with gold answers: letters and digits alone, lower case."""
    return re.sub(r"[\W_]+", "", normalise(text).lower())


def area(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The area under the ROC curve: how often an answerable question is more confident than one that is not."""
    ordered = sorted([(score, 1) for score in positive] + [(score, 0) for score in negative])
    rank_sum = sum(place for place, (_score, is_positive) in enumerate(ordered, start=1) if is_positive)
    pairs = len(positive) * len(negative)
    return round((rank_sum - len(positive) * (len(positive) + 1) / 2) / pairs, 4) if pairs else 0.0


def curve(
    positive: Sequence[Judged], negative: Sequence[Judged], *, by: Literal["confidence", "verified"] = "confidence"
) -> list[dict[str, float]]:
    """For thresholds along the answerable questions: the share of them refused, and of the others abstained."""
    ours, others = ([float(getattr(judged, by)) for judged in group] for group in (positive, negative))
    ordered = sorted(ours)
    points = []
    for step in range(CURVE_POINTS):
        threshold = ordered[min(step * len(ordered) // (CURVE_POINTS * 2), len(ordered) - 1)]
        points.append(
            {
                "threshold": round(threshold, 4),
                "refused": _share(score < threshold for score in ours),
                "abstained": _share(score < threshold for score in others),
            }
        )
    return points


def _share(flags: Iterable[bool]) -> float:
    return round(mean([float(flag) for flag in flags]), 4)
