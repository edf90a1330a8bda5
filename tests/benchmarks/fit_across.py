"""Fit the verdict of the second look, across languages, and print its curve.

    python manage.py shell -c "from tests.benchmarks.fit_across import main; main('../shared/data/xquad_en_zh', 'USER')"

Every question of the set is asked of the documents of the other language alone, once by one who may read what answers it (open) and once
by one who may not (hidden). Every printed share is cross-validated over five folds of articles; `main(…, writes=True)` makes
agent/quotations/cross_lingual.json anew. Takes minutes.
"""

import json
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from django.conf import settings

from agent.evaluation.answers import TOP_K, area, plain
from agent.extractive.candidates import MEASURES
from agent.extractive.questions import analyse
from agent.extractive.term_bridge import TermBridge
from agent.quotations import cross_lingual as fallback
from agent.quotations.answers import passages_of
from authz.principal import Principal
from knowledge.dictionary.words import dictionary
from knowledge.evaluation.corpus import LoadedCorpus, hidden, load_corpus
from knowledge.evaluation.datasets import Dataset, Query, load_dataset
from knowledge.evaluation.runs import Languages, scope_of
from knowledge.retrieval.engine import sentence_embedder
from knowledge.retrieval.search import search
from tests.benchmarks.fit_abstention import Array, Case, fit, held_out

SAMPLE = 260  # questions
THRESHOLDS = (0.6, 0.7, 0.8, 0.85)


def cases(dataset: Dataset, corpus: LoadedCorpus, reader: Principal) -> Iterator[Case]:
    """Each question asked twice."""
    embedder = sentence_embedder()
    titles = {document.id: document.title for document in dataset.corpus}
    twins = {query.id: query for query in dataset.queries}
    asked = list(dataset.queries)
    random.Random(1).shuffle(asked)
    for query in asked[:SAMPLE]:
        gold = [plain(answer) for answer in twins[_twin(query)].answers]
        relevant = sorted(dataset.qrels[query.id])
        bridge = TermBridge(analyse(query.text), dictionary(settings.HOME.models))
        for kind in ("open", "hidden"):
            with hidden(corpus, reader, relevant) if kind == "hidden" else nullcontext():
                scope = scope_of(query, dataset, corpus, Languages.OTHER)
                found = search(reader, query.text, scope=scope, top_k=TOP_K)
            reading = fallback.read_across(query.text, passages_of(found), embedder, bridge)
            if reading.best is None:
                continue
            text = plain(" ".join(quote.text for quote in reading.quotes))
            row = fallback.signals(reading, bridge)
            passes = fallback.is_said(reading.question, reading.best, bridge)
            passes = passes and not reading.best.measures[MEASURES.index("lacks_kind")]
            yield Case(kind, titles[relevant[0]], row, any(answer in text for answer in gold), not passes)


def _twin(query: Query) -> str:
    """The id of the same question in the other language, whose answers stand in the documents that are asked."""
    language, rest = query.id.split("-", 1)
    return f"{'zh' if language == 'en' else 'en'}-{rest}"


def report(found: Sequence[Case], scores: Array) -> None:
    is_open = np.array([case.kind == "open" for case in found])
    gold = np.array([case.holds_gold for case in found])
    separated = area(scores[is_open].tolist(), scores[~is_open].tolist())
    sys.stdout.write(f"# AUC {separated:.3f}, {100 * gold[is_open].mean():.1f} % quote\n")
    for threshold in THRESHOLDS:
        yes = scores >= threshold
        sys.stdout.write(
            f"#   {threshold}: {100 * yes[is_open].mean():.1f} % of open answered, {100 * gold[is_open & yes].mean():.1f} % of these"
            f" rightly; {100 * yes[~is_open].mean():.1f} % of hidden answered\n"
        )


def main(folder: str, username: str, *, writes: bool = False) -> None:
    dataset = load_dataset(Path(folder), split="dev")
    reader = Principal.named(username)
    corpus = load_corpus(dataset, reader, name=f"evaluation {dataset.name}", progress=iter)
    found = list(cases(dataset, corpus, reader))
    report(found, held_out(found, fallback.SIGNALS))
    if writes:
        bias, *weights = (round(float(value), 3) for value in fit(found, fallback.SIGNALS))
        model = {
            "bias": bias,
            "weights": dict(zip(fallback.SIGNALS, weights, strict=True)),
            "threshold": fallback.MODEL.threshold,
        }
        Path(fallback.__file__).with_name("model.json").write_text(json.dumps(model, indent=1) + "\n", encoding="utf-8")
