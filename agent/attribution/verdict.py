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
class Finding:
    """why: the first thing that is wrong or open, in a few words of ours; "" where nothing is."""

    verdict: Verdict
    why: str = ""


SUPPORTED = Finding(Verdict.SUPPORTED)
LIKELY = Finding(Verdict.LIKELY)


def contradicted(why: str) -> Finding:
    return Finding(Verdict.CONTRADICTED, why)


def unsettled(why: str) -> Finding:
    return Finding(Verdict.UNSETTLED, why)
