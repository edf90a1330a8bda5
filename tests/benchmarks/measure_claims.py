"""How well the check of claims tells what the evidence says from what it does not: a curve over the threshold.

    python -m tests.benchmarks.measure_claims [PER_SET]   (COPILOT_DATA, COPILOT_MODELS as in answer_data)

Sentences are made from gold answers of the dev sets. Supported: the sentence that holds the answer as it stands; the question said
as a statement with its answer; the same in the other language (xquad). Unsupported: the statement with the answer of another
question; the sentence with a changed number; the statement beside another paragraph of the same set. Prints the shares kept
and removed for each kind, and the curve of `strength`; asserts nothing.
"""

import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.attribution.facts import unsupported_fact
from agent.attribution.support import THRESHOLD, is_chinese, share_said, similarity, strength
from agent.extractive.sentences import split
from knowledge.evaluation.datasets import Dataset, Query, load_dataset
from tests.benchmarks.answer_data import DATA, MemoEmbedder

SETS = ("cmrc2018", "squad2_dev", "xquad_en_zh")


@dataclass(frozen=True)
class Made:
    """A sentence beside the text that it cites. kind: how it was made; supported: whether the text says it."""

    kind: str
    supported: bool
    sentence: str
    evidence: str
    question: str


def main(per_set: int) -> None:
    embedder = MemoEmbedder()
    scored: dict[str, list[tuple[Made, float]]] = defaultdict(list)
    for name in SETS:
        chance = random.Random(7)
        for made in sentences_of(load_dataset(Path(DATA) / name), per_set, chance):
            scored[f"{name} {made.kind}"].append((made, judged(made, embedder)))
    embedder.save()
    print(f"{'kind':<44} {'n':>4} {'wanted':>8} {'right':>6}   at {THRESHOLD}")
    for kind, rows in sorted(scored.items(), key=lambda item: (not item[1][0][0].supported, item[0])):
        wanted = rows[0][0].supported
        right = sum((value >= THRESHOLD) == wanted for _made, value in rows) / len(rows)
        print(f"{kind:<44} {len(rows):>4} {'kept' if wanted else 'removed':>8} {right:>6.1%}")
    everything = [row for rows in scored.values() for row in rows]
    print("\nthreshold  kept of supported  removed of unsupported")
    for step in range(6, 20):
        threshold = step / 20
        kept = [value >= threshold for made, value in everything if made.supported]
        removed = [value < threshold for made, value in everything if not made.supported]
        print(f"{threshold:>9.2f} {sum(kept) / len(kept):>18.1%} {sum(removed) / len(removed):>23.1%}")


def judged(made: Made, embedder: MemoEmbedder) -> float:
    """The strength; -1 where a fact is missing."""
    if unsupported_fact(made.sentence, made.evidence, also=made.question):
        return -1.0
    said = share_said(made.sentence, made.evidence)
    new = share_said(made.sentence, made.evidence, beside=made.question)
    across = is_chinese(made.sentence) != is_chinese(made.evidence)
    return strength(said, new, similarity(made.sentence, [made.evidence], embedder), across=across)


def sentences_of(dataset: Dataset, count: int, chance: random.Random) -> Iterator[Made]:
    """Sentences made from `count` answerable questions."""
    texts = {passage.id: passage.text for passage in dataset.corpus}
    usable = [query for query in dataset.queries if query.answers and dataset.qrels.get(query.id)]
    chosen = chance.sample(usable, min(count, len(usable)))
    for query, other in zip(chosen, [*chosen[1:], chosen[0]], strict=True):
        own = [key for key in dataset.qrels[query.id] if key in texts]
        same = [key for key in own if is_chinese(texts[key]) == is_chinese(query.text)] or own
        evidence = texts[same[0]]
        statement = stated(query, query.answers[0])
        yield Made("statement", True, statement, evidence, query.text)
        holding = next((piece.text for piece in split(evidence) if query.answers[0] in piece.text), "")
        if holding:
            yield Made("sentence as it stands", True, holding, evidence, query.text)
            if changed := with_another_number(holding, chance):
                yield Made("changed number", False, changed, evidence, query.text)
        for key in own:
            if is_chinese(texts[key]) != is_chinese(query.text):
                yield Made("statement, other language", True, statement, texts[key], query.text)
                far = next(
                    (texts[k] for k in dataset.qrels[other.id] if is_chinese(texts[k]) == is_chinese(texts[key])), ""
                )
                if far and far != texts[key]:
                    yield Made("other language, another paragraph", False, statement, far, query.text)
        wrong = other.answers[0]
        if wrong.lower() not in evidence.lower():
            yield Made("answer of another question", False, stated(query, wrong), evidence, query.text)
        elsewhere = texts[next(iter(dataset.qrels[other.id]))]
        if elsewhere != evidence and query.answers[0].lower() not in elsewhere.lower():
            yield Made("statement beside another paragraph", False, statement, elsewhere, query.text)


def stated(query: Query, answer: str) -> str:
    """The question as a statement: its words without the question mark, then the answer."""
    return f"{query.text.rstrip('?？ ')}: {answer}"


def with_another_number(sentence: str, chance: random.Random) -> str:
    """The sentence with one of its numbers changed; "" where it has none."""
    found = list(re.finditer(r"\d+", sentence))
    if not found:
        return ""
    place = chance.choice(found)
    return f"{sentence[: place.start()]}{int(place[0]) + chance.randint(1, 9)}{sentence[place.end() :]}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
