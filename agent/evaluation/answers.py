"""Measures the answers of the product on questions with gold answers: are they right, are they cited, is "no" said when due."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from agent.answerability.classifier import SIGNALS, signals
from agent.extractive.passages import Quote
from agent.quotations import answers as extractive
from agent.quotations.cross_lingual import look_across
from authz.principal import Principal
from knowledge.embedding.base import Embedder
from knowledge.embedding.cached import CachedEmbedder
from knowledge.evaluation.corpus import LoadedCorpus, hidden
from knowledge.evaluation.datasets import Dataset, Query
from knowledge.evaluation.metrics import mean
from knowledge.evaluation.runs import Languages, scope_of
from knowledge.retrieval.engine import engine
from knowledge.retrieval.search import Found, Scope, search
from knowledge.text.normalise import normalise

TOP_K = 8
CURVE_POINTS = 21
SHOWN = 3  # passages that a person looks at first
KEPT_SENTENCES = 200_000  # 0.3 GB: the questions of a set are read in the same sentences again and again
Asking = Callable[[Sequence[Query]], Iterable[Query]]


Kind = Literal["open", "hidden", "unanswerable"]
Outcome = Literal["answered", "found", "nothing"]


@dataclass(frozen=True)
class Judged:
    """What became of one question.

    kind: asked by who may read what answers it, by who may not, or without an answer anywhere. article: the title of what
    answers it, else of the first passage found. signals: {signal: value}; empty where nothing was read. confidence, doubt: of
    the verdict. outcome: what the person is given. quoted and cited: of the answer, given or withheld. shown: a gold answer stands
    in one of the first SHOWN passages given.
    """

    id: str
    kind: Kind
    article: str
    signals: dict[str, float]
    confidence: float = 0.0
    doubt: str = ""
    outcome: Outcome = "nothing"
    quoted: bool = False
    cited: bool = False
    shown: bool = False

    @property
    def answered(self) -> bool:
        return self.outcome == "answered"


@dataclass(frozen=True)
class AnswerEvaluation:
    """The questions of a set, and everything that answers them."""

    dataset: Dataset
    corpus: LoadedCorpus
    reader: Principal
    languages: Languages

    def ask_all(self, *, hide_relevant: bool, asking: Asking) -> list[Judged]:
        """Every question, and with `hide_relevant` each that has an answer once more, by one who may not read what answers it."""
        embedder = CachedEmbedder(engine().embedder, most=KEPT_SENTENCES)
        judged = [
            self._ask(query, "unanswerable" if query.answerable is False else "open", embedder)
            for query in asking(self.dataset.queries)
        ]
        if hide_relevant:
            judgeable = [query for query in self.dataset.queries if query.answers and self._relevant(query)]
            judged += [self._ask(query, "hidden", embedder) for query in asking(judgeable)]
        return judged

    @cached_property
    def _titles(self) -> dict[str, str]:
        return {document.id: document.title for document in self.dataset.corpus}

    def _relevant(self, query: Query) -> list[str]:
        return sorted(self.dataset.qrels.get(query.id, {}))

    def _ask(self, query: Query, kind: Kind, embedder: Embedder) -> Judged:
        """One question through the real search and the real provider; one without a word is not answered."""
        relevant = self._relevant(query)
        article = self._titles[relevant[0]] if relevant else ""
        if not query.text.strip():
            return Judged(query.id, kind, article, {})
        with hidden(self.corpus, self.reader, relevant) if kind == "hidden" else nullcontext():
            scope = scope_of(query, self.dataset, self.corpus, self.languages)
            found = search(self.reader, query.text, scope=scope, top_k=TOP_K)
            reading = extractive.read_found(query.text, found, embedder)
            quotes, verdict = extractive.concluded(reading)
            outcome, given = self._given(query.text, quotes if verdict.ok else (), found, scope, embedder)
        gold = [plain(answer) for answer in query.answers]
        text = plain(" ".join(quote.text for quote in quotes))
        cited = [plain(found.hits[quote.passage].passage.text) for quote in quotes]
        first = [plain(text) for text in given[:SHOWN]]
        if not article and found.hits:
            article = found.hits[0].passage.title
        return Judged(
            query.id,
            kind,
            article,
            dict(zip(SIGNALS, signals(reading).tolist(), strict=True)) if reading.best else {},
            confidence=verdict.score,
            doubt=verdict.doubt or "",
            outcome=outcome,
            quoted=any(one in text for one in gold),
            cited=any(one in passage for one in gold for passage in cited),
            shown=any(one in passage for one in gold for passage in first),
        )

    def _given(
        self, question: str, quotes: Sequence[Quote], found: Found, scope: Scope, embedder: Embedder
    ) -> tuple[Outcome, list[str]]:
        """What the person is given for a question, as a run does it, and the passages that it stands on or shows.

        quotes: of the answer, none where it is not confirmed.
        """
        outcome: Outcome = "answered"
        answer = extractive.cited(quotes, found) if quotes else None
        if answer is None:
            across = look_across(self.reader, question, embedder, first=found, query=question, scope=scope, top_k=TOP_K)
            told = across.answer if across else None
            outcome, answer = "found", extractive.closest_of(question, found, embedder, lead="", across=told)
            found = across.found if across else found
        if answer is None:
            return "nothing", []
        texts = {hit.passage.chunk_id: hit.passage.text for hit in found.hits}
        return outcome, [texts[span.chunk_id] for span in answer.citations]


def report_of(dataset: Dataset, judged: Sequence[Judged]) -> dict[str, Any]:
    """The report, shares in 0 … 1.

    contains_gold, cites_gold: of the answerable questions, whatever the verdict, the share whose text and whose cited passage hold a
    gold answer. answered, found, nothing: what becomes of them; shown: the share with a gold answer in one of the first SHOWN
    passages given, answered or not. The same of those without an answer (`unanswerable`) and of those asked with what answers them
    hidden (`hidden`); there right_elsewhere is the share that is answered with a gold answer from another document. auc and curve:
    how well the verdict tells them apart.
    """
    open_, *others = ([each for each in judged if each.kind == kind] for kind in ("open", "unanswerable", "hidden"))
    report: dict[str, Any] = {
        "dataset": dataset.name,
        "queries": len(dataset.queries),
        "answerable": len(open_),
        "contains_gold": _share(judged.quoted for judged in open_),
        "cites_gold": _share(judged.quoted and judged.cited for judged in open_),
        **_outcomes(open_),
        "shown": _share(judged.shown for judged in open_),
    }
    for name, group in zip(("unanswerable", "hidden"), others, strict=True):
        if group:
            report[name] = _outcomes(group)
        if group and open_:
            report[f"auc_{name}"] = area([j.confidence for j in open_], [j.confidence for j in group])
            report[f"curve_{name}"] = curve(open_, group)
    if others[1]:
        report["hidden"]["right_elsewhere"] = _share(judged.answered and judged.quoted for judged in others[1])
    return report


def _outcomes(judged: Sequence[Judged]) -> dict[str, float]:
    return {name: _share(each.outcome == name for each in judged) for name in get_args(Outcome)}


def plain(text: str) -> str:
    """For comparing with gold answers: letters and digits alone, lower case."""
    return re.sub(r"[\W_]+", "", normalise(text).lower())


def area(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The area under the ROC curve: how often an answerable question is more confident than one that is not."""
    ordered = sorted([(score, 1) for score in positive] + [(score, 0) for score in negative])
    rank_sum = sum(place for place, (_score, is_positive) in enumerate(ordered, start=1) if is_positive)
    pairs = len(positive) * len(negative)
    return round((rank_sum - len(positive) * (len(positive) + 1) / 2) / pairs, 4) if pairs else 0.0


def curve(positive: Sequence[Judged], negative: Sequence[Judged]) -> list[dict[str, float]]:
    """For thresholds along the answerable questions: the share of them refused, and of the others abstained."""
    ours, others = ([judged.confidence for judged in group] for group in (positive, negative))
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
