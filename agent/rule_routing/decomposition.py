"""Questions that need documents first and data second, taken apart by rules.

“Which environments do the deployment rules name? How many of them are in use?”
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from agent.rule_routing.context_dependence import asks
from agent.rule_routing.intents import asks_for_data
from knowledge.text.language import language_of

_SENTENCE = re.compile(r"[?？。！!；;]\s*|\.\s+")
_CLAUSE = re.compile(
    r"[,，]\s*(?:并且|而且|以及|同时|另外|and|then)?\s*(?=(?:这些|其中|目前|现在|它们|how many|how much|list|count)\S*)"
    r"|\s+and\s+(?=how many|how much|list |count )",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"(?:,(?!\d)|[，;；?？。])\s*(?:并且|而且|以及|同时|另外|还有|and|then)?\s*|\s+and\s+(?=(?:how|what|which|who|when|where|list)\b)",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"这些|其中|它们|上述|这几|该些|\b(?:of|in|for|at|on|by) (?:them|these|those|which)\b|\bthese\b|\bthose\b|\bthey\b|\bthem\b",
    re.IGNORECASE,
)

_OPENS = re.compile(
    r"(?:^|[,;:.]\s*|\b(?:know|say|tell|explain|ask|wonder|out|me|us)\s+)(?:(?:and|so|also|then|but|please)\s+)*"
    r"(?:(?:in|on|at|by|for|to|of|from|with|under|until|since|after|before)\s+)?"
    r"(?:how|what|why|who|whom|whose|which"
    r"|(?:when|where)\s+(?:is|are|was|were|do|does|did|can|could|must|should|may|might|will|would|has|have|had))\b"
    r"|\b(?:policy|rules?|process)\b|^\s*(?:may|can|could|does|do|did|is|are|was|were|has|have|should|must|will|would)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Steps:
    """documents: what they are asked first. data: what the data are asked then. points_back: about what the documents name."""

    documents: str
    data: str

    @property
    def points_back(self) -> bool:
        return bool(_POINTS_BACK.search(self.data))


def steps_of(question: str) -> Steps | None:
    """The two steps of a question: its parts up to the first that asks for numbers or lists, and the rest.

    None where there is one part, the first one asks for data already, or the first ones are a condition of the rest: “In Europe, how
    many customers do we have?”
    """
    parts = [part for sentence in _parts(question, _SENTENCE) for part in _parts(sentence, _CLAUSE)]
    first = next((place for place, part in enumerate(parts) if asks_for_data(part)), 0)
    if first == 0:
        return None
    steps = Steps(_whole(parts[:first], question), _whole(parts[first:], question))
    return steps if steps.points_back or any(map(_is_question, parts[:first])) else None


def halves_of(question: str, is_data: Callable[[str], bool]) -> Steps | None:
    """The two questions in one of which the data read one and not the other, whichever comes first; None for every other: a condition
    that is set off by a comma is no question, and without it the other half is another one.

    The question is one that the data do not read as a whole.
    """
    parts = _parts(question, _HALF)
    if len(parts) != 2 or not all(map(_is_question, parts)):
        return None
    read = [is_data(part) for part in parts]
    if read.count(True) != 1:
        return None
    place = read.index(True)
    steps = Steps(_whole([parts[1 - place]], question), _whole([parts[place]], question))
    return None if steps.points_back else steps


def _is_question(part: str) -> bool:
    """Whether a part asks by itself. “Excluding people who left” and “when Europe is left out” have words that ask, and ask nothing."""
    return asks(part) if language_of(part) == "zh" else bool(_OPENS.search(part))


def _parts(text: str, between: re.Pattern[str]) -> list[str]:
    return [part.strip() for part in between.split(text) if part.strip()]


def _whole(parts: list[str], question: str) -> str:
    is_chinese = any("\u3400" <= character <= "\u9fff" for character in question)
    return ("，" if is_chinese else ", ").join(parts) + ("？" if is_chinese else "?")
