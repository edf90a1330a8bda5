"""The outcome of checking a sentence."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """likely: nothing contradicts it; a judge, where there is one, still reads it."""

    SUPPORTED = "supported"
    LIKELY = "likely"
    CONTRADICTED = "contradicted"
    UNSETTLED = "unsettled"


@dataclass(frozen=True)
class SentenceCheck:
    """why: the first thing that is wrong or open, in a few words of ours; "" where nothing is."""

    verdict: Verdict
    why: str = ""


SUPPORTED = SentenceCheck(Verdict.SUPPORTED)
LIKELY = SentenceCheck(Verdict.LIKELY)


def make_contradicted(why: str) -> SentenceCheck:
    return SentenceCheck(Verdict.CONTRADICTED, why)


def make_unsettled(why: str) -> SentenceCheck:
    return SentenceCheck(Verdict.UNSETTLED, why)
