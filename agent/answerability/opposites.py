"""Whether a sentence speaks of the other kind of what is asked about: the internal auditor, where the external one is meant."""

from functools import cache
from pathlib import Path

import yaml

from agent.extractive.candidates import term_ids

Side = tuple[frozenset[int], ...]  # the terms of each of its words


def is_of_other_kind(question: str, sentence: str, heading: str = "") -> bool:
    """Whether the question names one side of a pair alone, and the sentence with its headings the other side alone, in whichever
    language.
    """
    asked, said = term_ids(question), term_ids(f"{heading}\n{sentence}")
    for pair in _pairs():
        for one, other in (pair, pair[::-1]):
            if _names(asked, one) and not _names(asked, other) and _names(said, other) and not _names(said, one):
                return True
    return False


def _names(terms: frozenset[int], side: Side) -> bool:
    return any(word <= terms for word in side)


@cache
def _pairs() -> tuple[tuple[Side, Side], ...]:
    kept = yaml.safe_load(Path(__file__).with_name("opposites.yaml").read_text(encoding="utf-8"))
    return tuple((tuple(map(term_ids, one)), tuple(map(term_ids, other))) for one, other in kept)
