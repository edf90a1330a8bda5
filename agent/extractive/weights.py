"""Weights of the measures of a sentence, fitted on the dev halves of squad2_dev and cmrc2018: `weights.json`.

Made by `python -m tests.benchmarks.fit_answers --write`, which also prints how they do on articles they were not fitted on; evidence may
only raise a score. A score is the sum of weight times measure; its differences within one question are log-odds. In the order of MEASURES.
"""

import json
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agent.extractive.candidates import MEASURES

FILE: Final = Path(__file__).with_name("weights.json")


def _kept(name: str) -> NDArray[np.float64]:
    kept = json.loads(FILE.read_text(encoding="utf-8"))[name]
    return np.array([kept[measure] for measure in MEASURES], float)


LEXICAL_WEIGHTS = _kept("by_words")  # which sentences are worth embedding
SENTENCE_WEIGHTS = _kept("sentence")  # … and which of them answer
